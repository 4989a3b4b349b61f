#include "analysis/sweep/sweep_summary.h"

#include "analysis/export/numbers.h"
#include "analysis/export/table.h"
#include "analysis/sweep/hash.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::analysis {

namespace {

constexpr std::size_t max_map_cells = 1U << 16U;
constexpr std::size_t max_map_columns = 32;
constexpr std::size_t max_shown_values = 40;
constexpr std::string_view shades = ".:-=+*%#@";

} // namespace

void SweepSummary::Cell::add(double ns, double retained) {
    min_ns = runs == 0 ? ns : std::min(min_ns, ns);
    max_ns = runs == 0 ? ns : std::max(max_ns, ns);
    ++runs;
    sum_ns += ns;
    sum_retained += retained;
}

SweepSummary::SweepSummary(const SweepPlan& plan, std::size_t phase,
                           std::optional<std::pair<std::size_t, std::size_t>> map)
    : plan_(plan)
    , phase_(phase)
    , map_groups_(map) {
    for (std::size_t group = 0; group < plan.groups(); ++group) {
        marginals_.emplace_back(plan.group_size(group));
        steps_.emplace_back(plan.group_size(group) - 1);
    }
    auto moving = moving_groups();
    // Numbers make the better maps: designs, machines and seeds come last.
    std::stable_partition(moving.begin(), moving.end(), [&](std::size_t group) {
        return std::ranges::any_of(plan.axes(), [group](const Axis& axis) {
            return axis.group == group &&
                   (axis.kind == AxisKind::knob || axis.kind == AxisKind::parameter);
        });
    });
    if (!map_groups_ && moving.size() >= 2) {
        map_groups_ = {moving[0], moving[1]};
    }
    if (map_groups_) {
        const std::size_t cells =
            plan.group_size(map_groups_->first) * plan.group_size(map_groups_->second);
        if (cells > max_map_cells) {
            map_groups_.reset();
        } else {
            map_.resize(cells);
        }
    }
}

std::vector<std::size_t> SweepSummary::moving_groups() const {
    std::vector<std::size_t> groups;
    for (std::size_t group = 0; group < plan_.groups(); ++group) {
        if (plan_.group_size(group) > 1) {
            groups.push_back(group);
        }
    }
    return groups;
}

std::size_t SweepSummary::place(const SweepPoint& point, std::size_t group) const {
    const auto axis = std::ranges::find(plan_.axes(), group, &Axis::group);
    return point.choice[static_cast<std::size_t>(axis - plan_.axes().begin())];
}

std::string SweepSummary::group_label(std::size_t group) const {
    std::string label;
    for (const Axis& axis : plan_.axes()) {
        if (axis.group == group) {
            label += label.empty() ? "" : " + ";
            label += axis.label();
        }
    }
    return label;
}

std::string SweepSummary::value_label(std::size_t group, std::size_t value) const {
    std::string label;
    for (const Axis& axis : plan_.axes()) {
        if (axis.group == group) {
            label += label.empty() ? "" : " + ";
            label += axis.values[value];
        }
    }
    return label;
}

void SweepSummary::add(const SweepPoint& point, const RowFigures& figures) {
    ++rows_;
    compare_neighbours(point, figures.outcome);
    stopped_ += figures.stopped ? 1 : 0;
    if (phase_ >= figures.ns_per_operation.size()) {
        return; // it stopped, or the scenario has no phase
    }
    const double ns = figures.ns_per_operation[phase_];
    for (std::size_t group = 0; group < plan_.groups(); ++group) {
        marginals_[group][place(point, group)].add(ns, figures.retained_bytes);
    }
    if (map_groups_) {
        const std::size_t width = plan_.group_size(map_groups_->second);
        map_[place(point, map_groups_->first) * width + place(point, map_groups_->second)].add(
            ns, figures.retained_bytes);
    }
}

void SweepSummary::compare_neighbours(const SweepPoint& point, std::uint64_t outcome) {
    for (const std::size_t group : moving_groups()) {
        const std::size_t value = place(point, group);
        Hash where;
        for (const std::size_t other : plan_.with(point.choice, group, 0)) {
            where.add(other);
        }
        const std::uint64_t term = where.add(outcome).value();
        if (value + 1 < plan_.group_size(group) &&
            plan_.has_point(plan_.with(point.choice, group, value + 1))) {
            steps_[group][value].lower += term;
            ++steps_[group][value].pairs;
        }
        if (value > 0 && plan_.has_point(plan_.with(point.choice, group, value - 1))) {
            steps_[group][value - 1].upper += term;
        }
    }
}

