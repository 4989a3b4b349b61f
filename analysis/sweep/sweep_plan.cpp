#include "analysis/sweep/sweep_plan.h"

#include "analysis/sweep/hash.h"
#include "analysis/version.h"
#include "scenarios/configuration.h"
#include "scenarios/did_you_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace uringsim::analysis {

using scenarios::Diagnostics;
using scenarios::JsonNode;
using scenarios::Scenario;

namespace {

constexpr std::size_t max_bound = 4096; ///< scenarios kept bound at once

void add_node(Hash& hash, const JsonNode& node) {
    hash.add(static_cast<std::uint64_t>(node.type())).add(node.key()).add(node.text());
    hash.add(std::uint64_t{node.boolean()}).add(node.children().size());
    for (const JsonNode& child : node.children()) {
        add_node(hash, child);
    }
}

/// Of a whole file: whatever is added to its format later is in it.
std::uint64_t hash_of(const JsonNode& root) {
    Hash hash;
    add_node(hash, root);
    return hash.value();
}

std::optional<std::int64_t> knob_number(const models::Knob& knob, const std::string& text,
                                        std::string& error) {
    switch (knob.type) {
    case models::KnobType::boolean:
        return scenarios::parse_boolean(text, error);
    case models::KnobType::choice:
        return scenarios::parse_choice(text, knob.choices(), error);
    case models::KnobType::integer:
        break;
    }
    return scenarios::parse_integer(text, {knob.min, knob.max, std::string(knob.unit)}, error);
}

std::string option_of(const Axis& axis) {
    return "axis " + axis.label();
}

/// What is wrong with the base knobs, whatever the design; a conflict depends on the point.
void check_base_knobs(const scenarios::KnobOverrides& knobs, Diagnostics& diagnostics) {
    models::Design scratch;
    Diagnostics found;
    scenarios::apply_knobs(scratch, knobs, found);
    for (const scenarios::Diagnostic& diagnostic : found.all()) {
        if (diagnostic.pointer != "--set") {
            diagnostics.add(diagnostic);
        }
    }
}

} // namespace

std::optional<SweepPlan> SweepPlan::make(const Library& library, SweepSpec spec,
                                         Diagnostics& diagnostics) {
    const std::size_t reported_before = diagnostics.size();
    auto root = library.load(FileKind::scenario, spec.base.scenario, "SCENARIO", diagnostics);
    if (!root) {
        return std::nullopt;
    }
    SweepPlan plan(std::move(spec), *std::move(root));
    plan.root_hash_ = hash_of(plan.root_);
    const auto scenario =
        scenarios::read_scenario(plan.root_, plan.spec_.base.parameters, diagnostics);
    if (!scenario) {
        return std::nullopt;
    }
    plan.scenario_ = *scenario;
    check_base_knobs(plan.spec_.base.knobs, diagnostics);
    plan.add_default_axes(*scenario);
    plan.number_groups(diagnostics);
    plan.check_axes(diagnostics);
    plan.load_designs(library, diagnostics);
    plan.load_machines(library, diagnostics);
    for (const std::string& text : plan.spec_.constraints) {
        std::string error;
        if (auto constraint = Constraint::parse(text, plan.axes(), plan.scenario_, error)) {
            plan.constraints_.push_back(*std::move(constraint));
        } else {
            diagnostics.add_option("constraint", error);
        }
    }
    if (diagnostics.size() == reported_before) {
        plan.walk(diagnostics);
    }
    return diagnostics.size() > reported_before ? std::nullopt : std::optional(std::move(plan));
}

/// Design, machine and seed are axes always, of one value where nothing was said. The seed moves
/// fastest.
void SweepPlan::add_default_axes(const Scenario& scenario) {
    const auto has = [&](AxisKind kind) {
        return std::ranges::find(spec_.axes, kind, &Axis::kind) != spec_.axes.end();
    };
    const std::string folder = std::filesystem::path(root_.file()).parent_path().string();
    const auto resolved = [&](const std::string& name) {
        return is_path(name) ? (std::filesystem::path(folder) / name).string() : name;
    };
    std::vector<Axis> missing;
    if (!has(AxisKind::machine)) {
        missing.push_back({AxisKind::machine, "machine",
                           {spec_.base.machine.value_or(resolved(scenario.machine))}, 0});
    }
    if (!has(AxisKind::design)) {
        const auto& given = spec_.base.designs;
        missing.push_back({AxisKind::design, "design",
                           given.empty() ? std::vector{resolved(scenario.design)} : given, 0});
    }
    if (!has(AxisKind::seed)) {
        const std::uint64_t first = spec_.base.seed.value_or(scenario.seed);
        Axis seeds{AxisKind::seed, "seed", {}, 0};
        for (std::uint64_t i = 0; i < spec_.repeats; ++i) {
            seeds.values.push_back(std::to_string(first + i));
        }
        missing.push_back(std::move(seeds));
    }
    // Groups of their own: those that exist move up by two to make room in front.
    std::size_t last = 0;
    for (Axis& axis : spec_.axes) {
        axis.group += missing.size();
        last = std::max(last, axis.group);
    }
    for (std::size_t i = 0; i < missing.size(); ++i) {
        const bool behind = missing[i].kind == AxisKind::seed;
        missing[i].group = behind ? std::max(last, missing.size()) + 1 : i;
        const auto place = behind ? spec_.axes.end()
                                  : spec_.axes.begin() + static_cast<std::ptrdiff_t>(i);
        spec_.axes.insert(place, std::move(missing[i]));
    }
}

