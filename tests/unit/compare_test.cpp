#include "analysis/compare.h"
#include "analysis/published.h"
#include "scenarios/strict_json.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace uringsim;
using analysis::Change;
using analysis::Comparison;
using analysis::Run;

namespace {

/// A run of one phase of ten operations and two rounds, at 1000 MHz: a cycle is a nanosecond.
Run run_of(const std::string& design, sim::Cycles slab, sim::Cycles node, sim::Cycles user) {
    Run run;
    run.result.scenario = std::string("s");
    run.result.design = design;
    run.result.machine = std::string("m");
    run.result.machine_mhz = 1000;
    run.result.parameters = {{"slots", "10", "slots"}, {"batch", "2", ""}};
    const sim::Cycles total = slab + node + user;
    run.result.phases = {{"fill", 10, {total / 2, total - total / 2}, {}}};
    run.result.ledger = {{"fill", "t", "user", "sqe_prepare", 20, user},
                         {"fill", "t", "slab", "slub_alloc_fast", 20, slab / 2},
                         {"fill", "t", "slab", "slub_alloc_slow", 1, slab - slab / 2},
                         {"fill", "t", "node", "node_init", 20, node}};
    std::erase_if(run.result.ledger, [](const auto& row) { return row.cycles == 0; });
    return run;
}

std::vector<analysis::PublishedFigure> figures_of(const std::string& text) {
    scenarios::Diagnostics diagnostics;
    const auto root = scenarios::parse_json("published.json", text, diagnostics);
    REQUIRE_MESSAGE(root, diagnostics.to_string());
    const auto figures = analysis::read_published(*root, diagnostics);
    REQUIRE_MESSAGE(figures, diagnostics.to_string());
    return figures->figures;
}

constexpr const char* sample = R"({
  "source": "a mail", "citation": "https://example.org/mail",
  "figures": [
    { "id": "cost", "scenario": "s", "parameters": { "slots": 10 }, "design": "old",
      "machine": "m", "phase": "fill", "metric": "ns_per_operation", "value": 100,
      "unit": "ns/install", "noise_pct": 1.5, "gate": "pass", "use": "fit" },
    { "id": "round", "scenario": "s", "design": "old", "machine": "m", "phase": "fill",
      "metric": "us", "value": 1.1, "unit": "us/round", "use": "predict" },
    { "id": "larger", "scenario": "s", "parameters": { "slots": 11 }, "design": "old",
      "machine": "m", "phase": "fill", "metric": "us", "value": 9, "unit": "us", "use": "predict" },
    { "id": "other", "scenario": "s", "design": "old", "machine": "m2", "phase": "fill",
      "metric": "us", "value": 9, "unit": "us", "use": "predict" },
    { "id": "set", "scenario": "s", "design": "old", "knobs": { "slab.nomerge": true },
      "machine": "m", "phase": "fill", "metric": "us", "value": 9, "unit": "us",
      "use": "predict" },
    { "id": "change", "scenario": "s", "design": "new", "baseline": "old", "machine": "m",
      "phase": "fill", "metric": "percent", "value": -9.5, "unit": "percent", "use": "predict" }
  ] })";

} // namespace

TEST_CASE("a change is what the phase costs more than on the baseline") {
    const Comparison comparison =
        analysis::compare({run_of("old", 1000, 200, 1000), run_of("new", 800, 240, 1000)}, 0, {});
    REQUIRE(comparison.changes.size() == 1);
    const Change& change = comparison.changes[0];
    CHECK(change.phase == "fill");
    CHECK(change.design == "new");
    CHECK(change.baseline == "old");
    CHECK(change.change_ns_per_operation == doctest::Approx(-8));
    REQUIRE(change.change_percent);
    CHECK(*change.change_percent == doctest::Approx(-160.0 / 2200.0 * 100.0));
}

TEST_CASE("what moved: the mechanisms that differ, largest first, sum to the change") {
    const Comparison comparison =
        analysis::compare({run_of("old", 1000, 200, 1000), run_of("new", 800, 240, 1000)}, 0, {});
    const Change& change = comparison.changes.at(0);
    REQUIRE(change.moved.size() == 2);
    CHECK(change.moved[0].mechanism == "slab");
    CHECK(change.moved[0].ns_per_operation == doctest::Approx(-10));
    CHECK(change.moved[1].mechanism == "node");
    CHECK(change.moved[1].ns_per_operation == doctest::Approx(2));
    CHECK(change.moved[0].ns_per_operation + change.moved[1].ns_per_operation ==
          doctest::Approx(change.change_ns_per_operation));
}

