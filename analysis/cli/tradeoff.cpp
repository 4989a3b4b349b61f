#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/export/numbers.h"
#include "analysis/export/table.h"
#include "analysis/library.h"
#include "analysis/run.h"
#include "analysis/tradeoff/duel.h"
#include "analysis/tradeoff/pareto.h"
#include "analysis/tradeoff/workload.h"
#include "analysis/version.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::analysis {

namespace {

using scenarios::Diagnostics;
using scenarios::Result;

/// What the options say besides the workloads.
struct TradeoffSettings {
    TradeoffRequest request;
    std::vector<BreakEvenRange> ranges; ///< of --break-even, for every workload
    std::optional<std::uint64_t> budget;
    std::optional<std::int64_t> percent; ///< of --sensitivity
    bool best = false;
    bool paragraph = false;
};

TradeoffSettings read_settings(const Options& options, Diagnostics& diagnostics) {
    TradeoffSettings settings;
    TradeoffRequest& request = settings.request;
    request.designs =
        read_list(options.get("designs").value_or("linux-6.18"), "--designs", diagnostics);
    request.axes = read_assignments(options, "axis", "axis", diagnostics);
    request.constraints = options.all("where");
    request.parameters = read_assignments(options, "param", "name", diagnostics);
    request.knobs = read_assignments(options, "set", "knob", diagnostics);
    request.machine = options.get("machine");
    request.phase = options.get("phase");
    for (const auto& [label, text] : read_assignments(options, "break-even", "axis", diagnostics)) {
        if (const auto range = read_range(label, text, "--break-even", diagnostics)) {
            settings.ranges.push_back(*range);
        }
    }
    settings.budget = read_unsigned(options, "memory", {0, std::uint64_t{1} << 50, "bytes"}, diagnostics);
    if (const auto percent = read_unsigned(options, "sensitivity", {1, 99, "percent"}, diagnostics)) {
        settings.percent = static_cast<std::int64_t>(*percent);
    }
    settings.best = options.given("best");
    settings.paragraph = options.given("paragraph");
    return settings;
}

// --- The front ---

/// What the names of candidates consist of: "design limit prefill_cap".
std::string name_title(const SweepPlan& plan) {
    std::string title = "design";
    for (const Axis& axis : plan.axes()) {
        if (axis.values.size() > 1 && axis.kind != AxisKind::design) {
            title += ' ' + axis.name.substr(axis.name.rfind('.') + 1);
        }
    }
    return title;
}

/// The workloads, numbered, with the unit of each where they do not have one in common.
std::string legend(const std::vector<PlannedWorkload>& mix, const MeasuredMix& measured) {
    std::string text;
    for (std::size_t i = 0; i < mix.size(); ++i) {
        text +=
            fmt::format("[{}] {}, phase {}", i + 1, mix[i].workload.subject(), mix[i].phase_name());
        if (measured.unit() == "ns") {
            text += ", " + measured.units[i];
        }
        text += mix.size() > 1 ? fmt::format(", weight {}\n", mix[i].workload.weight) : "\n";
    }
    return text;
}

/// No candidate keeps to --memory: says how much the least one retains.
void report_budget(const std::vector<Candidate>& candidates, std::uint64_t budget,
                   Diagnostics& diagnostics) {
    const auto least = std::ranges::min_element(
        candidates, {}, [](const Candidate& candidate) { return candidate.cost.retained_bytes; });
    diagnostics.add_option(
        "--memory",
        fmt::format("no candidate retains at most {}; {} retains least, {}", bytes_text(budget),
                    least->name,
                    bytes_text(static_cast<std::uint64_t>(least->cost.retained_bytes))));
}

std::string front_text(const std::vector<PlannedWorkload>& mix, const TradeoffSettings& settings,
                       Diagnostics& diagnostics) {
    const MeasuredMix measured = measure(mix);
    const std::vector<Candidate>& all = measured.candidates;
    if (all.empty()) {
        diagnostics.add_option("--designs", "no candidate can be run on all workloads");
        return "";
    }
    const std::vector<Candidate> candidates =
        settings.best ? best_of_each_design(all, settings.budget) : all;
    const Ranking ranking = rank(candidates, settings.budget);
    if (ranking.order.empty()) {
        report_budget(all, settings.budget.value_or(0), diagnostics);
        return "";
    }
    std::string text = legend(mix, measured);
    text += fmt::format(
        "{} of {}{}{}; * none is better in all three\n\n", ranking.order.size(),
        counted(all.size(), "candidate"), settings.best ? ", the best of each design" : "",
        settings.budget ? ", that retain at most " + bytes_text(*settings.budget) : "");
    std::vector<Column> columns{{name_title(mix.front().plan), Align::left},
                                {"", Align::left},
                                {measured.unit()},
                                {"registration ns"},
                                {"retained"}};
    for (std::size_t i = 0; mix.size() > 1 && i < mix.size(); ++i) {
        columns.push_back({fmt::format("[{}] ns", i + 1)});
    }
    Table table(std::move(columns));
    for (std::size_t place = 0; place < ranking.order.size(); ++place) {
        const Candidate& candidate = candidates[ranking.order[place]];
        std::vector<std::string> cells{
            candidate.name, ranking.front[place] ? "*" : "",
            short_number(candidate.cost.ns_per_operation),
            candidate.cost.registration_ns > 0 ? short_number(candidate.cost.registration_ns) : "",
            bytes_text(static_cast<std::uint64_t>(candidate.cost.retained_bytes))};
        for (std::size_t i = 0; mix.size() > 1 && i < mix.size(); ++i) {
            cells.push_back(short_number(candidate.cost.workload_ns[i]));
        }
        table.add_row(std::move(cells));
    }
    table.drop_empty_columns();
    return text + table.to_text();
}

// --- Break-even and the paragraph ---

/// How sure a crossing is, as a clause or as a sentence with the costs that matter most.
std::string sensitivity_text(const Duel& duel, const BreakEven& found,
                             const TradeoffSettings& settings) {
    const auto moved = settings.percent ? duel.sensitivity(found, *settings.percent) : std::nullopt;
    if (!moved) {
        return settings.percent && !settings.paragraph
                   ? "\nThe winner does not change at exactly one point: nothing to vary costs for."
                   : "";
    }
    std::string text = fmt::format("With each cost {} % off, one at a time, that point lies between "
                                   "{} and {}{}.",
                                   *settings.percent, moved->least, moved->most,
                                   moved->may_vanish ? ", or there is none" : "");
    if (settings.paragraph) {
        return ' ' + text;
    }
    constexpr std::size_t shown = 5;
    text = '\n' + wrapped(text, 0);
    for (std::size_t i = 0; i < std::min(moved->movers.size(), shown); ++i) {
        text += "\n  " + moved->movers[i];
    }
    return text;
}

std::string duel_text(const Library& library, const PlannedWorkload& planned,
                      const BreakEvenRange& range, const TradeoffSettings& settings) {
    const Duel duel(library, planned, range);
    const BreakEven found = duel.find();
    const std::string sentence = duel.sentence(found);
    return (settings.paragraph ? sentence : wrapped(sentence, 0)) +
           sensitivity_text(duel, found, settings);
}

/// "In phase life of table-life with installs = 64, linux-6.18 takes 9.55 us and retains 83 KiB;
/// rfc-opt-in 9.5 us (-0.1 %) and 84 KiB."
std::string comparison(const PlannedWorkload& planned) {
    std::string text =
        fmt::format("In phase {} of {}, ", planned.phase_name(), planned.workload.subject());
    double baseline = 0;
    PointWalk walk(planned.plan, 1, 1);
    while (const auto point = walk.next()) {
        const Result result = scenarios::replay(*point->scenario, point->design, *point->machine);
        const double ns = result.ns(result.phases.at(planned.phase).mean_cycles());
        constexpr double ns_per_us = 1000;
        constexpr double whole = 100;
        const bool first = point->index == 0;
        baseline = first ? ns : baseline;
        text += fmt::format("{}{} {}{} us{} and {}{}", first ? "" : "; ", point->design.name,
                            first ? "takes " : "", short_number(ns / ns_per_us),
                            first ? ""
                                  : fmt::format(" ({})",
                                                signed_percent(whole * (ns / baseline - 1))),
                            first ? "retains " : "",
                            bytes_text(result.memory.retained_bytes_peak));
    }
    return text + '.';
}

/// One sentence a workload and range, as a paragraph or a line each.
std::string statements(const std::vector<Workload>& workloads, const TradeoffSettings& settings,
                       const Library& library, Diagnostics& diagnostics, std::ostream& err) {
    std::vector<std::string> parts;
    std::string machine;
    for (const Workload& workload : workloads) {
        std::vector<BreakEvenRange> ranges = settings.ranges;
        if (workload.range) {
            ranges.push_back(*workload.range);
        }
        TradeoffRequest request = settings.request;
        if (!ranges.empty()) {
            request.designs.resize(std::min<std::size_t>(request.designs.size(), 2));
        }
        const auto planned = plan_workload(workload, request, library, diagnostics);
        if (!planned) {
            return "";
        }
        for (const BreakEvenRange& range : ranges) {
            check_range(library, *planned, range, diagnostics);
            if (!diagnostics.empty()) {
                return "";
            }
            parts.push_back(duel_text(library, *planned, range, settings));
        }
        if (ranges.empty()) {
            err << left_out_text(planned->plan, "tradeoff");
            parts.push_back(comparison(*planned));
        }
        machine = PointWalk(planned->plan, 1, 1).next()->machine->name;
    }
    if (!settings.paragraph) {
        return fmt::format("{}\n", fmt::join(parts, "\n"));
    }
    constexpr std::size_t mail_columns = 72;
    parts.push_back(fmt::format("(Predicted by uringsim {} on machine {}, whose costs are fitted; "
                                "nothing of this was booted.)",
                                version(), machine));
    return wrapped(fmt::format("{}", fmt::join(parts, " ")), 0, mail_columns) + '\n';
}

void check_statements(const std::vector<Workload>& workloads, const TradeoffSettings& settings,
                      Diagnostics& diagnostics) {
    const bool ranged = !settings.ranges.empty() ||
                        std::ranges::any_of(workloads, [](const Workload& workload) {
                            return workload.range.has_value();
                        });
    const std::size_t designs = settings.request.designs.size();
    if (ranged && (designs < 2 || (designs > 2 && !settings.paragraph))) {
        diagnostics.add_option("--break-even", "needs --designs A,B: exactly two");
    }
    if (!settings.request.axes.empty()) {
        diagnostics.add_option("--axis", "is for ranking, not for break-even or --paragraph");
    }
    if (settings.best || settings.budget) {
        diagnostics.add_option(settings.best ? "--best" : "--memory",
                               "is for ranking, not for break-even or --paragraph");
    }
}

std::string tradeoff_text(const Options& options, const Library& library, Diagnostics& diagnostics,
                          std::ostream& err) {
    std::vector<Workload> workloads;
    for (const std::string& text : options.arguments()) {
        workloads.push_back(read_workload(text, diagnostics));
    }
    const TradeoffSettings settings = read_settings(options, diagnostics);
    const bool ranged = std::ranges::any_of(
        workloads, [](const Workload& workload) { return workload.range.has_value(); });
    if (settings.paragraph || ranged || !settings.ranges.empty()) {
        check_statements(workloads, settings, diagnostics);
        return diagnostics.empty() ? statements(workloads, settings, library, diagnostics, err)
                                   : "";
    }
    if (settings.percent) {
        diagnostics.add_option("--sensitivity", "needs --break-even or a range in a workload");
    }
    std::vector<PlannedWorkload> mix;
    for (const Workload& workload : workloads) {
        auto planned = diagnostics.empty()
                           ? plan_workload(workload, settings.request, library, diagnostics)
                           : std::nullopt;
        if (!planned) {
            return "";
        }
        err << left_out_text(planned->plan, "tradeoff");
        mix.push_back(*std::move(planned));
    }
    return front_text(mix, settings, diagnostics);
}

} // namespace

int tradeoff_command(const Invocation& invocation) {
    Options options("tradeoff",
                    "Ranks designs over a mix of workloads by time (an install; an operation where "
                    "a phase installs nothing), registration time and retained memory, and marks "
                    "the Pareto front; or finds where the winner of "
                    "two designs changes, by bisection. A workload is "
                    "SCENARIO[,NAME=VALUE...][:WEIGHT]; a VALUE of X..Y is a range to search, as "
                    "--break-even has it for all workloads.",
                    "SCENARIO...");
    options.value("designs", "A,B,C", "designs, by name or path")
        .repeated("axis", "A=VALUES", "more candidates: an axis as `sweep` takes it")
        .repeated("where", "A<=B", "leave out candidates that break it")
        .value("memory", "BYTES", "leave out candidates that retain more")
        .flag("best", "of each design, only the best candidate within --memory")
        .repeated("break-even", "A=X..Y", "a parameter or knob and its range, for two designs")
        .value("sensitivity", "PERCENT", "how break-even moves with each cost so far off")
        .flag("paragraph", "say it in a paragraph: break-even between the first two designs for "
                           "workloads with a range, all designs for the others")
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
        const std::string text =
            library ? tradeoff_text(options, *library, diagnostics, invocation.err) : "";
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
