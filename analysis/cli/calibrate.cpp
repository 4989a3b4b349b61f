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

} // namespace

int calibrate_command(const Invocation& invocation) {
    if (asks_for_native(invocation)) {
        return calibrate_native_command(invocation);
    }
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
    std::optional<OutputFile> file;
    const std::string path = options.get("output").value_or("-");
    std::string error;
    if (path != "-" && !options.given("dry-run")) {
        file = OutputFile::open(path, error);
        if (!file) {
            diagnostics.add_option("--output " + path, "cannot be written: " + error);
        }
    }
    const auto library = Library::open(options.get("data"), diagnostics);
    const auto root = library ? library->load(FileKind::machine, *options.get("machine"),
                                              "--machine", diagnostics)
                              : std::nullopt;
    const auto machine = root ? scenarios::read_machine(*root, diagnostics) : std::nullopt;
    const auto figures =
        machine ? figures_to_fit(*library, machine->name, options.all("from"), diagnostics)
                : std::vector<PublishedFigure>{};
    if (!machine || !diagnostics.empty()) {
        invocation.err << diagnostics.to_string();
        return exit_status::bad_input;
    }
    const auto predicted = published_costs(*library, machine->name, false, diagnostics);
    try {
        const auto calibration = calibrate(*library, *root, figures, predicted, jobs, diagnostics);
        if (!calibration) {
            invocation.err << diagnostics.to_string();
            return exit_status::bad_input;
        }
        const std::string report = calibration_text(*calibration);
        if (options.given("dry-run")) {
            invocation.out << report;
        } else if (!file) {
            invocation.err << report;
            invocation.out << calibration->machine_file;
        } else if (file->write(calibration->machine_file, error)) {
            invocation.out << report;
        } else {
            invocation.err << "uringsim: " << path << " cannot be written: " << error << '\n';
            return exit_status::failed;
        }
        return calibration->settled ? exit_status::done : exit_status::failed;
    } catch (const scenarios::RunError& stopped) {
        invocation.err << "uringsim: the run stopped: " << stopped.what() << '\n';
        return exit_status::failed;
    }
}

} // namespace uringsim::analysis
