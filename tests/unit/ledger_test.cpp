// The ledger: whatever moved a clock is in it, so its rows sum to each phase's time exactly.

#include "sim/ledger.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "support.h"

using namespace uringsim;

namespace {

/// Few rounds, where the scenario has rounds: exactness does not need many.
scenarios::ParameterOverrides short_run(const scenarios::Scenario& scenario) {
    const auto found =
        std::ranges::find(scenario.parameters, "rounds", &scenarios::Parameter::name);
    return found == scenario.parameters.end()
               ? scenarios::ParameterOverrides{}
               : scenarios::ParameterOverrides{
                     {"rounds", std::to_string(std::max<std::int64_t>(found->min, 2))}};
}

/// The order of lock holders may be off by one stage of straight-line code: a few microseconds.
/// Up to 6.3 the longest is a whole registration call, which takes pcpu_lock on its way, while
/// a ring's exit takes it on another CPU: 153 us measured.
std::int64_t most_disorder(const std::string& design) {
    return design == "linux-6.1" || design == "linux-6.3" ? 600'000 : 10'000;
}

void check_sums(const scenarios::Result& result) {
    std::map<std::string, sim::Cycles> sums;
    for (const scenarios::LedgerRow& row : result.ledger) {
        sums[row.phase] += row.cycles;
    }
    REQUIRE_FALSE(result.phases.empty());
    for (const scenarios::PhaseResult& phase : result.phases) {
        INFO("phase ", phase.name);
        CHECK(phase.total_cycles() > 0);
        CHECK(sums[phase.name] == phase.total_cycles());
    }
}

} // namespace

TEST_CASE("ledger rows sum to each phase's cycles, on every shipped scenario and design") {
    for (const std::string& name : tests::library().names(analysis::FileKind::scenario)) {
        const auto parameters = short_run(tests::load_scenario(name));
        for (const std::string& design : tests::library().names(analysis::FileKind::design)) {
            INFO(name, " on ", design);
            const scenarios::Result result = tests::run(name, design, parameters);
            check_sums(result);
            CHECK(result.lock_disorder_cycles < most_disorder(design));
        }
    }
}

TEST_CASE("a phase that contains others has their rows and counters too") {
    const auto result = tests::run("remove-refill", "linux-6.18", {{"rounds", "2"}});
    const auto* interval = result.find_phase("interval");
    const auto* removal = result.find_phase("removal");
    const auto* fill = result.find_phase("fill");
    REQUIRE(interval != nullptr);
    CHECK(interval->total_cycles() == removal->total_cycles() + fill->total_cycles());
    for (const auto& [name, value] : interval->counters) {
        CHECK(value == scenarios::counter_value(removal->counters, name) +
                           scenarios::counter_value(fill->counters, name));
    }
}

TEST_CASE("a phase in which a task sleeps and is queued is accounted for, too") {
    const char* text = R"({ "name": "t", "rings": { "a": {}, "b": {} }, "tasks": [
      { "name": "one", "cpu": 1, "program": [ { "op": "create_ring", "ring": "a" },
        { "phase": "p", "operations": 1, "do": [
          { "op": "nop", "ring": "a", "count": 10 }, { "op": "sleep", "us": 7 },
          { "op": "nop", "ring": "a", "count": 10 }, { "op": "sleep", "us": 3 },
          { "op": "nop", "ring": "a", "count": 3 } ] } ] },
      { "name": "two", "cpu": 1, "program": [ { "op": "create_ring", "ring": "b" },
        { "phase": "q", "operations": 1, "do": [ { "repeat": 20, "do": [
          { "op": "nop", "ring": "b", "count": 50 }, { "op": "sleep", "us": 1 } ] } ] } ] } ] })";
    const auto result = scenarios::replay(tests::parse_scenario(text),
                                          tests::load_design("linux-6.18"), tests::i7());
    check_sums(result);
    CHECK(result.ns(result.find_phase("p")->mean_cycles()) > 10'000);
}

TEST_CASE("accounts are kept a phase and a task, in order, and totals sum over all") {
    sim::Ledger ledger(2, 3, 1);
    sim::LedgerAccount& b = ledger.account(sim::PhaseId{2}, sim::TaskId{1});
    sim::LedgerAccount& a = ledger.account(sim::PhaseId{1}, sim::TaskId{9});
    CHECK(&ledger.account(sim::PhaseId{2}, sim::TaskId{1}) == &b);
    a.counters()[0] = 3;
    b.counters()[0] = 4;
    b.cells(sim::MechanismId{1})[2] = {5, 60};
    CHECK(ledger.total(sim::CounterId{0}) == 7);
    CHECK(b.cells(sim::MechanismId{0})[2].count == 0);
    CHECK(ledger.accounts().begin()->first.phase == sim::PhaseId{1});
}
