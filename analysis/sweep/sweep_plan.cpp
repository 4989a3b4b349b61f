#include "analysis/sweep/sweep_plan.h"

#include "analysis/export/numbers.h"
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

void add_parameters(Hash& hash, const Scenario& scenario) {
    for (const scenarios::Parameter& parameter : scenario.parameters) {
        hash.add(parameter.name).add(static_cast<std::uint64_t>(parameter.value));
    }
}

void add_knobs(Hash& hash, const models::Design& design) {
    for (const models::Knob& knob : models::knob_table()) {
        hash.add(knob.name).add(static_cast<std::uint64_t>(knob.get(design)));
    }
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

template <class Names>
std::string suggestion(const std::string& name, const Names& names) {
    const auto near = scenarios::did_you_mean(name, names);
    return near ? fmt::format("; did you mean \"{}\"?", *near) : "";
}

bool sets(const std::vector<std::pair<std::string, std::string>>& assignments,
          const std::string& name) {
    return std::ranges::any_of(assignments, [&](const auto& entry) { return entry.first == name; });
}

/// The values of an axis as numbers; `read` reads one.
template <class Read>
std::vector<std::int64_t> read_numbers(const Axis& axis, Diagnostics& diagnostics,
                                       const Read& read) {
    std::vector<std::int64_t> numbers;
    std::string error;
    for (const std::string& value : axis.values) {
        if (const auto number = read(value, error)) {
            numbers.push_back(*number);
        } else {
            diagnostics.add_option(option_of(axis), error);
        }
    }
    return numbers;
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
    plan.add_default_axes(*scenario, diagnostics);
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
        plan.list_knobs();
        plan.count_runs(diagnostics);
        plan.hash_ = plan.hash_of_sweep();
    }
    return diagnostics.size() > reported_before ? std::nullopt : std::optional(std::move(plan));
}

/// The seeds of --repeats.
Axis SweepPlan::repeated_seeds(std::uint64_t first, Diagnostics& diagnostics) const {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    Axis seeds{AxisKind::seed, "seed", {}, 0};
    std::uint64_t repeats = spec_.repeats;
    if (repeats - 1 > most - first) {
        diagnostics.add_option(
            "--repeats",
            fmt::format("{} seeds from {} on pass over the largest, {}", repeats, first, most));
        repeats = 1;
    }
    for (std::uint64_t i = 0; i < repeats; ++i) {
        seeds.values.push_back(std::to_string(first + i));
    }
    return seeds;
}

/// Design, machine and seed are axes always, of one value where nothing was said. The seed moves
/// fastest.
void SweepPlan::add_default_axes(const Scenario& scenario, Diagnostics& diagnostics) {
    const auto has = [&](AxisKind kind) {
        return std::ranges::find(spec_.axes, kind, &Axis::kind) != spec_.axes.end();
    };
    const auto refuse = [&](const char* axis, const char* why) {
        diagnostics.add_option(std::string("axis ") + axis, why);
    };
    std::vector<Axis> missing;
    if (!has(AxisKind::machine)) {
        missing.push_back({AxisKind::machine,
                           "machine",
                           {spec_.base.machine.value_or(named_in(root_, scenario.machine))},
                           0});
    } else if (spec_.base.machine) {
        refuse("machine", "is also set with --machine");
    }
    if (!has(AxisKind::design)) {
        const auto& given = spec_.base.designs;
        missing.push_back({AxisKind::design, "design",
                           given.empty() ? std::vector{named_in(root_, scenario.design)} : given,
                           0});
    }
    if (!has(AxisKind::seed)) {
        missing.push_back(repeated_seeds(spec_.base.seed.value_or(scenario.seed), diagnostics));
    } else if (spec_.base.seed) {
        refuse("seed", "is also set with --seed");
    } else if (spec_.repeats > 1) {
        refuse("seed", "has its seeds, and --repeats would make others; give one of the two");
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
        if (axis.kind == AxisKind::knob) {
            numbers_.back() = knob_values(axis, diagnostics);
        } else if (axis.kind == AxisKind::parameter) {
            numbers_.back() = parameter_values(axis, diagnostics);
        } else if (axis.kind == AxisKind::seed) {
            read_seeds(axis, diagnostics);
        }
    }
}

