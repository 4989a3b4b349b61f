#include "analysis/native/guest_image.h"
#include "analysis/native/side_by_side.h"
#include "models/code_lengths.h"

#include <doctest/doctest.h>

#include <set>

namespace native = uringsim::analysis::native;
namespace models = uringsim::models;

TEST_CASE("guests: a version names the newest image of it") {
    const std::vector<std::string> names{"6.1.0-57-cloud-amd64.elf", "6.12.9-cloud-amd64.elf",
                                         "6.12.117+deb12-cloud-amd64.elf", "6.12.200.bzImage"};
    CHECK(native::newest_image(names, "6.12") == "6.12.117+deb12-cloud-amd64.elf");
    CHECK(native::newest_image(names, "6.1") == "6.1.0-57-cloud-amd64.elf");
    CHECK(native::newest_image(names, "6.18").empty());
    CHECK(native::find_guest_image("/no/such/image.elf") == "/no/such/image.elf");
}

namespace {

native::NativeValidation validation(const char* release, double simulated, double measured) {
    native::NativeValidation result;
    result.release = std::string(release);
    result.design = std::string("d");
    native::ValidationRow row;
    row.scenario = std::string("first-fill");
    row.parameters = std::string("slots 64");
    row.phase = std::string("fill");
    row.timed = true;
    row.simulated = simulated;
    row.measured = measured;
    row.counters = 1;
    result.rows.push_back(row);
    row.timed = false; // only counted: not in the table
    result.rows.push_back(row);
    return result;
}

native::SideBySide compare(double old_simulated, double old_measured, double simulated,
                           double measured) {
    return native::side_by_side({validation("6.12.1", old_simulated, old_measured),
                                 validation("6.18.1", simulated, measured)},
                                "icount");
}

} // namespace

TEST_CASE("guests: kernels side by side, changes and signs") {
    const auto right = compare(800, 1000, 1000, 1200);
    REQUIRE(right.rows.size() == 1);
    CHECK(right.rows[0].measured_change() == doctest::Approx(20));
    CHECK(right.rows[0].simulated_change() == doctest::Approx(25));
    CHECK(right.signs_agree());
    CHECK(right.counts_exact());
    CHECK(native::side_by_side_text(right).find("+20.0 %  +25.0 %  right") != std::string::npos);
    CHECK_FALSE(compare(1000, 1000, 900, 1200).signs_agree());
    CHECK_FALSE(compare(1000, 1000, 990, 1200).signs_agree()); // the other way, if only by 1 %
    CHECK(compare(1000, 1000, 1010, 1030).signs_agree());
    CHECK(compare(1000, 1000, 1010, 990).signs_agree()); // both within what a count may be off
}

TEST_CASE("guests: whose code runs counts on an instruction clock alone") {
    models::Design older;
    older.kernel_code = models::KernelCode::v6_12;
    models::Machine machine;
    machine.cost(models::Primitive::syscall_enter).millicycles = 700'000;
    const models::Design newest;
    const auto cost = [&](const models::Design& design) {
        return models::cost_under(machine, design, models::Primitive::syscall_enter);
    };
    CHECK(cost(older) == 700'000);
    machine.instructions = true;
    CHECK(cost(newest) == 700'000);
    const auto longer = models::code_difference(older, models::Primitive::syscall_enter);
    CHECK(longer > 0);
    CHECK(cost(older) == 700'000 + 1000 * longer);
    machine.cost(models::Primitive::nop_issue).millicycles = 5'000;
    CHECK(models::cost_under(machine, older, models::Primitive::nop_issue) == 0); // never negative
}

TEST_CASE("guests: a step has one row of code lengths, with its functions") {
    std::set<models::Primitive> seen;
    for (const models::CodeLength& row : models::code_length_table()) {
        CHECK(seen.insert(row.primitive).second);
        CHECK_FALSE(row.source.empty());
        CHECK((row.v6_1 != 0 || row.v6_12 != 0 || row.v6_16 != 0));
    }
}
