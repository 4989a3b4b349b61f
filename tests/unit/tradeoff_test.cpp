// Break-even points and Pareto fronts.

#include "analysis/tradeoff/break_even.h"
#include "analysis/tradeoff/pareto.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli_test.h"

using namespace uringsim;
using analysis::find_break_even;
using tests::call;

TEST_CASE("break-even is exact for a linear difference, wherever it lies") {
    for (std::int64_t at = 2; at <= 4096; at = at * 3 + 1) {
        // The second design costs 1000 x at more up front and saves 1000 a unit.
        const auto found =
            find_break_even([&](std::int64_t x) { return 1000 * at - 1000 * x; }, 1, 8192);
        REQUIRE(found.crossings.size() == 1);
        CHECK(found.crossings[0].last == at); // a tie is not won
        CHECK(found.crossings[0].first == at + 1);
        CHECK(found.crossings[0].second_wins);
        CHECK_FALSE(found.second_wins_at_start);
        CHECK(found.second_wins_at_end);
        CHECK(found.crossings[0].steady());
        CHECK(found.evaluations < 30 + 2 * analysis::steady_neighbours);
    }
}

TEST_CASE("break-even says where the winner alternates, and from where on it does not") {
    // As text: a is the first design. Even around 20: the second wins at 17, and at 19 to 22 but 21.
    const auto found = find_break_even(
        [](std::int64_t x) { return x == 17 || (x >= 19 && x != 21) ? -1 : 1; }, 1, 64);
    REQUIRE(found.crossings.size() == 1);
    CHECK(found.crossings[0].unsteady_from == 17);
    CHECK(found.crossings[0].settled == 22);
    CHECK_FALSE(found.crossings[0].steady());
}

TEST_CASE("break-even of a table's life is what looking at every value finds") {
    const auto rows = call({"sweep", "table-life", "--designs", "linux-6.18,rfc-0001+0002+0003",
                            "--param", "slots=128", "--param", "rounds=1", "--axis",
                            "param:installs=1..128"});
    std::map<std::int64_t, std::map<std::string, double>> cycles;
    std::size_t at = 0;
    while (at < rows.out.size()) {
        const std::size_t end = rows.out.find('\n', at);
        const auto row = nlohmann::json::parse(rows.out.substr(at, end - at));
        cycles[row["parameters"]["installs"]][row["design"]] = row["phases"]["life"]["cycles"];
        at = end + 1;
    }
    REQUIRE(cycles.size() == 128);
    std::int64_t last_loss = 0; // the prefill is dearer here, and nowhere after
    for (const auto& [installs, by_design] : cycles) {
        if (by_design.at("rfc-0001+0002+0003") >= by_design.at("linux-6.18")) {
            last_loss = installs;
        }
    }
    auto told = call({"tradeoff", "table-life,installs=1..128", "--designs",
                            "linux-6.18,rfc-0001+0002+0003", "--param", "slots=128", "--param",
                            "rounds=1"});
    std::ranges::replace(told.out, '\n', ' ');
    INFO(told.out);
    CHECK(told.out.find("from installs = " + std::to_string(last_loss + 1) + " on") !=
          std::string::npos);
}

TEST_CASE("break-even finds a window, and says where there is none") {
    const auto window = find_break_even(
        [](std::int64_t x) { return x >= 100 && x < 1000 ? -1 : 1; }, 1, 4096);
    REQUIRE(window.crossings.size() == 2);
    CHECK(window.crossings[0].first == 100);
    CHECK(window.crossings[1].first == 1000);
    CHECK(window.crossings[1].steady());
    CHECK_FALSE(window.crossings[1].second_wins);
    const auto never = find_break_even([](std::int64_t) { return 5; }, 0, 64);
    CHECK(never.crossings.empty());
    CHECK_FALSE(never.second_wins_at_end);
}