std::vector<std::int64_t> SweepPlan::knob_values(const Axis& axis, Diagnostics& diagnostics) const {
    const models::Knob* knob = models::find_knob(axis.name);
    if (knob == nullptr) {
        const bool parameter = std::ranges::any_of(
            scenario_.parameters, [&](const auto& each) { return each.name == axis.name; });
        diagnostics.add_option(
            option_of(axis),
            "there is no such knob (a parameter is param:NAME)" +
                (parameter ? fmt::format("; did you mean \"{}\"?", parameter_label(axis.name))
                           : suggestion(axis.name, models::knob_names())));
        return {};
    }
    if (sets(spec_.base.knobs, axis.name)) {
        diagnostics.add_option(option_of(axis), "is also set with --set");
    }
    return read_numbers(axis, diagnostics, [knob](const std::string& value, std::string& error) {
        return knob_number(*knob, value, error);
    });
}

std::vector<std::int64_t> SweepPlan::parameter_values(const Axis& axis,
                                                      Diagnostics& diagnostics) const {
    std::vector<std::string> names;
    const scenarios::Parameter* found = nullptr;
    for (const scenarios::Parameter& parameter : scenario_.parameters) {
        names.push_back(parameter.name);
        found = parameter.name == axis.name ? &parameter : found;
    }
    if (found == nullptr) {
        diagnostics.add_option(
            option_of(axis),
            fmt::format("{} has no such parameter; it declares {}{}", scenario_.name,
                        names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
                        suggestion(axis.name, names)));
        return {};
    }
    if (sets(spec_.base.parameters, axis.name)) {
        diagnostics.add_option(option_of(axis), "is also set with --param");
    }
    constexpr std::int64_t most = 1LL << 40;
    return read_numbers(axis, diagnostics, [found](const std::string& value, std::string& error) {
        return scenarios::parse_integer(value, {found->min, most, found->unit}, error);
    });
}