std::vector<std::string> SweepSummary::idle_axes() const {
    std::vector<std::string> labels;
    for (const std::size_t group : moving_groups()) {
        const auto& steps = steps_[group];
        const bool compared =
            std::ranges::any_of(steps, [](const Step& step) { return step.pairs > 0; });
        const bool same = std::ranges::all_of(
            steps, [](const Step& step) { return step.lower == step.upper; });
        if (compared && same) {
            labels.push_back(group_label(group));
        }
    }
    return labels;
}

std::string SweepSummary::map_text() const {
    const auto [down, across] = *map_groups_;
    const std::size_t width = std::min(plan_.group_size(across), max_map_columns);
    const std::size_t height = std::min(plan_.group_size(down), max_shown_values);
    double least = 0;
    double most = 0;
    bool first = true;
    for (const Cell& cell : map_) {
        if (cell.runs > 0) {
            const double mean = cell.sum_ns / static_cast<double>(cell.runs);
            least = first ? mean : std::min(least, mean);
            most = first ? mean : std::max(most, mean);
            first = false;
        }
    }
    std::size_t label_width = 0;
    for (std::size_t row = 0; row < height; ++row) {
        label_width = std::max(label_width, display_width(value_label(down, row)));
    }
    std::string text = fmt::format("\nmap: {} down, {} across from {} to {}\n", group_label(down),
                                   group_label(across), value_label(across, 0),
                                   value_label(across, width - 1));
    for (std::size_t row = 0; row < height; ++row) {
        const std::string label = value_label(down, row);
        text += std::string(2 + label_width - display_width(label), ' ') + label + "  ";
        for (std::size_t column = 0; column < width; ++column) {
            const Cell& cell = map_[row * plan_.group_size(across) + column];
            if (cell.runs == 0) {
                text += "  ";
                continue;
            }
            const double mean = cell.sum_ns / static_cast<double>(cell.runs);
            const double part = most > least ? (mean - least) / (most - least) : 0;
            const auto shade = std::min(
                static_cast<std::size_t>(part * static_cast<double>(shades.size())),
                shades.size() - 1);
            text += std::string(2, shades[shade]);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    text += fmt::format("  {} {} ns ... {} {} ns; blank: no run\n", shades.front(),
                        short_number(least), shades.back(), short_number(most));
    if (width < plan_.group_size(across) || height < plan_.group_size(down)) {
        text += fmt::format("  the first {} x {} of {} x {} values\n", height, width,
                            plan_.group_size(down), plan_.group_size(across));
    }
    return text;
}

std::string SweepSummary::to_text() const {
    std::string text = fmt::format(
        "{} of {}{}\n", counted(rows_, "run"), plan_.scenario().name,
        stopped_ > 0 ? fmt::format(", {} of which stopped with an error", stopped_) : "");
    if (plan_.scenario().phases.empty()) {
        return text;
    }
    text += fmt::format("time per operation of phase {} over all other axes:\n",
                        plan_.scenario().phases[phase_].name);
    for (const std::size_t group : moving_groups()) {
        Table table({{group_label(group), Align::left},
                     {"runs"},
                     {"mean ns"},
                     {"min ns"},
                     {"max ns"},
                     {"retained"}});
        const std::size_t shown = std::min(plan_.group_size(group), max_shown_values);
        for (std::size_t value = 0; value < shown; ++value) {
            const Cell& cell = marginals_[group][value];
            const auto runs = static_cast<double>(std::max<std::uint64_t>(cell.runs, 1));
            table.add_row({value_label(group, value), std::to_string(cell.runs),
                           short_number(cell.sum_ns / runs), short_number(cell.min_ns),
                           short_number(cell.max_ns),
                           bytes_text(static_cast<std::uint64_t>(cell.sum_retained / runs))});
        }
        text += '\n' + table.to_text();
        if (shown < plan_.group_size(group)) {
            text += fmt::format("... and {} more values\n", plan_.group_size(group) - shown);
        }
    }
    if (map_groups_) {
        text += map_text();
    }
    return text;
}

} // namespace uringsim::analysis
