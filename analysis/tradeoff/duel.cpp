#include "analysis/tradeoff/duel.h"

#include "analysis/export/numbers.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace uringsim::analysis {

using scenarios::Diagnostics;

namespace {

/// Runs of values at which the second design wins.
std::vector<std::pair<std::int64_t, std::int64_t>> won(const BreakEven& found,
                                                       const BreakEvenRange& range) {
    std::vector<std::pair<std::int64_t, std::int64_t>> runs;
    std::int64_t from = range.first;
    bool winning = found.second_wins_at_start;
    for (const WinnerChange& crossing : found.crossings) {
        if (winning) {
            runs.emplace_back(from, crossing.unsteady_from - 1);
        }
        from = crossing.settled;
        winning = crossing.second_wins;
    }
    if (winning) {
        runs.emplace_back(from, range.last);
    }
    return runs;
}

/// The sweep of a workload, for another axis to be added.
SweepSpec spec_of(const SweepPlan& plan) {
    SweepSpec spec = plan.spec();
    std::erase_if(spec.axes, [](const Axis& axis) {
        return axis.kind == AxisKind::machine || axis.kind == AxisKind::seed;
    });
    return spec;
}

} // namespace

void check_range(const Library& library, const PlannedWorkload& planned,
                 const BreakEvenRange& range, Diagnostics& diagnostics) {
    const auto report = [&](const SweepPlan& plan, const std::string& where) {
        for (const auto& [why, count] : plan.left_out()) {
            diagnostics.add_option("--break-even",
                                   fmt::format("{}{} cannot be run on both designs: {}",
                                               planned.workload.subject(), where, why));
        }
    };
    report(planned.plan, "");
    if (!planned.plan.left_out().empty()) {
        return;
    }
    for (const std::int64_t end : {range.first, range.last}) {
        SweepSpec spec = spec_of(planned.plan);
        spec.add_axis(range.label, std::to_string(end), "--break-even", diagnostics);
        const std::size_t before = diagnostics.size();
        const auto plan = SweepPlan::make(library, std::move(spec), diagnostics);
        if (plan) {
            report(*plan, fmt::format(" at {} = {}", range.label, end));
        }
        if (diagnostics.size() > before) {
            return; // the other end would say the same
        }
    }
}

Duel::Duel(const Library& library, const PlannedWorkload& planned, BreakEvenRange range)
    : library_(library)
    , planned_(planned)
    , range_(std::move(range))
    , spec_(spec_of(planned.plan)) {
    const auto first = planned.plan.bind(planned.plan.choice_of(0));
    const auto second = planned.plan.bind(planned.plan.choice_of(1));
    if (planned.plan.combinations() != 2 || !first || !second) {
        throw scenarios::RunError(
            fmt::format("{} cannot be run on both designs", planned.workload.subject()));
    }
    names_ = {first->design.name, second->design.name};
    machine_ = first->machine;
}

Duel::Costs Duel::costs(std::int64_t value, const models::Machine* machine) const {
    SweepSpec one = spec_;
    Diagnostics diagnostics;
    one.add_axis(range_.label, std::to_string(value), "--break-even", diagnostics);
    const auto plan = diagnostics.empty() ? SweepPlan::make(library_, std::move(one), diagnostics)
                                          : std::nullopt;
    if (!plan || plan->runs() != 2) {
        throw scenarios::RunError(fmt::format("{} = {} cannot be run on both designs{}{}",
                                              range_.label, value,
                                              diagnostics.empty() ? "" : ": ",
                                              diagnostics.to_string()));
    }
    PointWalk walk(*plan, 1, 1);
    Costs costs;
    const auto cycles_of_next = [&] {
        const auto point = walk.next();
        const auto result = scenarios::replay(*point->scenario, point->design,
                                              machine != nullptr ? *machine : *point->machine);
        const scenarios::PhaseResult& phase = result.phases.at(planned_.phase);
        costs.rounds = std::max<std::size_t>(phase.cycles_by_round.size(), 1);
        return phase.total_cycles();
    };
    costs.first = cycles_of_next();
    costs.second = cycles_of_next();
    return costs;
}

sim::Cycles Duel::difference(std::int64_t value, const models::Machine* machine) const {
    const Costs found = costs(value, machine);
    return found.second - found.first;
}

