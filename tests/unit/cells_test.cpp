// Published times of the fixed-file sources: each figure of scenarios/published/ of these two
// sources within the stated error, through real replays of the shipped files.

#include "analysis/published.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support.h"

using namespace uringsim;
using analysis::Metric;
using analysis::PublishedFigure;

namespace {

constexpr double passed_bound = 3.0; ///< percent, or the source's noise where that is larger
constexpr double failed_bound = 8.0; ///< percent, where the source's own stability gate failed
constexpr double change_bound = 2.0; ///< points, for changes in percent

std::vector<PublishedFigure> figures() {
    scenarios::Diagnostics diagnostics;
    std::vector<PublishedFigure> all = analysis::load_published(tests::library(), diagnostics);
    INFO(diagnostics.to_string());
    REQUIRE(diagnostics.empty());
    std::erase_if(all, [](const PublishedFigure& figure) {
        return figure.source != "rfc-rsrc-node-allocation" && figure.source != "send-fd-evidence";
    });
    return all;
}

/// Figures share runs.
class Runs {
  public:
    double value(const PublishedFigure& figure, const std::string& design) {
        const scenarios::Result& result = run_of(figure, design);
        const scenarios::PhaseResult* phase = result.find_phase(figure.phase);
        REQUIRE(phase != nullptr);
        const double ns = result.ns(phase->mean_cycles());
        return figure.metric == Metric::us ? ns / 1000.0
                                           : ns / static_cast<double>(phase->operations);
    }

    /// In the figure's metric.
    double simulated(const PublishedFigure& figure) {
        const double own = value(figure, figure.design);
        return figure.metric == Metric::percent ? (own / value(figure, figure.baseline) - 1) * 100
                                                : own;
    }

  private:
    const scenarios::Result& run_of(const PublishedFigure& figure, const std::string& design) {
        scenarios::ParameterOverrides parameters;
        std::string key = figure.scenario + " " + design;
        for (const auto& [name, number] : figure.parameters) {
            parameters.emplace_back(name, std::to_string(number));
            key += " " + name + "=" + std::to_string(number);
        }
        if (figure.scenario == "register-many-install-few") {
            // The source's 480 rings are 15 equal groups; one group gives the same mean.
            parameters.emplace_back("rounds", "32");
        }
        const auto found = done_.find(key);
        if (found != done_.end()) {
            return found->second;
        }
        return done_.emplace(key, tests::run(figure.scenario, design, parameters)).first->second;
    }

    std::map<std::string, scenarios::Result> done_;
};

Runs& runs() {
    static Runs shared;
    return shared;
}

double bound_of(const PublishedFigure& figure) {
    if (figure.metric == Metric::percent) {
        return change_bound;
    }
    return figure.gate_passed.value_or(true)
               ? std::max(passed_bound, figure.noise_percent.value_or(0))
               : failed_bound;
}

double error_of(const PublishedFigure& figure) {
    const double simulated = runs().simulated(figure);
    return figure.metric == Metric::percent ? simulated - figure.value
                                            : (simulated / figure.value - 1) * 100;
}

} // namespace

TEST_CASE("published times of the fixed-file sources are met within the stated error") {
    for (const PublishedFigure& figure : figures()) {
        const double error = error_of(figure);
        INFO(figure.id, " (", figure.citation, "): published ", figure.value, " ", figure.unit,
             ", simulated ", runs().simulated(figure), ", error ", error, ", bound ",
             bound_of(figure));
        CHECK(std::abs(error) <= bound_of(figure));
    }
}

TEST_CASE("predicted times have a mean error near the prototype's 0.9 %") {
    double sum = 0;
    double worst = 0;
    int predictions = 0;
    for (const PublishedFigure& figure : figures()) {
        if (figure.fitted || figure.metric == Metric::percent ||
            !figure.gate_passed.value_or(true)) {
            continue;
        }
        const double error = std::abs(error_of(figure));
        sum += error;
        worst = std::max(worst, error);
        ++predictions;
    }
    REQUIRE(predictions > 0);
    const double mean = sum / predictions;
    MESSAGE(predictions, " predictions: mean error ", mean, " %, worst ", worst, " %");
    CHECK(mean <= 1.2);
    CHECK(worst <= passed_bound);
}

TEST_CASE("at most a third of the figures are fitted, and exactly those that the machine names") {
    const std::vector<PublishedFigure> all = figures();
    CHECK(all.size() == 34);
    std::set<std::string> fitted;
    for (const PublishedFigure& figure : all) {
        if (figure.fitted) {
            fitted.insert(figure.id);
        }
    }
    CHECK(fitted.size() * 3 <= all.size());
    const models::Machine& machine = tests::i7();
    const std::set<std::string> named(machine.fitted_to.begin(), machine.fitted_to.end());
    CHECK(named == fitted);
    CHECK(machine.free_costs.size() < fitted.size());
}

TEST_CASE("every published difference between designs has its sign") {
    const std::vector<PublishedFigure> all = figures();
    int compared = 0;
    for (const PublishedFigure& a : all) {
        if (a.metric == Metric::percent) {
            const double noise = a.noise_percent.value_or(0);
            if (std::abs(a.value) > noise) {
                INFO(a.id, ": published ", a.value, " %, simulated ", runs().simulated(a));
                CHECK((runs().simulated(a) > 0) == (a.value > 0));
                ++compared;
            }
            continue;
        }
        for (const PublishedFigure& b : all) {
            const bool pair = a.source == b.source && a.scenario == b.scenario &&
                              a.parameters == b.parameters && a.phase == b.phase &&
                              b.metric == a.metric && a.id < b.id && a.design != b.design;
            // Only what stands out of both figures' noise has a sign.
            const double noise = a.noise_percent.value_or(0) + b.noise_percent.value_or(0);
            if (!pair || std::abs(a.value / b.value - 1) * 100 <= noise) {
                continue;
            }
            INFO(a.id, " against ", b.id, ": published ", a.value, " and ", b.value, ", simulated ",
                 runs().simulated(a), " and ", runs().simulated(b));
            CHECK((runs().simulated(a) > runs().simulated(b)) == (a.value > b.value));
            ++compared;
        }
    }
    CHECK(compared > 20);
}
