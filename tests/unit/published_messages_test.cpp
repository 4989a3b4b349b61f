#include "analysis/library.h"
#include "analysis/run.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace uringsim;
using namespace uringsim::analysis;

namespace {

Library shipped_files() {
    scenarios::Diagnostics diagnostics;
    const auto library = Library::open(std::nullopt, diagnostics);
    REQUIRE(library.has_value());
    return *library;
}

PreparedRuns prepared(const std::string& machine) {
    RunRequest request;
    request.scenario = "msg-ring";
    request.designs = {"msg-ring-task-work", "msg-ring-overflow"};
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
    const PreparedRuns runs = prepared("messages-2024");
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

    SUBCASE("a far CPU makes everything slower, and fewer messages") {
        const PreparedRuns far = prepared("messages-2024-far");
        const Run far_before = execute(far, far.designs.at(0));
        const Run far_after = execute(far, far.designs.at(1));
        for (const char* who : {"sender", "receiver"}) {
            CHECK(percentile(far_before, who, p50) > 1.8 * percentile(before, who, p50));
            CHECK(percentile(far_after, who, p50) > 1.3 * percentile(after, who, p50));
        }
        CHECK(far_before.result.phases[0].operations < before.result.phases[0].operations);
        CHECK(far_after.result.phases[0].operations < after.result.phases[0].operations);
    }
}