TEST_CASE("the front holds what nothing else beats in all three") {
    using analysis::Candidate;
    const std::vector<Candidate> all{{"fast", "a", {100, 50, 4096, {}}},
                                     {"small", "a", {120, 10, 0, {}}},
                                     {"worse", "b", {121, 10, 0, {}}},
                                     {"even", "b", {100, 50, 4096, {}}},
                                     {"middle", "b", {110, 20, 1024, {}}}};
    const auto any = analysis::rank(all, std::nullopt);
    CHECK(any.order == std::vector<std::size_t>{0, 3, 4, 1, 2});
    CHECK(any.front == std::vector<bool>{true, true, true, true, false});
    const auto budget = analysis::rank(all, 1024);
    CHECK(budget.order == std::vector<std::size_t>{4, 1, 2});
    const auto best = analysis::best_of_each_design(all, 1024);
    REQUIRE(best.size() == 2);
    CHECK(best[0].name == "small");
    CHECK(best[1].name == "middle");
    CHECK(analysis::best_of_each_design(all, std::nullopt)[1].name == "even");
}

TEST_CASE("tradeoff ranks a mix, and finds a break-even that neighbouring runs confirm") {
    const auto ranked = call({"tradeoff", "table-life,refills=2:3", "table-life,installs=8",
                              "--designs", "linux-6.18,own-raised-limit,rfc-0001+0002+0003",
                              "--param", "slots=256", "--param", "rounds=2"});
    CHECK(ranked.status == 0);
    CHECK(ranked.out.find("3 of 3 candidates") != std::string::npos);
    const auto even = call({"tradeoff", "table-life", "--designs", "linux-6.18,rfc-0001+0002+0003",
                            "--param", "slots=256", "--param", "rounds=2", "--break-even",
                            "param:refills=0..64"});
    CHECK(even.status == 0);
    CHECK(even.out.find("phase life of table-life") != std::string::npos);
    CHECK(call({"tradeoff", "table-life", "--designs", "linux-6.18", "--break-even",
                "param:refills=0..4"})
              .status == 2);
}

TEST_CASE("tradeoff says what its times are of") {
    const auto head = [](const std::vector<std::string>& workloads) {
        std::vector<std::string> args{"tradeoff"};
        args.insert(args.end(), workloads.begin(), workloads.end());
        return call(args).out;
    };
    const auto nops = head({"nop"});
    CHECK(nops.find("ns/operation") != std::string::npos);
    CHECK(nops.find("install") == std::string::npos);
    const auto fills =
        head({"first-fill,slots=8,rounds=1", "table-life,slots=8,rounds=1,installs=8"});
    CHECK(fills.find("ns/install") != std::string::npos);
    CHECK(fills.find("operation") == std::string::npos);
    const auto both = head({"first-fill,slots=8,rounds=1", "nop"});
    CHECK(both.find("phase fill, ns/install, weight 1") != std::string::npos);
    CHECK(both.find("phase nops, ns/operation, weight 1") != std::string::npos);
    CHECK(both.find("ns/install  ") == std::string::npos); // no column
}

TEST_CASE("a break-even that cannot be is bad input, and so is a memory that nothing keeps to") {
    const auto refused = [](std::vector<std::string> more) {
        std::vector<std::string> args{"tradeoff", "table-life,slots=8,rounds=1,installs=8"};
        args.insert(args.end(), more.begin(), more.end());
        const auto called = call(args);
        CHECK(called.status == 2);
        CHECK(called.out == "");
        return called.err;
    };
    const std::string both = "linux-6.18,rfc-0001+0002";
    CHECK(refused({"--designs", both, "--break-even", "param:nosuch=0..4"})
              .find("table-life has no such parameter") != std::string::npos);
    const auto beyond = call({"tradeoff", "table-life,slots=8,installs=1..9", "--designs", both});
    CHECK(beyond.status == 2);
    CHECK(beyond.err.find("installs: must be a whole number from 1 to 8") != std::string::npos);
    CHECK(refused({"--designs", both, "--break-even", "node_cache.limit=0..9"})
              .find("at node_cache.limit = 0 cannot be run") != std::string::npos);
    CHECK(refused({"--designs", both, "--break-even", "node_cache.limt=1..9"})
              .find("did you mean \"node_cache.limit\"?") != std::string::npos);
    CHECK(refused({"--designs", both, "--set", "node_cache.limit=0", "--break-even",
                   "param:installs=1..8"})
              .find("cannot be run on both designs") != std::string::npos);
    CHECK(refused({"--memory", "1"}).find("retains least") != std::string::npos);
}
