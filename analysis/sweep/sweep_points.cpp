#include "analysis/sweep/hash.h"
#include "analysis/sweep/sweep_plan.h"

#include <algorithm>

// The points of a sweep that was checked: how one is bound, and the walk over a shard's.

namespace uringsim::analysis {

using scenarios::Diagnostics;
using scenarios::Scenario;

namespace {

constexpr std::size_t max_bound = 4096; ///< scenarios kept bound at once

} // namespace

Choice SweepPlan::choice_at(const std::vector<std::size_t>& places) const {
    Choice choice(spec_.axes.size());
    for (std::size_t i = 0; i < choice.size(); ++i) {
        choice[i] = places[spec_.axes[i].group];
    }
    return choice;
}

Choice SweepPlan::choice_of(std::uint64_t combination) const {
    std::vector<std::size_t> places(group_sizes_.size());
    for (std::size_t group = places.size(); group-- > 0;) {
        places[group] = combination % group_sizes_[group];
        combination /= group_sizes_[group];
    }
    return choice_at(places);
}

Choice SweepPlan::with(const Choice& choice, std::size_t group, std::size_t value) const {
    Choice moved = choice;
    for (std::size_t i = 0; i < moved.size(); ++i) {
        if (spec_.axes[i].group == group) {
            moved[i] = value;
        }
    }
    return moved;
}

std::uint64_t SweepPlan::seed_of(const Choice& choice) const {
    const auto axis = std::ranges::find(spec_.axes, AxisKind::seed, &Axis::kind);
    return seeds_[choice[static_cast<std::size_t>(axis - spec_.axes.begin())]];
}

std::shared_ptr<const Scenario> SweepPlan::scenario_for(const Choice& choice,
                                                        std::string* reason) const {
    std::vector<std::size_t> places;
    scenarios::ParameterOverrides overrides = spec_.base.parameters;
    for (std::size_t i = 0; i < choice.size(); ++i) {
        if (spec_.axes[i].kind == AxisKind::parameter) {
            places.push_back(choice[i]);
            overrides.emplace_back(spec_.axes[i].name, spec_.axes[i].values[choice[i]]);
        }
    }
    if (bound_.size() >= max_bound && !bound_.contains(places)) {
        bound_.clear();
    }
    const auto [entry, is_new] = bound_.try_emplace(places);
    if (is_new) {
        Diagnostics diagnostics;
        if (auto scenario = scenarios::read_scenario(root_, overrides, diagnostics)) {
            scenario->seed = spec_.base.seed.value_or(scenario->seed);
            entry->second.scenario = std::make_shared<const Scenario>(*std::move(scenario));
        } else {
            // Without the value: one reason for all points that are refused alike.
            const scenarios::Diagnostic first = diagnostics.sorted().front();
            entry->second.reason =
                first.pointer + ": " + first.message.substr(0, first.message.find("; "));
        }
    }
    if (reason != nullptr) {
        *reason = entry->second.reason;
    }
    return entry->second.scenario;
}

models::Design SweepPlan::design_of(const Choice& choice) const {
    const auto axis = std::ranges::find(spec_.axes, AxisKind::design, &Axis::kind);
    models::Design design = designs_[choice[static_cast<std::size_t>(axis - spec_.axes.begin())]];
    for (std::size_t i = 0; i < choice.size(); ++i) {
        if (spec_.axes[i].kind == AxisKind::knob) {
            models::find_knob(spec_.axes[i].name)->set(design, numbers_[i][choice[i]]);
        }
    }
    return design;
}

std::string SweepPlan::conflict_of(const models::Design& design) const {
    const auto conflicts = models::conflicts(design);
    return conflicts.empty() ? "" : conflicts.front();
}

bool SweepPlan::shape(const Choice& choice, SweepPoint& point, std::string* reason) const {
    point.scenario = scenario_for(choice, reason);
    if (!point.scenario) {
        return false;
    }
    point.design = design_of(choice);
    std::string why;
    for (const Constraint& constraint : constraints_) {
        if (!constraint.holds(point.design, *point.scenario)) {
            why = "constraint " + constraint.text();
            break;
        }
    }
    why = why.empty() ? conflict_of(point.design) : why;
    if (reason != nullptr) {
        *reason = why;
    }
    return why.empty();
}

bool SweepPlan::has_point(const Choice& choice) const {
    SweepPoint point;
    return left_out_.empty() || shape(choice, point, nullptr);
}

std::optional<SweepPoint> SweepPlan::bind(const Choice& choice, std::string* reason) const {
    SweepPoint point;
    point.choice = choice;
    if (!shape(choice, point, reason)) {
        return std::nullopt;
    }
    std::uint64_t machine_hash = 0;
    for (std::size_t i = 0; i < choice.size(); ++i) {
        if (spec_.axes[i].kind == AxisKind::machine) {
            point.machine = machines_[choice[i]].machine;
            machine_hash = machines_[choice[i]].hash;
        }
    }
    if (const std::uint64_t seed = seed_of(choice); seed != point.scenario->seed) {
        auto seeded = std::make_shared<Scenario>(*point.scenario);
        seeded->seed = seed;
        point.scenario = std::move(seeded);
    }
    point.key = Hash().add(machine_hash).add(key_of(point)).value();
    return point;
}

std::optional<SweepPoint> PointWalk::next() {
    while (combination_ < plan_->combinations()) {
        const Choice choice = plan_->choice_of(combination_++);
        if (index_ % shards_ != shard_ - 1) { // of another shard, if it is any
            index_ += plan_->has_point(choice) ? 1 : 0;
        } else if (auto point = plan_->bind(choice)) {
            point->index = index_++;
            ++given_;
            return point;
        }
    }
    return std::nullopt;
}

std::uint64_t PointWalk::total() const {
    return (plan_->runs() + shards_ - shard_) / shards_;
}

} // namespace uringsim::analysis
