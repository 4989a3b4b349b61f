#include "analysis/sensitivity.h"

#include "analysis/figures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace uringsim::analysis {

using scenarios::Diagnostics;

namespace {

constexpr double percent = 100.0;

/// A change as a figure in percent. For a rate that of the time it takes.
PublishedFigure change_of(const PublishedFigure& before, const PublishedFigure& after) {
    PublishedFigure change = after;
    change.metric = Metric::percent;
    change.baseline = before.design;
    change.value = after.metric == Metric::per_second
                       ? (before.value / after.value - 1.0) * percent
                       : (after.value / before.value - 1.0) * percent;
    change.noise_percent =
        std::hypot(before.noise_percent.value_or(0), after.noise_percent.value_or(0));
    return change;
}

/// The figure that another one is compared with; nullptr where it names none by "against".
const PublishedFigure* counterpart(const PublishedFile& file, const PublishedFigure& figure) {
    const auto found = figure.against.empty()
                           ? file.figures.end()
                           : std::ranges::find(file.figures, figure.against, &PublishedFigure::id);
    return found != file.figures.end() ? &*found : nullptr;
}

/// All conclusions of a file: its figures in percent, and the changes from one figure to another.
std::vector<PublishedFigure> conclusions_of(const PublishedFile& file) {
    std::vector<PublishedFigure> changes;
    for (const PublishedFigure& figure : file.figures) {
        if (figure.metric == Metric::percent) {
            changes.push_back(figure);
            continue;
        }
        if (const PublishedFigure* before = counterpart(file, figure)) {
            changes.push_back(change_of(*before, figure));
            changes.back().limit = file.limits.points;
        }
    }
    return changes;
}

/// Both sides of a change, an operation, on one machine.
struct Sides {
    CostCounts before;
    CostCounts after;
    const models::Machine& machine;

    /// after - (1 + t) before, which is 0 where the change is t.
    double gap(double t) const { return after.cycles(machine) - (1 + t) * before.cycles(machine); }
    double slope(double t, models::Primitive primitive) const {
        const auto index = static_cast<std::size_t>(primitive);
        return after.count[index] - (1 + t) * before.count[index];
    }
};

/// Adds the crossing of a change of t, for each cost that gets there within its range.
void add_crossings(const Sides& sides, double t, Flip flip, std::vector<Crossing>& crossings) {
    constexpr double no_influence = 1e-9;
    for (const models::PrimitiveInfo& row : models::primitive_table()) {
        const double slope = sides.slope(t, row.id);
        if (std::abs(slope) < no_influence) {
            continue;
        }
        const double now = static_cast<double>(sides.machine.cost(row.id).millicycles) /
                           static_cast<double>(sim::millicycles_per_cycle);
        const double at = now - sides.gap(t) / slope;
        if (at >= row.min_cycles && at <= row.max_cycles) {
            crossings.push_back({row.id, flip, now, at});
        }
    }
}

double distance(const Crossing& crossing) {
    return std::abs(std::log(crossing.at_cycles / crossing.now_cycles));
}

Conclusion judge(const PublishedFigure& figure, const Sides& sides) {
    Conclusion conclusion{figure.id,
                          figure.source,
                          figure.scenario,
                          figure.phase,
                          figure.design,
                          figure.baseline,
                          figure.value,
                          0,
                          figure.noise_percent.value_or(0),
                          figure.limit,
                          false,
                          true,
                          {}};
    conclusion.simulated =
        (sides.after.cycles(sides.machine) / sides.before.cycles(sides.machine) - 1.0) * percent;
    conclusion.has_sign = std::abs(conclusion.published) > conclusion.noise;
    conclusion.size_holds =
        std::abs(conclusion.simulated - conclusion.published) <= conclusion.points;
    if (conclusion.has_sign) {
        add_crossings(sides, 0, Flip::sign, conclusion.crossings);
    }
    for (const double bound : {-conclusion.points, conclusion.points}) {
        add_crossings(sides, (conclusion.published + bound) / percent, Flip::size,
                      conclusion.crossings);
    }
    std::ranges::stable_sort(conclusion.crossings, [](const Crossing& a, const Crossing& b) {
        return a.flip != b.flip ? a.flip < b.flip : distance(a) < distance(b);
    });
    return conclusion;
}

} // namespace

std::optional<Sensitivity> sensitivity(const Library& library,
                                       const std::vector<PublishedFile>& files, unsigned jobs,
                                       Diagnostics& diagnostics) {
    std::vector<PublishedFigure> changes;
    for (const PublishedFile& file : files) {
        const auto more = conclusions_of(file);
        changes.insert(changes.end(), more.begin(), more.end());
    }
    auto runs = FigureRuns::plan(library, changes, {}, diagnostics);
    if (!runs) {
        return std::nullopt;
    }
    runs->execute(jobs);
    Sensitivity result;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const auto before = cost_counts(runs->baseline(i), changes[i].phase);
        const auto after = cost_counts(runs->result(i), changes[i].phase);
        if (!before || !after || !before->is_sum(runs->machine(i)) ||
            !after->is_sum(runs->machine(i))) {
            result.no_sums.push_back(changes[i].id);
            continue;
        }
        result.conclusions.push_back(judge(changes[i], {*before, *after, runs->machine(i)}));
    }
    return result;
}

} // namespace uringsim::analysis