/// Numbers the groups from 0 in the order of their first axes, and checks that zipped axes are of a
/// length.
void SweepPlan::number_groups(Diagnostics& diagnostics) {
    std::vector<std::size_t> order;
    std::set<std::string> labels;
    for (Axis& axis : spec_.axes) {
        if (!labels.insert(axis.label()).second) {
            diagnostics.add_option(option_of(axis), "given twice");
        }
        auto found = std::ranges::find(order, axis.group);
        if (found == order.end()) {
            order.push_back(axis.group);
            group_sizes_.push_back(axis.values.size());
            found = order.end() - 1;
        }
        axis.group = static_cast<std::size_t>(found - order.begin());
        if (axis.values.size() != group_sizes_[axis.group]) {
            diagnostics.add_option(option_of(axis),
                                   fmt::format("is zipped with an axis of {} values, but has {}",
                                               group_sizes_[axis.group], axis.values.size()));
        }
    }
    combinations_ = 1;
    for (const std::size_t size : group_sizes_) {
        if (size != 0 && combinations_ > std::numeric_limits<std::uint64_t>::max() / size) {
            combinations_ = std::numeric_limits<std::uint64_t>::max();
            break;
        }
        combinations_ *= size;
    }
    if (combinations_ > spec_.max_runs) {
        diagnostics.add_option("sweep",
                               fmt::format("{}{} combinations are more than {}; --max-runs N "
                                           "allows more",
                                           combinations_ == std::numeric_limits<std::uint64_t>::max()
                                               ? "at least "
                                               : "",
                                           combinations_, spec_.max_runs));
    }
}

void SweepPlan::check_axes(Diagnostics& diagnostics) {
    for (const Axis& axis : spec_.axes) {
        numbers_.emplace_back();
        parse_values(axis, diagnostics);
    }
}