BreakEven Duel::find(const models::Machine* machine) const {
    return find_break_even([&](std::int64_t value) { return difference(value, machine); },
                           range_.first, range_.last, machine != nullptr ? 0 : steady_neighbours);
}

/// The fill ratio, where it is installs that move in a table of fixed size.
std::string Duel::share_of_slots(std::int64_t value) const {
    const auto& parameters = planned_.plan.scenario().parameters;
    const auto slots = std::ranges::find(parameters, "slots", &scenarios::Parameter::name);
    if (range_.label != parameter_label("installs") || slots == parameters.end()) {
        return "";
    }
    constexpr double whole = 100;
    return fmt::format(", {:.0f} % of {} slots",
                       whole * static_cast<double>(value) / static_cast<double>(slots->value),
                       slots->value);
}

std::string Duel::costs_text(std::int64_t value) const {
    const Costs found = costs(value, nullptr);
    const auto us = [&](sim::Cycles cycles) {
        constexpr double ns_per_us = 1000;
        return short_number(machine_->ns_of_cycles(static_cast<double>(cycles)) /
                            static_cast<double>(found.rounds) / ns_per_us);
    };
    return fmt::format("at {}: {} us against {} us", value, us(found.second), us(found.first));
}

std::string Duel::sentence(const BreakEven& found) const {
    const std::string label = axis_of(range_.label).name; // a parameter's own
    const auto runs = won(found, range_);
    std::string where;
    if (runs.empty()) {
        where = fmt::format("for no value of {} looked at from {} to {}", label, range_.first,
                            range_.last);
    }
    for (const auto& [first, last] : runs) {
        where += where.empty() ? "" : " and ";
        if (first == range_.first && last == range_.last) {
            where += fmt::format("for every value of {} looked at from {} to {}", label, first,
                                 last);
        } else if (last == range_.last) {
            where += fmt::format("from {} = {} on{}", label, first, share_of_slots(first));
        } else if (first == range_.first) {
            where += fmt::format("up to {} = {}{}", label, last, share_of_slots(last));
        } else {
            where += fmt::format("from {} = {} to {}", label, first, last);
        }
    }
    for (const WinnerChange& crossing : found.crossings) {
        if (!crossing.steady()) {
            where += fmt::format("; from {} to {} they are even, and the winner alternates",
                                 crossing.unsteady_from, crossing.settled - 1);
        }
    }
    return fmt::format("In phase {} of {}, {} is cheaper than {} {} ({}; {}).",
                       planned_.phase_name(), planned_.workload.subject(), names_.second,
                       names_.first, where, costs_text(range_.first), costs_text(range_.last));
}

std::optional<Duel::Sensitivity> Duel::sensitivity(const BreakEven& found,
                                                   std::int64_t percent) const {
    if (found.crossings.size() != 1) {
        return std::nullopt;
    }
    constexpr std::int64_t whole = 100;
    const WinnerChange crossing = found.crossings.front();
    Sensitivity result{crossing.first, crossing.first, {}, false};
    std::vector<std::pair<std::int64_t, std::string>> moved;
    for (const models::PrimitiveInfo& row : models::primitive_table()) {
        for (const std::int64_t off : {-percent, percent}) {
            models::Machine other = *machine_;
            auto& cost = other.cost(row.id).millicycles;
            if (cost == 0) {
                continue;
            }
            cost = cost * (whole + off) / whole;
            const bool after = difference(crossing.first, &other) < 0;
            const bool before = difference(crossing.last, &other) < 0;
            if (after == crossing.second_wins && before != after) {
                continue; // it stays where it is
            }
            const std::string change = fmt::format("{} {:+} %", row.name, off);
            const BreakEven again = find(&other);
            if (again.crossings.size() != 1) {
                result.may_vanish = true;
                moved.emplace_back(range_.last - range_.first, change + ": none, or several");
                continue;
            }
            const std::int64_t now = again.crossings.front().first;
            result.least = std::min(result.least, now);
            result.most = std::max(result.most, now);
            moved.emplace_back(std::abs(now - crossing.first), fmt::format("{}: {}", change, now));
        }
    }
    std::ranges::stable_sort(moved, std::ranges::greater{},
                             &std::pair<std::int64_t, std::string>::first);
    for (auto& [by, text] : moved) {
        result.movers.push_back(std::move(text));
    }
    return result;
}

} // namespace uringsim::analysis
