#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "request_runs.h"

// Published figures of 2015, 2020 and 2025: each is run as it says and its error compared with what
// is promised for it.

namespace {

using namespace uringsim;
using analysis::PublishedFigure;

std::vector<PublishedFigure> figures_of(const std::string& source) {
    scenarios::Diagnostics diagnostics;
    std::vector<PublishedFigure> figures =
        analysis::load_published(tests::shipped_library(), diagnostics);
    REQUIRE(diagnostics.empty());
    std::erase_if(figures, [&](const PublishedFigure& figure) { return figure.source != source; });
    return figures;
}

analysis::Run run_of(const PublishedFigure& figure, const std::string& design) {
    tests::Pairs parameters;
    for (const auto& [name, value] : figure.parameters) {
        parameters.emplace_back(name, std::to_string(value));
    }
    return tests::run_shipped(figure.scenario, design, parameters, figure.knobs, figure.machine);
}

double simulated_ns(const PublishedFigure& figure, const std::string& design) {
    const analysis::Run run = run_of(figure, design);
    const scenarios::PhaseResult* phase = run.result.find_phase(figure.phase);
    REQUIRE(phase != nullptr);
    return analysis::ns_per_operation(run.result, *phase);
}

/// In percent of the published value.
double error_of(const PublishedFigure& figure) {
    return (simulated_ns(figure, figure.design) / figure.value - 1) * 100;
}

std::size_t fitted(const std::vector<PublishedFigure>& figures) {
    return static_cast<std::size_t>(std::ranges::count_if(figures, &PublishedFigure::fitted));
}

/// The simulated and published cost of a figure by its count and phase, for shapes.
double ns_at(const std::string& scenario, const std::string& design, int count,
             const std::string& phase) {
    const analysis::Run run =
        tests::run_shipped(scenario, design, {{"count", std::to_string(count)}});
    return analysis::ns_per_operation(run.result, *run.result.find_phase(phase));
}

} // namespace

TEST_SUITE("published figures of requests and slabs") {
    TEST_CASE(
        "NOP rates of 2020 on the Xeon: each within 2.5 percent, less than half of them fitted") {
        std::vector<PublishedFigure> rates = figures_of("kiocb-alloc-cache-2020");
        std::erase_if(rates, [](const PublishedFigure& figure) {
            return figure.metric == analysis::Metric::percent;
        });
        CHECK(rates.size() == 7);
        CHECK(2 * fitted(rates) <= rates.size());
        for (const PublishedFigure& figure : rates) {
            CAPTURE(figure.id);
            CHECK(std::abs(error_of(figure)) < 2.5);
        }
    }

    TEST_CASE("the changes in qemu: the direction, and for SLAB and the cache also the size") {
        for (const PublishedFigure& figure : figures_of("kiocb-alloc-cache-2020")) {
            if (figure.metric != analysis::Metric::percent) {
                continue;
            }
            CAPTURE(figure.id);
            const double before = simulated_ns(figure, figure.baseline);
            const double change = (simulated_ns(figure, figure.design) / before - 1) * 100;
            CHECK(change * figure.value > 0);
            if (figure.id != "nop-qemu-large-order") {
                CHECK(std::abs(change - figure.value) < 2.5);
            } else {
                CHECK(std::abs(change - figure.value) < 6); // 4 percent instead of 9: not explained
            }
        }
    }

    TEST_CASE("2015: within 15 percent but where the source's own runs of one loop differ") {
        const std::vector<PublishedFigure> figures = figures_of("bulk-alloc-2015");
        CHECK(figures.size() == 36);
        CHECK(2 * fitted(figures) <= figures.size());
        // At 64 and 128 objects the source measured the same loop of single calls twice: 93.7 and
        // 71 cycles, 100.7 and 91. No model can be near both.
        const std::set<std::string> apart{"bulk2015-free-fallback-64", "bulk2015-free-bulk-64",
                                          "bulk2015-free-fallback-128"};
        for (const PublishedFigure& figure : figures) {
            CAPTURE(figure.id);
            const double error = error_of(figure);
            CHECK(std::abs(error) < (apart.contains(figure.id) ? 50 : 15));
        }
    }

    TEST_CASE("2015: the shape: a dip at 8 to 16 objects, a rise at 32 and beyond") {
        for (const std::string phase : {"single", "bulk_alloc", "bulk"}) {
            CAPTURE(phase);
            const auto at = [&](int count) {
                return ns_at("slab-bulk", "linux-4.3-slub", count, phase);
            };
            CHECK(at(8) < at(1));
            CHECK(at(16) <= at(8));
            CHECK(at(32) > 1.5 * at(16));
            CHECK(at(64) > at(32));
            CHECK(at(128) > at(64));
        }
    }

    TEST_CASE(
        "sheaves v7: within 15 percent, less than half fitted, and the gain is where it was") {
        const std::vector<PublishedFigure> figures = figures_of("sheaves-v7");
        CHECK(figures.size() == 16);
        CHECK(2 * fitted(figures) <= figures.size());
        for (const PublishedFigure& figure : figures) {
            CAPTURE(figure.id);
            CHECK(std::abs(error_of(figure)) < 15);
        }
        const auto gain = [](int count) {
            return ns_at("slab-batches", "sheaves-off", count, "plain") /
                   ns_at("slab-batches", "sheaves-on", count, "plain");
        };
        CHECK(gain(100) > gain(10));   // two sheaves hold a batch of 100 no longer, the barn does
        CHECK(gain(1000) < gain(100)); // nor does the barn hold 1000
        CHECK(gain(1000) > 1);
    }

    TEST_CASE(
        "the old SLAB is dearer than SLUB for NOPs, large slabs change nothing on an idle CPU") {
        const auto cost = [](const std::string& design) {
            return tests::cycles_per_operation(tests::run_shipped("nop", design, {{"batch", "16"}}, {}, "xeon-e5-2682v4").result, "nops");
        };
        CHECK(cost("kiocb-slab") > cost("kiocb-slub-bulk"));
        CHECK(cost("kiocb-slub-large-order") == cost("kiocb-slub-bulk"));
        CHECK(cost("kiocb-recycle-one") > cost("kiocb-on-stack"));
        CHECK(cost("kiocb-recycle-one") < cost("kiocb-percpu-v2"));
        CHECK(cost("kiocb-percpu-v1") == cost("kiocb-percpu-v2"));
        CHECK(cost("kiocb-on-stack-plain") < cost("kiocb-on-stack"));
    }
}
