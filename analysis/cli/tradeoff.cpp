#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/export/numbers.h"
#include "analysis/export/table.h"
#include "analysis/library.h"
#include "analysis/run.h"
#include "analysis/sweep/sweep_plan.h"
#include "analysis/tradeoff/break_even.h"
#include "analysis/tradeoff/pareto.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace uringsim::analysis {

namespace {

using scenarios::Diagnostics;
using scenarios::Result;

constexpr std::uint64_t max_candidates = 10'000;

/// One workload of a mix: SCENARIO[,NAME=VALUE...][:WEIGHT].
struct Workload {
    std::string text;
    std::string scenario;
    scenarios::ParameterOverrides parameters;
    std::uint64_t weight = 1;
};

Workload read_workload(const std::string& text, Diagnostics& diagnostics) {
    Workload workload;
    std::string rest = text;
    const std::size_t colon = rest.rfind(':');
    if (colon != std::string::npos) {
        std::string error;
        const auto weight = scenarios::parse_unsigned(rest.substr(colon + 1),
                                                      {1, 1'000'000, "weight"}, error);
        if (!weight) {
            diagnostics.add_option("SCENARIO " + text, "weight " + error);
        }
        workload.weight = weight.value_or(1);
        rest.resize(colon);
    }
    workload.text = rest;
    std::size_t at = std::min(rest.find(','), rest.size());
    workload.scenario = rest.substr(0, at);
    while (at < rest.size()) {
        const std::size_t end = std::min(rest.find(',', at + 1), rest.size());
        const std::string item = rest.substr(at + 1, end - at - 1);
        const std::size_t equals = item.find('=');
        if (equals == std::string::npos) {
            diagnostics.add_option("SCENARIO " + text,
                                   fmt::format("must be NAME=VALUE; got \"{}\"", item));
        } else {
            workload.parameters.emplace_back(item.substr(0, equals), item.substr(equals + 1));
        }
        at = end;
    }
    return workload;
}

/// The sweep that a workload makes with the options' designs and axes.
std::optional<SweepPlan> plan_of(const Workload& workload, const Options& options,
                                 const Library& library, Diagnostics& diagnostics) {
    SweepSpec spec;
    spec.max_runs = max_candidates;
    spec.base.scenario = workload.scenario;
    spec.base.parameters = read_assignments(options, "param", "name", diagnostics);
    for (const auto& [name, value] : workload.parameters) {
        std::erase_if(spec.base.parameters, [&](const auto& entry) { return entry.first == name; });
        spec.base.parameters.emplace_back(name, value);
    }
    spec.base.knobs = read_assignments(options, "set", "knob", diagnostics);
    spec.base.machine = options.get("machine");
    spec.add_axis("design", options.get("designs").value_or("linux-6.18"), "--designs", diagnostics);
    for (const auto& [label, values] : read_assignments(options, "axis", "axis", diagnostics)) {
        spec.add_axis(label, values, "--axis " + label, diagnostics);
    }
    for (const std::string& text : options.all("where")) {
        spec.constraints.push_back(text);
    }
    return diagnostics.empty() ? SweepPlan::make(library, std::move(spec), diagnostics)
                               : std::nullopt;
}

std::size_t phase_of(const scenarios::Scenario& scenario, const std::optional<std::string>& wanted,
                     Diagnostics& diagnostics) {
    if (scenario.phases.empty()) {
        diagnostics.add_option("SCENARIO", scenario.name + " measures no phase");
        return 0;
    }
    if (!wanted) {
        return 0;
    }
    std::vector<std::string_view> names;
    for (const scenarios::PhaseSpec& phase : scenario.phases) {
        names.push_back(phase.name);
    }
    std::string error;
    const auto index = scenarios::parse_choice(*wanted, names, error);
    if (!index) {
        diagnostics.add_option("--phase", error);
    }
    return index.value_or(0);
}

// --- The front ---

/// What a workload's operations are: files installed. A phase of one operation that spans a whole
/// interval is divided by what is installed in it.
double ns_per_install(const Result& result, const scenarios::PhaseResult& phase) {
    const auto installed = scenarios::counter_value(phase.counters, "files_installed");
    const auto total = result.ns(static_cast<double>(phase.total_cycles()));
    return installed > 0 ? total / static_cast<double>(installed) : ns_per_operation(result, phase);
}

std::string candidate_name(const SweepPlan& plan, const SweepPoint& point) {
    std::string name = point.design.name;
    for (std::size_t i = 0; i < plan.axes().size(); ++i) {
        const Axis& axis = plan.axes()[i];
        if (axis.values.size() > 1 && axis.kind != AxisKind::design) {
            name += fmt::format(" {}={}", axis.label(), axis.values[point.choice[i]]);
        }
    }
    return name;
}

std::vector<Candidate> measure(const std::vector<SweepPlan>& plans,
                               const std::vector<Workload>& workloads,
                               const std::vector<std::size_t>& phases) {
    std::vector<Candidate> candidates;
    double weights = 0;
    for (const Workload& workload : workloads) {
        weights += static_cast<double>(workload.weight);
    }
    for (std::uint64_t i = 0; i < plans.front().combinations(); ++i) {
        Candidate candidate;
        bool complete = true;
        for (std::size_t w = 0; w < plans.size() && complete; ++w) {
            const auto point = plans[w].bind(plans[w].choice_of(i));
            complete = point.has_value();
            if (!complete) {
                break;
            }
            const Result result =
                scenarios::replay(*point->scenario, point->design, *point->machine);
            const double share = static_cast<double>(workloads[w].weight) / weights;
            candidate.name = candidate_name(plans[w], *point);
            candidate.cost.ns_per_operation += share * ns_per_install(result, result.phases[phases[w]]);
            if (const auto* registration = result.find_phase("registration")) {
                candidate.cost.registration_ns += share * result.ns(registration->mean_cycles());
            }
            candidate.cost.retained_bytes =
                std::max(candidate.cost.retained_bytes,
                         static_cast<double>(result.memory.retained_bytes_peak));
        }
        if (complete) {
            candidates.push_back(std::move(candidate));
        }
    }
    return candidates;
}

std::string front_text(const std::vector<Candidate>& candidates,
                       const std::vector<Workload>& workloads,
                       std::optional<std::uint64_t> budget) {
    const Ranking ranking = rank(candidates, budget);
    std::string text = "mix:";
    for (const Workload& workload : workloads) {
        text += fmt::format(" {} x {}{}", workload.weight, workload.text,
                            &workload == &workloads.back() ? "\n" : ",");
    }
    text += fmt::format("{} of {} candidates{}; * none is better in all three\n\n",
                        ranking.order.size(), candidates.size(),
                        budget ? " retain at most " + bytes_text(*budget) : "");
    Table table({{"design", Align::left},
                 {"", Align::left},
                 {"ns/install"},
                 {"registration ns"},
                 {"retained"}});
    for (std::size_t place = 0; place < ranking.order.size(); ++place) {
        const Candidate& candidate = candidates[ranking.order[place]];
        table.add_row({candidate.name, ranking.front[place] ? "*" : "",
                       short_number(candidate.cost.ns_per_operation),
                       short_number(candidate.cost.registration_ns),
                       bytes_text(static_cast<std::uint64_t>(candidate.cost.retained_bytes))});
    }
    return text + table.to_text();
}

// --- Break-even ---

/// Two designs over a range of one parameter or knob.
struct Duel {
    const Library& library;
    SweepSpec spec;
    std::string label;
    std::size_t phase = 0;

