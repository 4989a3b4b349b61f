#include "analysis/run.h"

#include "scenarios/replay.h"

#include <fmt/format.h>

#include <set>

namespace uringsim::analysis {

namespace fs = std::filesystem;
using scenarios::Diagnostics;
using scenarios::JsonNode;

namespace {

/// Reads the file that the command line names, or that the scenario names where it does not.
std::optional<JsonNode> load_named(const Library& library, FileKind kind,
                                   const std::optional<std::string>& given,
                                   const std::string& option, const std::string& in_scenario,
                                   const JsonNode& scenario, Diagnostics& diagnostics) {
    if (given) {
        return library.load(kind, *given, option, diagnostics);
    }
    const JsonNode* place = scenario.find(kind_name(kind));
    const fs::path folder = fs::path(scenario.file()).parent_path();
    const auto path = library.find(kind, in_scenario, folder, [&](std::string message) {
        (place != nullptr ? *place : scenario).report(std::move(message), diagnostics);
    });
    return path ? read_json_file(*path, diagnostics) : std::nullopt;
}

/// Sets the user's knobs. A conflict is a matter of one design, so it names it; anything else is
/// wrong for all designs and said once, by the first.
void apply_overrides(EffectiveDesign& effective, const scenarios::KnobOverrides& overrides,
                     const std::optional<KnobVariation>& vary, Diagnostics& diagnostics) {
    const models::Design named = effective.design;
    Diagnostics found;
    scenarios::apply_knobs(effective.design, overrides, found);
    for (scenarios::Diagnostic diagnostic : found.all()) {
        if (diagnostic.pointer == "--set") {
            diagnostic.message = fmt::format("on design {}: {}", named.name, diagnostic.message);
        }
        if (vary && diagnostic.pointer == "--set " + vary->knob) {
            diagnostic.pointer = "--vary " + vary->knob;
        }
        diagnostics.add(std::move(diagnostic));
    }
    for (const models::Knob& knob : models::knob_table()) {
        if (knob.get(effective.design) != knob.get(named)) {
            effective.changed.push_back({std::string(knob.name),
                                         knob.format(knob.get(effective.design)),
                                         std::string(knob.unit)});
        }
    }
}

/// A name that a scenario in error gives, or else what one that is silent means.
std::string name_in(const JsonNode& scenario, std::string_view key, std::string_view fallback) {
    const JsonNode* name = scenario.find(key);
    return name != nullptr && name->is_string() && !name->text().empty() ? name->text()
                                                                         : std::string(fallback);
}

/// The CPU of a task of the scenario, or, where that is in error, of what can be read of it.
std::int64_t cpu_of(const JsonNode& task, const std::optional<scenarios::Scenario>& scenario,
                    std::size_t index) {
    if (scenario) {
        return scenario->tasks.at(index).cpu;
    }
    constexpr std::int64_t max = 1023; // beyond it the reader of the scenario has reported it
    const JsonNode* cpu = task.find("cpu");
    std::string ignored;
    return cpu != nullptr && cpu->is_number()
               ? scenarios::parse_integer(cpu->text(), {0, max}, ignored).value_or(0)
               : 0;
}

/// Reports each task that is on a CPU that the machine does not have. `root` is the scenario's
/// file.
void check_cpus(const JsonNode& root, const std::optional<scenarios::Scenario>& scenario,
                const models::Machine& machine, Diagnostics& diagnostics) {
    const JsonNode* tasks = root.find("tasks");
    if (tasks == nullptr || !tasks->is_array()) {
        return;
    }
    for (std::size_t i = 0; i < tasks->children().size(); ++i) {
        const JsonNode& task = tasks->children()[i];
        const std::int64_t given = cpu_of(task, scenario, i);
        if (given >= machine.cpus) {
            const JsonNode* cpu = task.find("cpu");
            (cpu != nullptr ? *cpu : task)
                .report(fmt::format("must be a whole number from 0 to {} on machine {}; got {}",
                                    machine.cpus - 1, machine.name, given),
                        diagnostics);
        }
    }
}

bool wrong_for_all(const Diagnostics& diagnostics, std::size_t from) {
    for (std::size_t i = from; i < diagnostics.size(); ++i) {
        const std::string& pointer = diagnostics.all()[i].pointer;
        if (pointer.starts_with("--set ") || pointer.starts_with("--vary ")) {
            return true;
        }
    }
    return false;
}

/// The knobs to set on each design: once, or once for each value of the one that varies.
std::vector<scenarios::KnobOverrides> knobs_of(const RunRequest& request) {
    if (!request.vary) {
        return {request.knobs};
    }
    std::vector<scenarios::KnobOverrides> all;
    for (const std::string& value : request.vary->values) {
        all.push_back(request.knobs);
        all.back().emplace_back(request.vary->knob, value);
    }
    return all;
}

std::vector<EffectiveDesign> read_designs(const Library& library, const RunRequest& request,
                                          const scenarios::Scenario& scenario,
                                          const JsonNode& scenario_node, Diagnostics& diagnostics) {
    std::vector<std::optional<std::string>> wanted(request.designs.begin(), request.designs.end());
    if (wanted.empty()) {
        wanted.emplace_back(); // the scenario's own
    }
    const std::string& option = request.design_option;
    std::vector<EffectiveDesign> designs;
    std::set<std::string> seen;
    bool set_is_good = true;
    for (const auto& name : wanted) {
        const auto node = load_named(library, FileKind::design, name, option, scenario.design,
                                     scenario_node, diagnostics);
        auto design = node ? library.design(*node, diagnostics) : std::nullopt;
        if (!design) {
            continue;
        }
        if (!seen.insert(design->name).second) {
            diagnostics.add_option(option, fmt::format("\"{}\" given twice", design->name));
            continue;
        }
        for (const auto& knobs : knobs_of(request)) {
            designs.push_back({*design, {}});
            if (request.vary) {
                designs.back().design.name +=
                    fmt::format(" {}={}", request.vary->knob, knobs.back().second);
            }
            if (set_is_good) {
                const std::size_t before = diagnostics.size();
                apply_overrides(designs.back(), knobs, request.vary, diagnostics);
                set_is_good = !wrong_for_all(diagnostics, before);
            }
        }
    }
    return designs;
}

} // namespace

std::optional<PreparedRuns> prepare(const Library& library, const RunRequest& request,
                                    Diagnostics& diagnostics) {
    const std::size_t reported_before = diagnostics.size();
    const auto node = library.load(FileKind::scenario, request.scenario, "SCENARIO", diagnostics);
    if (!node) {
        return std::nullopt;
    }
    auto prepared = prepare_parsed(library, *node, request, diagnostics);
    auto published = load_published(library, diagnostics);
    if (!prepared || diagnostics.size() > reported_before) {
        return std::nullopt;
    }
    prepared->published = std::move(published);
    return prepared;
}

std::optional<PreparedRuns> prepare_parsed(const Library& library, const JsonNode& root,
                                           const RunRequest& request, Diagnostics& diagnostics) {
    const std::size_t reported_before = diagnostics.size();
    PreparedRuns prepared;
    const auto scenario = scenarios::read_scenario(root, request.parameters, diagnostics);
    // A scenario in error still names its design and machine: read on, to report their errors too.
    prepared.scenario = scenario.value_or(scenarios::Scenario{});
    if (!scenario) {
        prepared.scenario.design = name_in(root, "design", "linux-6.18");
        prepared.scenario.machine = name_in(root, "machine", "i7-12700kf");
    }
    prepared.scenario.seed = request.seed.value_or(prepared.scenario.seed);
    prepared.designs = read_designs(library, request, prepared.scenario, root, diagnostics);
    const auto machine_node = load_named(library, FileKind::machine, request.machine, "--machine",
                                         prepared.scenario.machine, root, diagnostics);
    const auto machine =
        machine_node ? scenarios::read_machine(*machine_node, diagnostics) : std::nullopt;
    if (machine) {
        prepared.machine = *machine;
        check_cpus(root, scenario, *machine, diagnostics);
    }
    if (diagnostics.size() > reported_before) {
        return std::nullopt;
    }
    return prepared;
}

Run execute(const PreparedRuns& prepared, const EffectiveDesign& design) {
    Run run{scenarios::replay(prepared.scenario, design.design, prepared.machine),
            prepared.machine,
            design.changed,
            {}};
    run.published = match_published(prepared.published, run.result, run.changed_knobs);
    return run;
}

std::size_t find_phase(const scenarios::Scenario& scenario,
                       const std::optional<std::string>& wanted, Diagnostics& diagnostics) {
    if (!wanted) {
        return 0;
    }
    std::vector<std::string_view> names;
    for (const scenarios::PhaseSpec& phase : scenario.phases) {
        names.push_back(phase.name);
    }
    std::string error = fmt::format("{} has no phase at all", scenario.name);
    const auto index =
        names.empty() ? std::nullopt : scenarios::parse_choice(*wanted, names, error);
    if (!index) {
        diagnostics.add_option("--phase", error);
    }
    return index.value_or(0);
}

double ns_per_operation(const scenarios::Result& result, const scenarios::PhaseResult& phase) {
    if (phase.operations == 0) {
        return 0;
    }
    return result.ns(phase.mean_cycles()) / static_cast<double>(phase.operations);
}

} // namespace uringsim::analysis
