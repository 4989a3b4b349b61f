#include "analysis/library.h"
#include "analysis/run.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace uringsim;
using namespace uringsim::analysis;

namespace {

Library shipped_files() {
    scenarios::Diagnostics diagnostics;
    const auto library = Library::open(std::nullopt, diagnostics);
    REQUIRE(library.has_value());
    return *library;
}

PreparedRuns prepared(const std::string& machine, std::vector<std::string> designs) {
    RunRequest request;
    request.scenario = "msg-ring";
    request.designs = std::move(designs);
    request.machine = machine;
    scenarios::Diagnostics diagnostics;
    const auto runs = prepare(shipped_files(), request, diagnostics);
    INFO(diagnostics.to_string());
    REQUIRE(runs.has_value());
    return *runs;
}

double percentile(const Run& run, const std::string& histogram, std::uint32_t millipercent) {
    for (const scenarios::LatencyResult& latency : run.result.latencies) {
        if (latency.name == histogram) {
            return static_cast<double>(latency.histogram.percentile(millipercent));
        }
    }
    return 0;
}

} // namespace

TEST_CASE("the MSG_RING series of 2024: message counts, medians, 60 of 68 percentiles, factors") {
    const PreparedRuns runs = prepared("messages-2024", {"msg-ring-task-work", "msg-ring-overflow"});
    const Run before = execute(runs, runs.designs.at(0));
    const Run after = execute(runs, runs.designs.at(1));
    int rows = 0;
    int near = 0;
    for (const Run* run : {&before, &after}) {
        for (const PublishedMatch& match : run->published) {
            CAPTURE(match.figure.id);
            if (match.figure.metric == Metric::operations) {
                CHECK(std::abs(match.error) <= 5);
                continue;
            }
            ++rows;
            near += std::abs(match.error) <= 25 ? 1 : 0;
            if (match.figure.id.ends_with("-p50")) {
                CHECK(std::abs(match.error) <= 10);
            }
        }
    }
    CHECK(rows == 68);
    CHECK(near >= 60);
    constexpr std::uint32_t p50 = 50000;
    constexpr std::uint32_t p99 = 99000;
    CHECK(percentile(before, "sender", p50) / percentile(after, "sender", p50) ==
          doctest::Approx(8.7).epsilon(0.15));
    CHECK(percentile(before, "sender", p99) / percentile(after, "sender", p99) ==
          doctest::Approx(3.5).epsilon(0.15));
    CHECK(percentile(before, "receiver", p50) / percentile(after, "receiver", p50) ==
          doctest::Approx(2.2).epsilon(0.15));
}

TEST_CASE("a far CPU moves medians and counts as from one node to two in the merged series") {
    // MSG_RING v4, 2024-06, 10 us: its table for one node and the one for different nodes.
    struct Far {
        const char* design;
        double sender;
        double receiver;
        double messages;
    };
    for (const Far& published : {Far{"msg-ring-task-work", 13504.0 / 5600, 9152.0 / 3408,
                                     44002.0 / 82631},
                                 Far{"msg-ring-mispaired", 932.0 / 418, 4896.0 / 2352,
                                     192598.0 / 236763}}) {
        CAPTURE(published.design);
        const PreparedRuns near_by = prepared("messages-2024", {published.design});
        const PreparedRuns far_away = prepared("messages-2024-far", {published.design});
        const Run near = execute(near_by, near_by.designs.at(0));
        const Run far = execute(far_away, far_away.designs.at(0));
        constexpr std::uint32_t p50 = 50000;
        CHECK(percentile(far, "sender", p50) / percentile(near, "sender", p50) ==
              doctest::Approx(published.sender).epsilon(0.1));
        CHECK(percentile(far, "receiver", p50) / percentile(near, "receiver", p50) ==
              doctest::Approx(published.receiver).epsilon(0.1));
        const auto messages = [](const Run& run) {
            return static_cast<double>(run.result.phases[0].operations);
        };
        CHECK(messages(far) / messages(near) == doctest::Approx(published.messages).epsilon(0.1));
    }
}
