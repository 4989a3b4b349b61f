#include "analysis/cli/cli.h"
#include "analysis/cli/interrupt.h"
#include "analysis/cli/options.h"
#include "analysis/cli/progress.h"
#include "analysis/export/numbers.h"
#include "analysis/library.h"
#include "analysis/sweep/row_file.h"
#include "analysis/sweep/sweep_resume.h"
#include "analysis/sweep/sweep_runner.h"
#include "analysis/sweep/sweep_summary.h"
#include "scenarios/did_you_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <unistd.h>

namespace uringsim::analysis {

namespace {

using scenarios::Diagnostics;

/// What a sweep's options say besides the sweep itself.
struct SweepSettings {
    unsigned jobs = 1;
    std::uint64_t shard = 1;
    std::uint64_t shards = 1;
    bool resume = false;
    bool csv = false;
    bool progress = true;
    std::optional<std::string> path; ///< nothing: standard output
};

Options make_options() {
    Options options("sweep",
                    "Runs a scenario over every combination of the values of axes, one row a run. "
                    "ARGUMENT is a sweep's JSON file, a shipped sweep or a scenario. Values are "
                    "0,32,64..4096x2 or 1..9+2: numbers and ranges with both ends in. Rows go to "
                    "-o or to standard output; with -o, a summary goes to standard output.",
                    "ARGUMENT");
    options
        .repeated("axis", "A=VALUES", "knob, param:NAME, design, machine or seed, and its values")
        .value("designs", "A,B,C", "the axis of designs, by name or path")
        .value("machines", "A,B", "the axis of machines, by name or path")
        .repeated("zip", "A,B", "axes that move together in place of crosswise")
        .repeated("where", "A<=B", "leave out points that break it, such as limit<=slots")
        .value("repeats", "N", "runs a point, each with the next seed")
        .value("max-runs", "N", "refuse more combinations than this (default 1000000)")
        .flag("dry-run", "say how many runs, and run nothing")
        .value("jobs,j", "N", "threads (default 1); the bytes are the same with any")
        .value("shard", "K/N", "only every N-th run, from the K-th; `merge` puts shards together")
        .flag("resume", "run only what FILE of -o does not have yet; refused where FILE has "
                        "anything that is not of this sweep")
        .value("progress", "WHEN",
               "auto (default): on standard error if a terminal and not among rows; or never")
        .value("phase", "P", "the phase that the summary is of (default: the first)")
        .value("map", "A,B", "the axes of the heat map (default: the first two of numbers)")
        .value("format", "FORMAT", "jsonl (default) or csv; also by the file's name")
        .value("output,o", "FILE",
               "write rows to FILE, each as soon as it is its turn; FILE starts anew unless "
               "--resume says otherwise");
    return options;
}

void read_shard(const Options& options, SweepSettings& settings, Diagnostics& diagnostics) {
    const auto text = options.get("shard");
    if (!text) {
        return;
    }
    const std::size_t slash = text->find('/');
    std::string error;
    constexpr std::uint64_t most = 1'000'000;
    const auto shards = slash == std::string::npos
                            ? std::nullopt
                            : scenarios::parse_unsigned(text->substr(slash + 1), {1, most}, error);
    const auto shard =
        shards ? scenarios::parse_unsigned(text->substr(0, slash), {1, *shards}, error)
               : std::nullopt;
    if (!shard) {
        diagnostics.add_option(
            "--shard", fmt::format("must be K/N with N from 1 to {} and K from 1 to N; got \"{}\"",
                                   most, *text));
        return;
    }
    settings.shard = *shard;
    settings.shards = *shards;
}

SweepSettings read_settings(const Options& options, Diagnostics& diagnostics) {
    SweepSettings settings;
    settings.jobs = read_jobs(options, 1, diagnostics);
    read_shard(options, settings, diagnostics);
    settings.resume = options.given("resume");
    if (const auto path = options.get("output"); path && *path != "-") {
        settings.path = *path;
    }
    if (settings.resume && !settings.path) {
        diagnostics.add_option("--resume", "needs -o FILE: there is nothing else to resume");
    }
    std::string error;
    constexpr std::array<std::string_view, 2> formats{"jsonl", "csv"};
    const std::string by_name =
        settings.path && settings.path->ends_with(".csv") ? "csv" : "jsonl";
    const auto format =
        scenarios::parse_choice(options.get("format").value_or(by_name), formats, error);
    if (!format) {
        diagnostics.add_option("--format", error);
    }
    settings.csv = format && *format == 1;
    constexpr std::array<std::string_view, 2> when{"auto", "never"};
    const auto progress =
        scenarios::parse_choice(options.get("progress").value_or("auto"), when, error);
    if (!progress) {
        diagnostics.add_option("--progress", error);
    }
    settings.progress = progress && *progress == 0;
    return settings;
}

void report_unknown(const std::string& argument, const std::vector<std::string>& sweeps,
                    const std::vector<std::string>& shipped_scenarios, Diagnostics& diagnostics) {
    std::vector<std::string> all = sweeps;
    all.insert(all.end(), shipped_scenarios.begin(), shipped_scenarios.end());
    const auto near = scenarios::did_you_mean(argument, all);
    diagnostics.add_option(
        "ARGUMENT",
        fmt::format("there is no sweep or scenario \"{}\"; the sweeps are {}; the scenarios {}{}",
                    argument, fmt::join(sweeps, ", "), fmt::join(shipped_scenarios, ", "),
                    near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
}

/// The spec of the file or scenario that the argument means, before the options.
std::optional<SweepSpec> read_argument(const Library& library, const std::string& argument,
                                       Diagnostics& diagnostics) {
    const auto sweeps = library.names(FileKind::sweep);
    const auto shipped_scenarios = library.names(FileKind::scenario);
    const bool shipped = std::ranges::find(sweeps, argument) != sweeps.end();
    if (!shipped && !is_path(argument) &&
        std::ranges::find(shipped_scenarios, argument) == shipped_scenarios.end()) {
        report_unknown(argument, sweeps, shipped_scenarios, diagnostics);
        return std::nullopt;
    }
    if (shipped || is_path(argument)) {
        const auto root = library.load(FileKind::sweep, argument, "ARGUMENT", diagnostics);
        if (!root) {
            return std::nullopt;
        }
        if (is_sweep(*root)) {
            return read_sweep(*root, diagnostics);
        }
    }
    SweepSpec spec;
    spec.name = argument;
    spec.base.scenario = argument;
    return spec;
}

void add_option_axes(const Options& options, SweepSpec& spec, Diagnostics& diagnostics) {
    for (const auto& [label, values] : read_assignments(options, "axis", "axis", diagnostics)) {
        spec.add_axis(label, values, "--axis " + label, diagnostics);
    }
    for (const auto& [option, label] :
         {std::pair{"designs", "design"}, std::pair{"machines", "machine"}}) {
        if (const auto values = options.get(option)) {
            spec.add_axis(label, *values, std::string("--") + option, diagnostics);
        }
    }
    for (const std::string& labels : options.all("zip")) {
        spec.zip(read_list(labels, "--zip", diagnostics), "--zip", diagnostics);
    }
    for (const std::string& text : options.all("where")) {
        spec.constraints.push_back(text);
    }
}

std::optional<SweepSpec> read_spec(const Library& library, const Options& options,
                                   Diagnostics& diagnostics) {
    auto spec = read_argument(library, options.arguments().front(), diagnostics);
    if (!spec) {
        return std::nullopt;
    }
    const RunRequest given = read_request(options, diagnostics);
    spec->base.machine = given.machine ? given.machine : spec->base.machine;
    spec->base.seed = given.seed ? given.seed : spec->base.seed;
    spec->base.knobs.insert(spec->base.knobs.end(), given.knobs.begin(), given.knobs.end());
    spec->base.parameters.insert(spec->base.parameters.end(), given.parameters.begin(),
                                 given.parameters.end());
    add_option_axes(options, *spec, diagnostics);
    spec->repeats = read_unsigned(options, "repeats", {1, 1'000'000, "runs a point"}, diagnostics)
                        .value_or(spec->repeats);
    spec->max_runs = read_unsigned(options, "max-runs", {1, 1'000'000'000'000, "runs"}, diagnostics)
                         .value_or(spec->max_runs);
    return spec;
}

std::optional<std::pair<std::size_t, std::size_t>>
find_map(const Options& options, const SweepPlan& plan, Diagnostics& diagnostics) {
    const auto wanted = options.get("map");
    if (!wanted) {
        return std::nullopt;
    }
    std::vector<std::size_t> groups;
    std::vector<std::string> known;
    for (const Axis& axis : plan.axes()) {
        known.push_back(axis.label());
    }
    for (const std::string& label : read_list(*wanted, "--map", diagnostics)) {
        const auto found = std::ranges::find(known, axis_of(label).label());
        if (found == known.end()) {
            diagnostics.add_option("--map", fmt::format("\"{}\" is none of the axes {}", label,
                                                        fmt::join(known, ", ")));
            return std::nullopt;
        }
        groups.push_back(plan.axes()[static_cast<std::size_t>(found - known.begin())].group);
    }
    if (groups.size() != 2 || groups[0] == groups[1]) {
        diagnostics.add_option("--map", "must name two axes that are not zipped");
        return std::nullopt;
    }
    return std::pair{groups[0], groups[1]};
}

std::string plan_text(const SweepPlan& plan, const SweepSettings& settings) {
    std::string text = counted(plan.runs(), "run");
    if (plan.combinations() != plan.runs()) {
        text += " of " + counted(plan.combinations(), "combination");
    }
    if (settings.shards > 1) {
        text += fmt::format(", {} in shard {}/{}",
                            PointWalk(plan, settings.shard, settings.shards).total(),
                            settings.shard, settings.shards);
    }
    text += '\n';
    for (const Axis& axis : plan.axes()) {
        if (axis.values.size() > 1) {
            text += fmt::format("  {}: {} values, {} ... {}\n", axis.label(), axis.values.size(),
                                axis.values.front(), axis.values.back());
        }
    }
    return text;
}

/// A sweep under way: its output, what was there before, and what is told to whom.
class SweepJob {
  public:
    SweepJob(const SweepPlan& plan, const SweepSettings& settings, SweepSummary& summary,
             const Invocation& invocation)
        : plan_(plan)
        , settings_(settings)
        , summary_(summary)
        , invocation_(invocation)
        , format_(settings.csv ? make_csv_format(plan) : make_jsonl_format(plan))
        , walk_(plan, settings.shard, settings.shards) {}

    /// Tries the output before the first run. False after saying why it is no use.
    bool open() {
        std::string error;
        if (settings_.path) {
            if (auto opened = RowFile::open(*settings_.path, settings_.resume, error)) {
                file_.emplace(*std::move(opened));
            }
            if (file_ && settings_.resume) {
                resumed_ = ResumeState::read(
                    *file_, *format_, plan_, walk_,
                    [this](const SweepPoint& point, const RowFigures& figures) {
                        summary_.add(point, figures);
                    },
                    error);
            } else if (file_) {
                ResumeState::finish(*settings_.path);
                if (!file_->append(format_->header(), error)) {
                    file_.reset();
                }
            }
            if (!file_ || (settings_.resume && !resumed_)) {
                invocation_.err << fmt::format("command line: --output {}: cannot be {}: {}\n",
                                               *settings_.path,
                                               file_ ? "resumed" : "written", error);
                return false;
            }
        } else {
            invocation_.out << format_->header();
        }
        return true;
    }

    int run() {
        try {
            return run_all();
        } catch (const std::bad_alloc&) {
            invocation_.err << fmt::format("uringsim sweep: out of memory{}{}\n",
                                           settings_.jobs > 1 ? "; fewer --jobs need less" : "",
                                           settings_.path ? "; --resume runs the rest" : "");
            return exit_status::failed;
        }
    }

  private:
    int run_all() {
        Interrupt interrupt;
        const std::uint64_t before = resumed_ ? resumed_->rows() : 0;
        // Among rows on the same terminal it would be in the way.
        const bool shown = settings_.progress && (settings_.path || ::isatty(STDOUT_FILENO) == 0);
        Progress progress(invocation_.err, shown, walk_.total(), before);
        SweepHooks hooks;
        hooks.write = [&](std::string_view lines, std::string& error) {
            if (file_) {
                return file_->append(lines, error);
            }
            if (!(invocation_.out << lines)) {
                error = "standard output takes no more";
                return false;
            }
            return true;
        };
        hooks.known = [&](const SweepPoint& point) {
            return resumed_ ? resumed_->find(point, plan_) : std::nullopt;
        };
        hooks.written = [&](const SweepPoint& point, const RowFigures& figures) {
            summary_.add(point, figures);
            progress.step();
        };
        hooks.stop = [&] { return interrupt.pending(); };
        const std::uint64_t left = walk_.left();
        const SweepOutcome outcome = run_sweep(*format_, walk_, settings_.jobs, hooks);
        progress.finish();
        if (outcome.threads < std::min<std::uint64_t>(settings_.jobs, left)) {
            invocation_.err << fmt::format(
                "uringsim sweep: the system did not give {} threads; ran in {}\n", settings_.jobs,
                outcome.threads);
        }
        return report(outcome, before, interrupt.status());
    }

    int report(const SweepOutcome& outcome, std::uint64_t before, int interrupt_status) const {
        const std::uint64_t rows = before + outcome.written;
        if (!outcome.write_error.empty()) {
            if (file_) { // who owns the stream says it of standard output
                invocation_.err << fmt::format("uringsim sweep: rows cannot be written: {}\n",
                                               outcome.write_error);
            }
            return exit_status::failed;
        }
        if (outcome.interrupted) {
            invocation_.err << fmt::format("uringsim sweep: interrupted after {} of {}{}\n", rows,
                                           counted(walk_.total(), "row"),
                                           settings_.path ? "; --resume runs the rest" : "");
            return interrupt_status;
        }
        if (settings_.path) {
            ResumeState::finish(*settings_.path);
        }
        if (settings_.shards == 1) {
            for (const std::string& label : summary_.idle_axes()) {
                invocation_.err << fmt::format(
                    "uringsim sweep: {} never became active: its values made no difference to any "
                    "run\n",
                    label);
            }
        }
        if (settings_.path) {
            invocation_.out << (settings_.shards == 1
                                    ? summary_.to_text()
                                    : fmt::format("{} of shard {}/{}\n", counted(rows, "row"),
                                                  settings_.shard, settings_.shards));
        }
        if (const std::uint64_t stopped = summary_.stopped(); stopped > 0) {
            invocation_.err << fmt::format(
                "uringsim sweep: {} stopped; {} \"error\"\n", counted(stopped, "run"),
                stopped == 1 ? "its row says why under" : "their rows say why under");
            return exit_status::failed;
        }
        return exit_status::done;
    }

    const SweepPlan& plan_;
    const SweepSettings& settings_;
    SweepSummary& summary_;
    const Invocation& invocation_;
    std::unique_ptr<RowFormat> format_;
    PointWalk walk_;
    std::optional<RowFile> file_;
    std::optional<ResumeState> resumed_;
};

} // namespace

int sweep_command(const Invocation& invocation) {
    Options options = make_options();
    add_request_options(options);
    add_data_option(options);
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    Diagnostics diagnostics;
    const SweepSettings settings = read_settings(options, diagnostics);
    const auto library = Library::open(options.get("data"), diagnostics);
    auto spec = library ? read_spec(*library, options, diagnostics) : std::nullopt;
    const auto plan = spec && diagnostics.empty()
                          ? SweepPlan::make(*library, *std::move(spec), diagnostics)
                          : std::nullopt;
    if (!plan) {
        invocation.err << diagnostics.to_string();
        return exit_status::bad_input;
    }
    const std::size_t phase = find_phase(plan->scenario(), options.get("phase"), diagnostics);
    SweepSummary summary(*plan, phase, find_map(options, *plan, diagnostics));
    if (!diagnostics.empty()) {
        invocation.err << diagnostics.to_string();
        return exit_status::bad_input;
    }
    invocation.err << left_out_text(*plan, "sweep");
    if (options.given("dry-run")) {
        invocation.out << plan_text(*plan, settings);
        return exit_status::done;
    }
    SweepJob job(*plan, settings, summary, invocation);
    return job.open() ? job.run() : exit_status::bad_input;
}

} // namespace uringsim::analysis
