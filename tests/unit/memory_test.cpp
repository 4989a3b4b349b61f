// Memory temperature: closed forms of what a walk over lines costs.

#include "sim/engine.h"

#include <doctest/doctest.h>

#include <vector>

using namespace uringsim::sim;

namespace {

enum Where : std::uint16_t { l2, llc, memory, remote, aged, cold_code, other, where_count };

constexpr PrimitiveId id(std::uint16_t where) {
    return static_cast<PrimitiveId>(where);
}

EngineConfig config() {
    EngineConfig config;
    config.cpus = 2;
    config.geometry = {.l1_lines = 8,
                       .l1_code_lines = 4,
                       .far_lines = 32,
                       .l2_lines = 64,
                       .llc_lines = 256,
                       .aging_idle = 1000};
    config.primitives.memory = {id(l2), id(llc), id(memory), id(remote), id(aged), id(cold_code)};
    config.primitives.context_switch = id(other);
    config.primitives.waiting = id(other);
    config.primitives.lock_wait = id(other);
    return config;
}

CostTable costs() {
    CostTable table(where_count);
    for (std::uint16_t where = 0; where < where_count; ++where) {
        table.set(id(where), millicycles_per_cycle);
    }
    return table;
}

class Bench {
  public:
    Cpu& cpu(std::uint16_t number = 0) { return engine_.cpu(number); }
    Engine& engine() { return engine_; }

    std::uint64_t found(std::uint16_t where) {
        std::uint64_t sum = 0;
        for (const auto& [key, account] : engine_.ledger().accounts()) {
            sum += account->cells(MechanismId{0})[where].count;
        }
        return sum;
    }
    /// What `rounds` walks over `lines` lines add, after one that warms them up.
    std::vector<std::uint64_t> walk(std::size_t lines, std::uint64_t rounds) {
        std::vector<Line> all(lines);
        for (Line& line : all) {
            cpu().touch(line);
        }
        std::vector<std::uint64_t> before;
        for (std::uint16_t where = 0; where < where_count; ++where) {
            before.push_back(found(where));
        }
        for (std::uint64_t i = 0; i < rounds; ++i) {
            for (Line& line : all) {
                cpu().touch(line);
            }
        }
        for (std::uint16_t where = 0; where < where_count; ++where) {
            before[where] = found(where) - before[where];
        }
        return before;
    }

  private:
    Engine engine_{config(), costs(), 1, 1};
};

std::vector<std::uint64_t> only(std::uint16_t where, std::uint64_t count) {
    std::vector<std::uint64_t> counts(where_count, 0);
    counts[where] = count;
    return counts;
}

} // namespace

TEST_CASE("a cyclic walk is free while L1 holds the lines that come between, else all misses") {
    // l1_lines = 8 others may come between two touches of a line.
    for (const std::size_t lines : {1U, 2U, 8U, 9U}) {
        INFO(lines, " lines");
        CHECK(Bench().walk(lines, 5) == only(l2, 0));
    }
    for (const std::size_t lines : {10U, 20U, 32U}) {
        INFO(lines, " lines");
        CHECK(Bench().walk(lines, 5) == only(l2, 5 * lines));
    }
}

TEST_CASE("beyond far_lines a walk ages what it leaves: L2, last level, memory by its length") {
    for (const std::size_t lines : {33U, 64U}) {
        INFO(lines, " lines");
        CHECK(Bench().walk(lines, 3) == only(l2, 3 * lines));
    }
    for (const std::size_t lines : {66U, 256U}) {
        INFO(lines, " lines");
        CHECK(Bench().walk(lines, 3) == only(llc, 3 * lines));
    }
    for (const std::size_t lines : {258U, 1000U}) {
        INFO(lines, " lines");
        CHECK(Bench().walk(lines, 3) == only(memory, 3 * lines));
    }
}

TEST_CASE("near misses do not age the rest of the working set") {
    // One clock alone would: 30 lines walked a hundred times are 3000 touches, far beyond L2 and
    // the last level by count.
    Bench bench;
    Line old;
    bench.cpu().touch(old);
    bench.walk(30, 100);
    const std::uint64_t before = bench.found(l2);
    bench.cpu().touch(old);
    CHECK(bench.found(l2) == before + 1);
}

TEST_CASE("a first touch comes from memory; of code it is cold") {
    Bench bench;
    Line line;
    LineGroup code{.weight = 3, .kind = LineKind::code};
    LineGroup data{.weight = 5, .kind = LineKind::data};
    bench.cpu().touch(line);
    bench.cpu().touch(code);
    bench.cpu().touch(data);
    CHECK(bench.found(memory) == 1 + 5);
    CHECK(bench.found(cold_code) == 3);
    bench.cpu().touch(line);
    bench.cpu().touch(code);
    bench.cpu().touch(data);
    CHECK(bench.found(memory) == 6);
    CHECK(bench.found(cold_code) == 3);
}

TEST_CASE("a group counts as all its lines, for itself and for others") {
    Bench bench;
    Line line;
    LineGroup eight{.weight = 8};
    LineGroup nine{.weight = 9};
    bench.cpu().touch(line);
    bench.cpu().touch(eight);
    bench.cpu().touch(line); // 8 others between: still there
    CHECK(bench.found(l2) == 0);
    bench.cpu().touch(nine);
    bench.cpu().touch(line);
    CHECK(bench.found(l2) == 1);
    CHECK(bench.cpu().now() == 1 + 8 + 9 + 1);
}

TEST_CASE("streamed lines are free when written and warm afterwards") {
    Bench bench;
    Line line;
    bench.cpu().stream(line);
    bench.cpu().touch(line);
    CHECK(bench.cpu().now() == 0);
}

TEST_CASE("a line that another CPU touched last costs a transfer, back and forth") {
    Bench bench;
    Line line;
    bench.cpu(0).touch(line);
    for (int i = 0; i < 5; ++i) {
        bench.cpu(1).touch(line);
        bench.cpu(0).touch(line);
    }
    CHECK(bench.found(remote) == 10);
    bench.cpu(0).touch(line);
    CHECK(bench.found(remote) == 10);
}

namespace {

class Nothing final : public Task {
  public:
    explicit Nothing(Cpu& cpu)
        : Task("nothing", TaskId{1}, cpu) {}
    Step step(Cpu& /*cpu*/) override { return Step::done(); }
};

} // namespace

TEST_CASE("an idle gap of aging_idle cools everything once, a shorter one nothing") {
    for (const Cycles gap : {999, 1000}) {
        Bench bench;
        Line line;
        LineGroup code{.weight = 2, .kind = LineKind::code};
        bench.cpu().touch(line);
        bench.cpu().touch(code);
        const Cycles idle_from = bench.cpu().now();
        Nothing task(bench.cpu());
        bench.engine().wake(task, idle_from + gap);
        bench.engine().run();
        const std::uint64_t cold_before = bench.found(cold_code);
        bench.cpu().touch(line);
        bench.cpu().touch(code);
        CHECK(bench.found(aged) == (gap == 1000 ? 1 : 0));
        CHECK(bench.found(cold_code) - cold_before == (gap == 1000 ? 2 : 0));
        bench.cpu().touch(line);
        bench.cpu().touch(code);
        CHECK(bench.found(aged) == (gap == 1000 ? 1 : 0));
    }
}