void SweepPlan::read_seeds(const Axis& axis, Diagnostics& diagnostics) {
    std::string error;
    for (const std::string& value : axis.values) {
        const auto seed = scenarios::parse_unsigned(value, {}, error);
        if (seed) {
            seeds_.push_back(*seed);
        } else {
            diagnostics.add_option(option_of(axis), error);
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

void SweepPlan::list_knobs() {
    const auto add = [this](const std::string& name) {
        const models::Knob* knob = models::find_knob(name);
        if (std::ranges::find(knobs_, knob) == knobs_.end()) {
            knobs_.push_back(knob);
        }
    };
    for (const auto& [name, text] : spec_.base.knobs) {
        add(name);
    }
    for (const Axis& axis : spec_.axes) {
        if (axis.kind == AxisKind::knob) {
            add(axis.name);
        }
    }
}

std::uint64_t SweepPlan::product(const std::vector<bool>& groups) const {
    std::uint64_t all = 1;
    for (std::size_t group = 0; group < group_sizes_.size(); ++group) {
        all *= groups[group] ? group_sizes_[group] : 1;
    }
    return all;
}

template <class Visit>
void SweepPlan::for_each_choice(const std::vector<bool>& moving, const Visit& visit) const {
    std::vector<std::size_t> places(group_sizes_.size());
    for (std::uint64_t left = product(moving); left > 0; --left) {
        visit(choice_at(places));
        for (std::size_t group = places.size(); group-- > 0;) {
            if (!moving[group]) {
                continue;
            }
            if (++places[group] < group_sizes_[group]) {
                break;
            }
            places[group] = 0;
        }
    }
}

/// Counts the runs and why points are left out. Seeds and machines have no say in that; and where
/// no constraint joins the two, parameters make sense or not whatever the design, and knobs
/// whatever the scenario, so that there is no need to walk through all pairs.
void SweepPlan::count_runs(Diagnostics& diagnostics) {
    std::vector<bool> of_scenario(groups());
    std::vector<bool> of_design(groups());
    for (const Axis& axis : spec_.axes) {
        if (axis.kind == AxisKind::parameter) {
            of_scenario[axis.group] = true;
        } else if (axis.kind == AxisKind::knob || axis.kind == AxisKind::design) {
            of_design[axis.group] = true;
        }
    }
    std::vector<bool> either = of_design;
    bool joined = !constraints_.empty();
    for (std::size_t group = 0; group < groups(); ++group) {
        joined = joined || (of_scenario[group] && of_design[group]);
        either[group] = of_scenario[group] || of_design[group];
    }
    if (joined) {
        const std::uint64_t each = combinations_ / product(either);
        for_each_choice(either, [&](const Choice& choice) {
            SweepPoint point;
            std::string reason;
            (shape(choice, point, &reason) ? runs_ : left_out_[reason]) += each;
        });
    } else {
        count_apart(of_scenario, of_design);
    }
    if (runs_ == 0) {
        for (const auto& [why, count] : left_out_) {
            diagnostics.add_option("sweep", fmt::format("no point is left to run: {}", why));
        }
    }
}

void SweepPlan::count_apart(const std::vector<bool>& of_scenario,
                            const std::vector<bool>& of_design) {
    std::uint64_t scenarios = 0;
    const std::uint64_t a_scenario = combinations_ / product(of_scenario);
    for_each_choice(of_scenario, [&](const Choice& choice) {
        std::string reason;
        if (scenario_for(choice, &reason)) {
            ++scenarios;
        } else {
            left_out_[reason] += a_scenario;
        }
    });
    const std::uint64_t a_design = a_scenario / product(of_design) * scenarios;
    for_each_choice(of_design, [&](const Choice& choice) {
        const std::string conflict = conflict_of(design_of(choice));
        if (conflict.empty()) {
            runs_ += a_design;
        } else if (a_design > 0) {
            left_out_[conflict] += a_design;
        }
    });
}

std::uint64_t SweepPlan::key_of(const SweepPoint& point) const {
    Hash hash;
    hash.add(version()).add(root_hash_).add(point.scenario->seed).add(point.design.name);
    add_parameters(hash, *point.scenario);
    add_knobs(hash, point.design);
    return hash.value();
}

/// Of contents, not of names: shards may be run on hosts that have the files in other places.
std::uint64_t SweepPlan::hash_of_sweep() const {
    Hash hash;
    hash.add(version()).add(root_hash_);
    add_parameters(hash, scenario_);
    for (std::size_t i = 0; i < spec_.axes.size(); ++i) {
        hash.add(spec_.axes[i].label()).add(spec_.axes[i].group).add(spec_.axes[i].values.size());
        for (const std::int64_t number : numbers_[i]) {
            hash.add(static_cast<std::uint64_t>(number));
        }
    }
    for (const models::Design& design : designs_) {
        add_knobs(hash.add(design.name), design);
    }
    for (const NamedMachine& machine : machines_) {
        hash.add(machine.machine->name).add(machine.hash);
    }
    for (const std::uint64_t seed : seeds_) {
        hash.add(seed);
    }
    for (const Constraint& constraint : constraints_) {
        hash.add(constraint.text());
    }
    return hash.value();
}

std::string left_out_text(const SweepPlan& plan, std::string_view command) {
    std::string text;
    for (const auto& [reason, count] : plan.left_out()) {
        text +=
            fmt::format("uringsim {}: {} left out: {}\n", command, counted(count, "point"), reason);
    }
    return text;
}

} // namespace uringsim::analysis