    /// One plan for one value: what the second design costs beyond the first.
    sim::Cycles difference(std::int64_t value, const models::Machine* machine) const {
        SweepSpec one = spec;
        Diagnostics diagnostics;
        one.add_axis(label, std::to_string(value), "--break-even", diagnostics);
        const auto plan = diagnostics.empty()
                              ? SweepPlan::make(library, std::move(one), diagnostics)
                              : std::nullopt;
        if (!plan || plan->runs() != 2) {
            throw scenarios::RunError(fmt::format(
                "{} = {} cannot be run on both designs{}{}", label, value,
                diagnostics.empty() ? "" : ": ", diagnostics.to_string()));
        }
        PointWalk walk(*plan, 1, 1);
        sim::Cycles cycles[2];
        for (sim::Cycles& total : cycles) {
            const auto point = walk.next();
            const Result result =
                scenarios::replay(*point->scenario, point->design,
                                  machine != nullptr ? *machine : *point->machine);
            total = result.phases.at(phase).total_cycles();
        }
        return cycles[1] - cycles[0];
    }
};

std::string sentence(const BreakEven& found, const std::string& label, std::int64_t first,
                     std::int64_t last, const std::string& a, const std::string& b,
                     const std::string& phase, const std::string& scenario) {
    const auto winner = [&](bool second) { return second ? b : a; };
    if (found.crossings.empty()) {
        return fmt::format("In phase {} of {}, {} is {} than {} for every {} looked at from {} to {}.",
                           phase, scenario, b,
                           found.second_wins_at_start ? "cheaper" : "no cheaper", a, label, first,
                           last);
    }
    std::string text = fmt::format("In phase {} of {}, ", phase, scenario);
    bool before = found.second_wins_at_start;
    for (const Crossing& crossing : found.crossings) {
        text += fmt::format("{} wins up to {} = {}, ", winner(before), label, crossing.last);
        before = crossing.second_wins;
    }
    return text + fmt::format("{} from {} on (to {}).", winner(before),
                              found.crossings.back().first, last);
}

/// How the only crossing moves when each cost of the machine is off by so much, one at a time.
std::string sensitivity_text(const Duel& duel, const models::Machine& machine, std::int64_t first,
                             std::int64_t last, const BreakEven& base, std::int64_t percent) {
    if (base.crossings.size() != 1) {
        return "";
    }
    constexpr std::int64_t whole = 100;
    const std::int64_t at = base.crossings.front().first;
    struct Moved {
        std::string text;
        std::int64_t by;
    };
    std::vector<Moved> moved;
    std::int64_t least = at;
    std::int64_t most = at;
    for (const models::PrimitiveInfo& row : models::primitive_table()) {
        for (const std::int64_t off : {-percent, percent}) {
            models::Machine other = machine;
            auto& cost = other.cost(row.id).millicycles;
            if (cost == 0) {
                continue;
            }
            cost = cost * (whole + off) / whole;
            const bool after = duel.difference(at, &other) < 0;
            const bool before = duel.difference(at - 1, &other) < 0;
            if (after == base.crossings.front().second_wins && before != after) {
                continue; // it stays where it is
            }
            const BreakEven found = find_break_even(
                [&](std::int64_t value) { return duel.difference(value, &other); }, first, last);
            const std::string change = fmt::format("{} {:+}%", row.name, off);
            if (found.crossings.size() != 1) {
                moved.push_back({change + ": none, or several", last - first});
                continue;
            }
            const std::int64_t now = found.crossings.front().first;
            least = std::min(least, now);
            most = std::max(most, now);
            moved.push_back({fmt::format("{}: {}", change, now), std::abs(now - at)});
        }
    }
    std::ranges::stable_sort(moved, std::ranges::greater{}, &Moved::by);
    std::string text = fmt::format("Each cost of the machine {} % off, one at a time, moves it "
                                   "between {} and {}.\n",
                                   percent, least, most);
    constexpr std::size_t shown = 5;
    for (std::size_t i = 0; i < std::min(moved.size(), shown); ++i) {
        text += "  " + moved[i].text + '\n';
    }
    return text;
}

/// "param:installs=1..4096".
struct BreakEvenRange {
    std::string label;
    std::int64_t first = 0;
    std::int64_t last = 0;
};

std::optional<BreakEvenRange> read_range(const std::string& label, const std::string& text,
                                         Diagnostics& diagnostics) {
    const std::size_t dots = text.find("..");
    std::string error = "must be A..B";
    const auto first = dots == std::string::npos
                           ? std::nullopt
                           : scenarios::parse_integer(text.substr(0, dots), {0, 1LL << 40}, error);
    const auto last =
        first ? scenarios::parse_integer(text.substr(dots + 2), {*first, 1LL << 40}, error)
              : std::nullopt;
    if (!last) {
        diagnostics.add_option("--break-even " + label, error);
        return std::nullopt;
    }
    return BreakEvenRange{label, *first, *last};
}

std::string break_even_text(const Options& options, const Library& library,
                            const Workload& workload, Diagnostics& diagnostics) {
    const auto designs = read_list(options.get("designs").value_or(""), "--designs", diagnostics);
    if (designs.size() != 2) {
        diagnostics.add_option("--break-even", "needs --designs A,B: exactly two");
    }
    std::optional<std::int64_t> percent;
    if (const auto text = options.get("sensitivity")) {
        std::string error;
        percent = scenarios::parse_integer(*text, {1, 99, "percent"}, error);
        if (!percent) {
            diagnostics.add_option("--sensitivity", error);
        }
    }
    const auto plan = diagnostics.empty() ? plan_of(workload, options, library, diagnostics)
                                          : std::nullopt;
    if (!plan) {
        return "";
    }
    const std::size_t phase = phase_of(plan->scenario(), options.get("phase"), diagnostics);
    const auto machine = plan->bind(plan->choice_of(0));
    std::string text;
    for (const auto& [label, range_text] :
         read_assignments(options, "break-even", "axis", diagnostics)) {
        const auto range = read_range(label, range_text, diagnostics);
        if (!range || !diagnostics.empty()) {
            continue;
        }
        Duel duel{library, plan->spec(), label, phase};
        std::erase_if(duel.spec.axes, [](const Axis& axis) {
            return axis.kind == AxisKind::machine || axis.kind == AxisKind::seed;
        });
        const BreakEven found = find_break_even(
            [&](std::int64_t value) { return duel.difference(value, nullptr); }, range->first,
            range->last);
        text += wrapped(sentence(found, label, range->first, range->last, designs[0], designs[1],
                                 plan->scenario().phases[phase].name, workload.text),
                        0) +
                '\n';
        if (percent && machine) {
            text += sensitivity_text(duel, *machine->machine, range->first, range->last, found,
                                     *percent);
        }
    }
    return text;
}

std::optional<std::uint64_t> read_budget(const Options& options, Diagnostics& diagnostics) {
    const auto text = options.get("memory");
    if (!text) {
        return std::nullopt;
    }
    std::string error;
    const auto budget = scenarios::parse_unsigned(*text, {0, std::uint64_t{1} << 50, "bytes"}, error);
    if (!budget) {
        diagnostics.add_option("--memory", error);
    }
    return budget;
}

std::string tradeoff_text(const Options& options, const Library& library,
                          Diagnostics& diagnostics) {
    std::vector<Workload> workloads;
    for (const std::string& text : options.arguments()) {
        workloads.push_back(read_workload(text, diagnostics));
    }
    if (!options.all("break-even").empty()) {
        std::string text;
        for (const Workload& workload : workloads) {
            text += break_even_text(options, library, workload, diagnostics);
        }
        return text;
    }
    const auto budget = read_budget(options, diagnostics);
    std::vector<SweepPlan> plans;
    std::vector<std::size_t> phases;
    for (const Workload& workload : workloads) {
        auto plan = plan_of(workload, options, library, diagnostics);
        if (!plan) {
            return "";
        }
        phases.push_back(phase_of(plan->scenario(), options.get("phase"), diagnostics));
        plans.push_back(*std::move(plan));
    }
    return diagnostics.empty() ? front_text(measure(plans, workloads, phases), workloads, budget)
                               : "";
}

} // namespace

