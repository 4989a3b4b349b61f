#include "analysis/run.h"

#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/cli/output.h"
#include "analysis/library.h"
#include "scenarios/replay.h"

namespace uringsim::analysis {

int run_command(const Invocation& invocation) {
    Options options("run",
                    "Runs a scenario, a shipped one by name or a file by path, and says what each "
                    "phase cost and why.",
                    "SCENARIO");
    options.value("design", "D", "design, by name or path, in place of the scenario's");
    add_run_options(options);
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    scenarios::Diagnostics diagnostics;
    RunRequest request = read_request(options, diagnostics);
    if (const auto design = options.get("design")) {
        request.designs = {*design};
    }
    const auto writer = ResultWriter::open(options, diagnostics);
    const auto library = Library::open(options.get("data"), diagnostics);
    const auto prepared = library ? prepare(*library, request, diagnostics) : std::nullopt;
    if (!writer || !prepared || !diagnostics.empty()) {
        invocation.err << diagnostics.to_string();
        return exit_status::bad_input;
    }
    try {
        const Run run = execute(*prepared, prepared->designs.front());
        return writer->write(writer->exporter().to_string(run), invocation);
    } catch (const scenarios::RunError& error) {
        invocation.err << "uringsim: the run stopped: " << error.what() << '\n';
        return exit_status::failed;
    }
}

} // namespace uringsim::analysis
