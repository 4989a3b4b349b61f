#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

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
                CHECK(std::abs(change - figure.value) < 6); // 4 percent instead of 9
            }
        }
    }

    TEST_CASE("the guest's gain by a large slab order is that other users no longer cut into it") {
        const auto slow_frees = [](const char* design, const char* other_users) {
            const analysis::Run run = tests::run_shipped(
                "nop", design, {{"batch", "16"}}, {{"slab.other_users", other_users}}, "qemu-2020");
            return tests::counted(run.result, "request_slab_free_slow");
        };
        CHECK(slow_frees("kiocb-slub-bulk", "256") > 1000);
        CHECK(slow_frees("kiocb-slub-large-order", "256") < 100);
        CHECK(slow_frees("kiocb-slub-bulk", "0") < 100);
    }

    TEST_CASE("2015: within 15 percent but for the one figure that its own mails contradict") {
        const std::vector<PublishedFigure> figures = figures_of("bulk-alloc-2015");
        CHECK(figures.size() == 56);
        CHECK(2 * fitted(figures) <= figures.size());
        for (const PublishedFigure& figure : figures) {
            CAPTURE(figure.id);
            // The cover letters have 4.97 and 4.79 ns for what the commit has as 6.04.
            const bool alone = figure.id == "bulk2015-free-bulk-4";
            CHECK(std::abs(error_of(figure)) < (alone ? 21 : 15));
        }
    }

    TEST_CASE("2015: the shape: where a published column falls or rises, the simulated one does") {
        const std::vector<PublishedFigure> figures = figures_of("bulk-alloc-2015");
        constexpr double flat = 0.06; // steps smaller than this are the scatter of the mails
        for (const char* column :
             {"alloc-fallback-", "alloc-bulk-", "free-fallback-", "free-bulk-"}) {
            std::vector<PublishedFigure> rows = figures;
            std::erase_if(rows, [&](const PublishedFigure& figure) {
                return figure.id.find(column) == std::string::npos ||
                       figure.id == "bulk2015-free-bulk-4";
            });
            CHECK(rows.size() >= 13);
            for (std::size_t i = 1; i < rows.size(); ++i) {
                CAPTURE(rows[i].id);
                const double published = rows[i].value / rows[i - 1].value - 1;
                const double simulated =
                    (1 + error_of(rows[i]) / 100) * rows[i].value /
                        ((1 + error_of(rows[i - 1]) / 100) * rows[i - 1].value) -
                    1;
                CHECK((std::abs(published) < flat || published * simulated > 0));
            }
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
            return tests::cycles_per_operation(
                tests::run_shipped("nop", design, {{"batch", "16"}}, {}, "xeon-e5-2682v4").result,
                "nops");
        };
        CHECK(cost("kiocb-slab") > cost("kiocb-slub-bulk"));
        CHECK(cost("kiocb-slub-large-order") == cost("kiocb-slub-bulk"));
        CHECK(cost("kiocb-recycle-one") > cost("kiocb-on-stack"));
        CHECK(cost("kiocb-recycle-one") < cost("kiocb-percpu-v2"));
        CHECK(cost("kiocb-percpu-v1") == cost("kiocb-percpu-v2"));
        CHECK(cost("kiocb-on-stack-plain") < cost("kiocb-on-stack"));
    }

    TEST_CASE("init_on_alloc clears a request that is in L1: a few cycles a line, no line is far") {
        const auto cost = [](const char* init) {
            return tests::cycles_per_operation(
                tests::run_shipped("nop", "kiocb-slub-bulk", {{"batch", "16"}},
                                   {{"slab.init_on_alloc", init}}, "xeon-e5-2682v4")
                    .result,
                "nops");
        };
        const double more = cost("true") - cost("false");
        CHECK(more >= 4 * 4); // four lines, zero_line each
        CHECK(more < 40);
    }
}
