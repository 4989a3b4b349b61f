#include "analysis/calibrate.h"

#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/cli/output.h"
#include "analysis/cli/validate_native.h"
#include "analysis/export/calibration.h"
#include "analysis/figures.h"
#include "analysis/library.h"
#include "scenarios/configuration.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::analysis {

namespace {

constexpr std::string_view from_published = "published";

/// The published figures of a machine that are there to be fitted or predicted, in the order of the
/// files.
std::vector<PublishedFigure> published_costs(const Library& library, const std::string& machine,
                                             bool fitted, scenarios::Diagnostics& diagnostics) {
    std::vector<PublishedFigure> figures;
    for (const PublishedFigure& figure : load_published(library, diagnostics)) {
        if (figure.fitted == fitted && is_cost(figure.metric) && figure.machine == machine) {
            figures.push_back(figure);
        }
    }
    return figures;
}

std::vector<PublishedFigure> results_to_fit(const Library& library, const std::string& machine,
                                            const std::vector<std::string>& paths,
                                            scenarios::Diagnostics& diagnostics) {
    std::vector<PublishedFigure> all;
    for (const std::string& path : paths) {
        const auto root = read_json_file(path, diagnostics);
        const auto figures =
            root ? figures_of_result(*root, library, machine, diagnostics) : std::nullopt;
        if (figures) {
            all.insert(all.end(), figures->begin(), figures->end());
        }
    }
    return all;
}

std::vector<PublishedFigure> figures_to_fit(const Library& library, const std::string& machine,
                                            const std::vector<std::string>& from,
                                            scenarios::Diagnostics& diagnostics) {
    if (from.size() == 1 && from.front() == from_published) {
        return published_costs(library, machine, true, diagnostics);
    }
    return results_to_fit(library, machine, from, diagnostics);
}

Options make_options() {
    Options options("calibrate",
                    "Chooses a machine's free costs by measurements: the published figures that "
                    "are marked \"use\": \"fit\", or results of runs on that machine. Writes the "
                    "machine's file, to standard output unless -o says where, and a report.",
                    "");
    options
        .repeated("from", "published|RESULT.json",
                  "what to fit to; result files, as --format json writes them, may be several")
        .value("machine", "M", "machine, by name or path, that names its free costs")
        .flag("dry-run", "write nothing but the report: what would change")
        .value("jobs", "N", "threads for the simulations; without it one a CPU")
        .value("output,o", "FILE", "write the machine's file to FILE");
    add_data_option(options);
    return options;
}

/// Where the machine's file goes.
struct Target {
    std::string path = "-";         ///< for messages
    std::optional<OutputFile> file; ///< nothing: standard output, or nowhere
    bool dry_run = false;           ///< only the report is written
};

Target open_target(const Options& options, scenarios::Diagnostics& diagnostics) {
    Target target{options.get("output").value_or("-"), std::nullopt, options.given("dry-run")};
    if (target.path != "-" && !target.dry_run) {
        std::string error;
        target.file = OutputFile::open(target.path, error);
        if (!target.file) {
            diagnostics.add_option("--output " + target.path, "cannot be written: " + error);
        }
    }
    return target;
}

/// All that a calibration starts from.
struct Inputs {
    scenarios::JsonNode root; ///< of the machine's file
    std::vector<PublishedFigure> figures;
    std::vector<PublishedFigure> predicted;
};

/// Nothing after reporting.
std::optional<Inputs> read_inputs(const Library& library, const Options& options,
                                  scenarios::Diagnostics& diagnostics) {
    auto root = library.load(FileKind::machine, *options.get("machine"), "--machine", diagnostics);
    const auto machine = root ? scenarios::read_machine(*root, diagnostics) : std::nullopt;
    if (!machine) {
        return std::nullopt;
    }
    Inputs inputs{*std::move(root),
                  figures_to_fit(library, machine->name, options.all("from"), diagnostics),
                  {}};
    if (!diagnostics.empty()) {
        return std::nullopt;
    }
    inputs.predicted = published_costs(library, machine->name, false, diagnostics);
    return inputs;
}

/// Writes the report and the machine's file. Returns the exit status.
int write_calibration(const Calibration& calibration, const Target& target,
                      const Invocation& invocation) {
    const std::string report = calibration_text(calibration);
    std::string error;
    if (target.dry_run) {
        invocation.out << report;
    } else if (!target.file) {
        invocation.err << report;
        invocation.out << calibration.machine_file;
    } else if (target.file->write(calibration.machine_file, error)) {
        invocation.out << report;
    } else {
        invocation.err << "uringsim: " << target.path << " cannot be written: " << error << '\n';
        return exit_status::failed;
    }
    return calibration.settled ? exit_status::done : exit_status::failed;
}

} // namespace

int calibrate_command(const Invocation& invocation) {
    if (asks_for_native(invocation)) {
        return calibrate_native_command(invocation);
    }
    Options options = make_options();
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    if (options.all("from").empty() || !options.get("machine")) {
        throw UsageError(options.all("from").empty()
                             ? "--from published or --from RESULT.json is missing"
                             : "--machine M is missing; `uringsim list machines` names all");
    }
    scenarios::Diagnostics diagnostics;
    const unsigned jobs = read_jobs(options, default_jobs(), diagnostics);
    const Target target = open_target(options, diagnostics);
    const auto library = Library::open(options.get("data"), diagnostics);
    const auto inputs = library ? read_inputs(*library, options, diagnostics) : std::nullopt;
    if (!inputs || !diagnostics.empty()) {
        invocation.err << diagnostics.to_string();
        return exit_status::bad_input;
    }
    try {
        const auto calibration = calibrate(*library, inputs->root, inputs->figures,
                                           inputs->predicted, jobs, diagnostics);
        if (!calibration) {
            invocation.err << diagnostics.to_string();
            return exit_status::bad_input;
        }
        return write_calibration(*calibration, target, invocation);
    } catch (const scenarios::RunError& stopped) {
        invocation.err << "uringsim: the run stopped: " << stopped.what() << '\n';
        return exit_status::failed;
    }
}

} // namespace uringsim::analysis