TEST_CASE("a mechanism that only one of the two has moves by all it costs") {
    const Comparison comparison =
        analysis::compare({run_of("old", 0, 200, 1000), run_of("new", 800, 0, 1000)}, 0, {});
    const Change& change = comparison.changes.at(0);
    REQUIRE(change.moved.size() == 2);
    CHECK(change.moved[0].mechanism == "slab");
    CHECK(change.moved[0].ns_per_operation == doctest::Approx(40));
    CHECK(change.moved[1].mechanism == "node");
    CHECK(change.moved[1].ns_per_operation == doctest::Approx(-10));
}

TEST_CASE("the baseline may be any of the designs, and is compared with all others") {
    const Comparison comparison = analysis::compare(
        {run_of("a", 10, 10, 10), run_of("b", 20, 20, 20), run_of("c", 5, 5, 5)}, 1, {});
    REQUIRE(comparison.changes.size() == 2);
    CHECK(comparison.changes[0].design == "a");
    CHECK(*comparison.changes[0].change_percent == doctest::Approx(-50));
    CHECK(*comparison.changes[1].change_percent == doctest::Approx(-75));
    CHECK(comparison.find_change("fill", "b") == nullptr);
    CHECK(comparison.fastest("fill") == 2);
}

TEST_CASE("designs that cost the same: nothing moved and none is the fastest") {
    const Comparison comparison =
        analysis::compare({run_of("a", 10, 10, 10), run_of("b", 10, 10, 10)}, 0, {});
    CHECK(comparison.changes.at(0).moved.empty());
    CHECK(*comparison.changes[0].change_percent == 0);
    CHECK_FALSE(comparison.fastest("fill"));
}

TEST_CASE("against a baseline that costs nothing there is no change in percent") {
    const Comparison comparison =
        analysis::compare({run_of("a", 0, 0, 0), run_of("b", 10, 10, 10)}, 0, {});
    CHECK_FALSE(comparison.changes.at(0).change_percent);
    CHECK(comparison.changes[0].change_ns_per_operation == doctest::Approx(1.5));
}

TEST_CASE("a published figure stands beside the run that it is of, and no other") {
    const Run run = run_of("old", 1000, 200, 1000); // 110 ns an operation, 1.1 us a round
    const auto matches = analysis::match_published(figures_of(sample), run.result, {});
    REQUIRE(matches.size() == 2);
    CHECK(matches[0].figure.id == "cost");
    CHECK(matches[0].figure.fitted);
    CHECK(matches[0].figure.gate_passed == true);
    CHECK(matches[0].figure.noise_percent == 1.5);
    CHECK(matches[0].figure.source == "a mail");
    CHECK(matches[0].simulated == doctest::Approx(110));
    CHECK(matches[0].error == doctest::Approx(10));
    CHECK(matches[1].figure.id == "round");
    CHECK_FALSE(matches[1].figure.gate_passed);
    CHECK(matches[1].simulated == doctest::Approx(1.1));
    CHECK(matches[1].error == doctest::Approx(0));
}

TEST_CASE("a run with a changed knob is another design: only figures with that knob are of it") {
    const Run run = run_of("old", 1000, 200, 1000);
    const auto matches =
        analysis::match_published(figures_of(sample), run.result, {{"slab.nomerge", "true", ""}});
    REQUIRE(matches.size() == 1);
    CHECK(matches[0].figure.id == "set");
}

TEST_CASE("a published change stands beside the simulated one, with the error in points") {
    const Comparison comparison = analysis::compare(
        {run_of("old", 1000, 0, 1000), run_of("new", 800, 0, 1000)}, 0, figures_of(sample));
    REQUIRE(comparison.published.size() == 1);
    CHECK(comparison.published[0].simulated == doctest::Approx(-10));
    CHECK(comparison.published[0].error == doctest::Approx(-0.5));

    const Comparison other_way = analysis::compare(
        {run_of("old", 1000, 0, 1000), run_of("new", 800, 0, 1000)}, 1, figures_of(sample));
    CHECK(other_way.published.empty());
}
