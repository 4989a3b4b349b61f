// The same arguments give the same result, whatever ran before.

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "support.h"

using namespace uringsim;

namespace {

/// All that a result says, as one text.
std::string everything(const scenarios::Result& result) {
    std::string text = result.scenario + result.design + result.machine;
    const auto number = [&text](auto value) {
        text += ' ';
        text += std::to_string(value);
    };
    number(result.seed);
    number(result.fingerprint);
    for (const scenarios::PhaseResult& phase : result.phases) {
        text += phase.name;
        for (const sim::Cycles cycles : phase.cycles_by_round) {
            number(cycles);
        }
        for (const auto& [name, value] : phase.counters) {
            text += name;
            number(value);
        }
    }
    for (const auto* rows : {&result.ledger, &result.ledger_outside}) {
        for (const scenarios::LedgerRow& row : *rows) {
            text += row.phase + row.task + row.mechanism + row.primitive;
            number(row.count);
            number(row.cycles);
        }
    }
    number(result.memory.retained_bytes_peak);
    number(result.memory.node_slabs_at_end);
    return text;
}

std::string once(const std::string& scenario, const std::string& design) {
    return everything(tests::run(scenario, design, {{"rounds", "2"}}));
}

} // namespace

TEST_CASE("ten runs in one process give equal results") {
    for (const char* scenario : {"first-fill", "remove-refill", "cold-warm"}) {
        for (const char* design : {"linux-6.12", "linux-6.18", "rfc-0001+0002+0003"}) {
            const std::string first = once(scenario, design);
            for (int i = 1; i < 10; ++i) {
                CHECK(once(scenario, design) == first);
            }
        }
    }
}

TEST_CASE("a result does not depend on unrelated runs before it") {
    const std::string fresh = once("first-fill", "linux-6.18");
    once("register-many-install-few", "rfc-0001+0002+0003");
    once("remove-refill", "linux-6.12");
    tests::run_error(R"({ "name": "t", "rings": { "r": {} }, "tasks": [ { "name": "user",
      "program": [ { "op": "create_ring", "ring": "r" },
                   { "op": "submit", "ring": "r", "wait": 3 } ] } ] })");
    CHECK(once("first-fill", "linux-6.18") == fresh);
}

TEST_CASE("runs side by side in threads do not see each other") {
    const std::string alone = once("remove-refill", "linux-6.18");
    std::vector<std::string> results(4);
    const auto scenario = tests::load_scenario("remove-refill", {{"rounds", "2"}});
    const auto design = tests::load_design("linux-6.18");
    const models::Machine machine = tests::i7();
    std::vector<std::thread> threads;
    for (std::string& result : results) {
        threads.emplace_back([&result, &scenario, &design, &machine] {
            result = everything(scenarios::replay(scenario, design, machine));
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const std::string& result : results) {
        CHECK(result == alone);
    }
}

TEST_CASE("the seed matters where something is drawn, and nowhere else") {
    scenarios::Scenario scenario = tests::load_scenario("first-fill", {{"rounds", "1"}});
    const auto run_with = [&scenario](std::uint64_t seed, const char* shuffle) {
        scenario.seed = seed;
        return scenarios::replay(
                   scenario, tests::load_design("linux-6.18", {{"slab.freelist_random", shuffle}}),
                   tests::i7())
            .fingerprint;
    };
    CHECK(run_with(1, "true") != run_with(2, "true"));
    CHECK(run_with(1, "false") == run_with(2, "false"));
}

TEST_CASE("all times of a run follow from the costs: doubled costs double a one-CPU phase") {
    // A linear sum: counts do not depend on costs while nothing waits.
    models::Machine doubled = tests::i7();
    for (models::Cost& cost : doubled.costs) {
        cost.millicycles *= 2;
    }
    const auto scenario = tests::load_scenario("remove-refill", {{"rounds", "2"}});
    const auto design = tests::load_design("linux-6.18");
    const auto once_cost = scenarios::replay(scenario, design, tests::i7());
    const auto twice_cost = scenarios::replay(scenario, design, doubled);
    const double ratio = twice_cost.find_phase("interval")->mean_cycles() /
                         once_cost.find_phase("interval")->mean_cycles();
    CHECK(ratio == doctest::Approx(2.0).epsilon(1e-4));
}
