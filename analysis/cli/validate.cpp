#include "analysis/validate.h"

#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/cli/output.h"
#include "analysis/cli/validate_native.h"
#include "analysis/figures.h"
#include "analysis/library.h"
#include "scenarios/replay.h"

namespace uringsim::analysis {

namespace {

std::vector<PublishedFile> read_files(const Library& library, const std::vector<std::string>& names,
                                      scenarios::Diagnostics& diagnostics) {
    if (names.empty()) {
        return load_published_files(library, diagnostics);
    }
    std::vector<PublishedFile> files;
    for (const std::string& name : names) {
        const auto node = library.load(FileKind::published, name, "--published", diagnostics);
        auto file = node ? read_published(*node, diagnostics) : std::nullopt;
        if (file) {
            files.push_back(*std::move(file));
        }
    }
    return files;
}

int write_sensitivity(const Library& library, const std::vector<PublishedFile>& files,
                      unsigned jobs, const ResultWriter& writer, const Invocation& invocation) {
    scenarios::Diagnostics diagnostics;
    const auto result = sensitivity(library, files, jobs, diagnostics);
    if (!result) {
        invocation.err << diagnostics.to_string();
        return exit_status::bad_input;
    }
    return writer.write(writer.exporter().to_string(*result), invocation);
}

} // namespace

int validate_command(const Invocation& invocation) {
    if (asks_for_native(invocation)) {
        return validate_native_command(invocation);
    }
    Options options("validate",
                    "Simulates every published figure and says how far off it is: of those that "
                    "machines were fitted to, and of those that are predictions, apart. Exit "
                    "status 1 where a figure is off by more than its limit, a change has the wrong "
                    "sign, a count is not exact, or a mean is over its limit.",
                    "");
    options
        .repeated("published", "FILE",
                  "published figures, by name or path, in place of all; may be repeated")
        .flag("brief", "text and markdown: the sources without their figures")
        .flag("sensitivity",
              "say instead how far each cost may move before a published change flips")
        .value("jobs", "N", "threads; without it one a CPU. The output does not depend on it")
        .value("format", "FORMAT", "text (default), json, csv or markdown")
        .value("output,o", "FILE", "write the result to FILE in place of standard output");
    add_data_option(options);
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    scenarios::Diagnostics diagnostics;
    const unsigned jobs = read_jobs(options, default_jobs(), diagnostics);
    const auto writer = ResultWriter::open(options, diagnostics);
    const auto library = Library::open(options.get("data"), diagnostics);
    auto files = library ? read_files(*library, options.all("published"), diagnostics)
                         : std::vector<PublishedFile>{};
    if (!writer || !library || !diagnostics.empty()) {
        invocation.err << diagnostics.to_string();
        return exit_status::bad_input;
    }
    try {
        if (options.given("sensitivity")) {
            return write_sensitivity(*library, files, jobs, *writer, invocation);
        }
        auto validation = validate(*library, std::move(files), jobs, diagnostics);
        if (!validation) {
            invocation.err << diagnostics.to_string();
            return exit_status::bad_input;
        }
        validation->brief = options.given("brief");
        const int status = writer->write(writer->exporter().to_string(*validation), invocation);
        return validation->is_good() ? status : exit_status::failed;
    } catch (const scenarios::RunError& error) {
        invocation.err << "uringsim: the run stopped: " << error.what() << '\n';
        return exit_status::failed;
    }
}

} // namespace uringsim::analysis