void SweepPlan::parse_values(const Axis& axis, Diagnostics& diagnostics) {
    const auto add = [&](std::optional<std::int64_t> number, const std::string& error) {
        if (number) {
            numbers_.back().push_back(*number);
        } else {
            diagnostics.add_option(option_of(axis), error);
        }
    };
    const auto twice = [&](const auto& base) {
        return std::ranges::any_of(base, [&](const auto& entry) { return entry.first == axis.name; });
    };
    std::string error;
    if (axis.kind == AxisKind::knob) {
        const models::Knob* knob = models::find_knob(axis.name);
        if (knob == nullptr) {
            const auto near = scenarios::did_you_mean(axis.name, models::knob_names());
            diagnostics.add_option(
                option_of(axis),
                fmt::format("there is no such knob (a parameter is param:NAME){}",
                            near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
            return;
        }
        if (twice(spec_.base.knobs)) {
            diagnostics.add_option(option_of(axis), "is also set with --set");
        }
        for (const std::string& value : axis.values) {
            add(knob_number(*knob, value, error), error);
        }
    } else if (axis.kind == AxisKind::parameter) {
        const auto found =
            std::ranges::find(scenario_.parameters, axis.name, &scenarios::Parameter::name);
        if (found == scenario_.parameters.end()) {
            std::vector<std::string> names;
            for (const auto& parameter : scenario_.parameters) {
                names.push_back(parameter.name);
            }
            const auto near = scenarios::did_you_mean(axis.name, names);
            diagnostics.add_option(
                option_of(axis),
                fmt::format("{} has no such parameter; it declares {}{}", scenario_.name,
                            fmt::join(names, ", "),
                            near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
            return;
        }
        if (twice(spec_.base.parameters)) {
            diagnostics.add_option(option_of(axis), "is also set with --param");
        }
        for (const std::string& value : axis.values) {
            add(scenarios::parse_integer(value, {found->min, 1LL << 40, found->unit}, error), error);
        }
    } else if (axis.kind == AxisKind::seed) {
        for (const std::string& value : axis.values) {
            const auto seed = scenarios::parse_unsigned(value, {}, error);
            if (seed) {
                seeds_.push_back(*seed);
            } else {
                diagnostics.add_option(option_of(axis), error);
            }
        }
    }
}

void SweepPlan::load_designs(const Library& library, Diagnostics& diagnostics) {
    const auto axis = std::ranges::find(spec_.axes, AxisKind::design, &Axis::kind);
    std::set<std::string> names;
    for (const std::string& name : axis->values) {
        const auto node = library.load(FileKind::design, name, option_of(*axis), diagnostics);
        auto design = node ? library.design(*node, diagnostics) : std::nullopt;
        if (!design) {
            continue;
        }
        if (!names.insert(design->name).second) {
            diagnostics.add_option(option_of(*axis), fmt::format("\"{}\" given twice", design->name));
        }
        for (const auto& [knob_name, text] : spec_.base.knobs) {
            const models::Knob* knob = models::find_knob(knob_name);
            std::string ignored; // check_base_knobs() reports
            const auto number = knob != nullptr ? knob_number(*knob, text, ignored) : std::nullopt;
            if (number) {
                knob->set(*design, *number);
            }
        }
        designs_.push_back(*std::move(design));
    }
}

void SweepPlan::load_machines(const Library& library, Diagnostics& diagnostics) {
    const auto axis = std::ranges::find(spec_.axes, AxisKind::machine, &Axis::kind);
    for (const std::string& name : axis->values) {
        const auto node = library.load(FileKind::machine, name, option_of(*axis), diagnostics);
        const auto machine = node ? scenarios::read_machine(*node, diagnostics) : std::nullopt;
        if (!machine) {
            continue;
        }
        for (const scenarios::TaskSpec& task : scenario_.tasks) {
            if (task.cpu >= machine->cpus) {
                diagnostics.add_option(option_of(*axis),
                                       fmt::format("task \"{}\" wants CPU {}, but {} has {} CPUs",
                                                   task.name, task.cpu, machine->name,
                                                   machine->cpus));
            }
        }
        machines_.push_back({std::make_shared<models::Machine>(*machine), hash_of(*node)});
    }
}

/// Counts the runs and why points are left out.
void SweepPlan::walk(Diagnostics& diagnostics) {
    std::string reason;
    for (std::uint64_t i = 0; i < combinations_; ++i) {
        if (bind(choice_of(i), &reason)) {
            ++runs_;
        } else {
            ++left_out_[reason];
        }
    }
    if (runs_ == 0) {
        for (const auto& [why, count] : left_out_) {
            diagnostics.add_option("sweep", fmt::format("no point is left to run: {}", why));
        }
    }
}

Choice SweepPlan::choice_of(std::uint64_t combination) const {
    std::vector<std::size_t> places(group_sizes_.size());
    for (std::size_t group = places.size(); group-- > 0;) {
        places[group] = combination % group_sizes_[group];
        combination /= group_sizes_[group];
    }
    Choice choice(spec_.axes.size());
    for (std::size_t i = 0; i < choice.size(); ++i) {
        choice[i] = places[spec_.axes[i].group];
    }
    return choice;
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

std::optional<SweepPoint> SweepPlan::bind(const Choice& choice, std::string* reason) const {
    SweepPoint point;
    point.choice = choice;
    point.scenario = scenario_for(choice, reason);
    if (!point.scenario) {
        return std::nullopt;
    }
    std::uint64_t machine_hash = 0;
    for (std::size_t i = 0; i < choice.size(); ++i) {
        if (spec_.axes[i].kind == AxisKind::design) {
            point.design = designs_[choice[i]];
        } else if (spec_.axes[i].kind == AxisKind::machine) {
            point.machine = machines_[choice[i]].machine;
            machine_hash = machines_[choice[i]].hash;
        }
    }
    for (std::size_t i = 0; i < choice.size(); ++i) {
        if (spec_.axes[i].kind == AxisKind::knob) {
            models::find_knob(spec_.axes[i].name)->set(point.design, numbers_[i][choice[i]]);
        }
    }
    for (const Constraint& constraint : constraints_) {
        if (!constraint.holds(point.design, *point.scenario)) {
            if (reason != nullptr) {
                *reason = "constraint " + constraint.text();
            }
            return std::nullopt;
        }
    }
    if (const auto conflicts = models::conflicts(point.design); !conflicts.empty()) {
        if (reason != nullptr) {
            *reason = conflicts.front();
        }
        return std::nullopt;
    }
    if (const std::uint64_t seed = seed_of(choice); seed != point.scenario->seed) {
        auto seeded = std::make_shared<Scenario>(*point.scenario);
        seeded->seed = seed;
        point.scenario = std::move(seeded);
    }
    point.key = Hash().add(machine_hash).add(key_of(point)).value();
    return point;
}

std::uint64_t SweepPlan::key_of(const SweepPoint& point) const {
    Hash hash;
    hash.add(version()).add(root_hash_).add(point.scenario->seed).add(point.design.name);
    for (const scenarios::Parameter& parameter : point.scenario->parameters) {
        hash.add(parameter.name).add(static_cast<std::uint64_t>(parameter.value));
    }
    for (const models::Knob& knob : models::knob_table()) {
        hash.add(knob.name).add(static_cast<std::uint64_t>(knob.get(point.design)));
    }
    return hash.value();
}

std::optional<SweepPoint> PointWalk::next() {
    while (combination_ < plan_->combinations()) {
        auto point = plan_->bind(plan_->choice_of(combination_++));
        if (!point) {
            continue;
        }
        point->index = index_++;
        if (point->index % shards_ == shard_ - 1) {
            return point;
        }
    }
    return std::nullopt;
}

std::uint64_t PointWalk::total() const {
    return (plan_->runs() + shards_ - shard_) / shards_;
}

} // namespace uringsim::analysis