int tradeoff_command(const Invocation& invocation) {
    Options options("tradeoff",
                    "Ranks designs over a mix of workloads by time an install, registration time "
                    "and retained memory, and marks the Pareto front; or, with --break-even, finds "
                    "where the winner of two designs changes. A workload is "
                    "SCENARIO[,NAME=VALUE...][:WEIGHT].",
                    "SCENARIO...");
    options.value("designs", "A,B,C", "designs, by name or path")
        .repeated("axis", "A=VALUES", "more candidates: an axis as `sweep` takes it")
        .repeated("where", "A<=B", "leave out candidates that break it")
        .value("memory", "BYTES", "leave out candidates that retain more")
        .repeated("break-even", "A=X..Y", "a parameter or knob and its range, for two designs")
        .value("sensitivity", "PERCENT", "how break-even moves with each cost so far off")
        .value("phase", "P", "the phase to compare (default: the first of each scenario)")
        .repeated("set", "KNOB=VALUE", "set a knob of every design; may be repeated")
        .repeated("param", "NAME=VALUE", "set a parameter of every workload; may be repeated")
        .value("machine", "M", "machine, by name or path, in place of the scenario's");
    add_data_option(options);
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    Diagnostics diagnostics;
    const auto library = Library::open(options.get("data"), diagnostics);
    try {
        const std::string text = library ? tradeoff_text(options, *library, diagnostics) : "";
        if (!diagnostics.empty()) {
            invocation.err << diagnostics.to_string();
            return exit_status::bad_input;
        }
        invocation.out << text;
    } catch (const scenarios::RunError& error) {
        invocation.err << "uringsim: the run stopped: " << error.what() << '\n';
        return exit_status::failed;
    }
    return exit_status::done;
}

} // namespace uringsim::analysis
