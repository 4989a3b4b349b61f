#include "analysis/native/native.h"

#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/cli/output.h"
#include "analysis/library.h"
#include "analysis/native/guest.h"
#include "analysis/native/guest_image.h"
#include "analysis/native/report.h"
#include "scenarios/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace uringsim::analysis {

namespace {

using scenarios::Diagnostics;

/// A number given for an option; the fallback where it is not given. Reports one out of range.
/// --rounds is the scenario's parameter of that name.
scenarios::ParameterOverrides read_parameters(const Options& options, Diagnostics& diagnostics) {
    auto parameters = read_assignments(options, "param", "parameter", diagnostics);
    if (const auto rounds = options.get("rounds")) {
        parameters.emplace_back("rounds", *rounds);
    }
    return parameters;
}

std::vector<int> read_cpus(const Options& options, Diagnostics& diagnostics) {
    const auto text = options.get("cpu");
    if (!text) {
        return {};
    }
    const auto cpus = native::parse_cpu_list(*text);
    if (!cpus) {
        diagnostics.add_option("--cpu",
                               fmt::format("must be CPUs as in 1 or 0-3,6; got \"{}\"", *text));
    }
    return cpus.value_or(std::vector<int>{});
}

std::string read_file(const std::string& path) {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

} // namespace

int native_command(const Invocation& invocation) {
    Options options("native",
                    "Runs a scenario on the running kernel's io_uring, or on another kernel in "
                    "QEMU, and says\nwhat it cost and what could be counted. Exit status 77 where "
                    "this host cannot do it.",
                    "SCENARIO");
    options.repeated("param", "NAME=VALUE", "set a parameter of the scenario; may be repeated")
        .value("rounds", "N", "measured rounds: the scenario's parameter of that name")
        .value("processes", "N", "processes that are timed, one after the other (default 8)")
        .value("cpu", "LIST", "CPUs to use, as in 1 or 0-3,6")
        .flag("count", "only count events")
        .flag("time", "only time the phases")
        .flag("both", "count and time, in processes of their own (default)")
        .value("vm", "KERNEL",
               "run in QEMU on this kernel image, or the fetched one of a version (6.12), in "
               "instructions")
        .value("vm-cpus", "N", "CPUs of that guest (default 1)")
        .value("format", "FORMAT", "text (default), json, csv or markdown")
        .value("output,o", "FILE", "write the result to FILE in place of standard output");
    add_data_option(options);
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    constexpr std::uint64_t most = 1000;
    constexpr std::uint32_t default_processes = 8;
    Diagnostics diagnostics;
    const auto parameters = read_parameters(options, diagnostics);
    native::NativeOptions wanted;
    wanted.processes = static_cast<std::uint32_t>(
        read_unsigned(options, "processes", {1, most, "processes"}, diagnostics)
            .value_or(default_processes));
    const std::uint64_t guest_cpus =
        read_unsigned(options, "vm-cpus", {1, 2, "CPUs"}, diagnostics).value_or(1);
    wanted.cpus = read_cpus(options, diagnostics);
    wanted.time = options.given("time") || !options.given("count") || options.given("both");
    wanted.count = options.given("count") || !options.given("time") || options.given("both");
    const auto writer = ResultWriter::open(options, diagnostics);
    const auto library = Library::open(options.get("data"), diagnostics);
    const auto root = library ? library->load(FileKind::scenario, options.arguments().front(),
                                              "SCENARIO", diagnostics)
                              : std::nullopt;
    const auto scenario =
        root ? scenarios::read_scenario(*root, parameters, diagnostics) : std::nullopt;
    if (!writer || !scenario || !diagnostics.empty()) {
        invocation.err << diagnostics.to_string();
        return exit_status::bad_input;
    }
    try {
        native::NativeRun run;
        if (const auto kernel = options.get("vm")) {
            native::GuestOptions guest;
            guest.kernel = native::find_guest_image(*kernel);
            guest.cpus = static_cast<int>(guest_cpus);
            native::Job job;
            job.parameters = parameters;
            job.time = wanted.time;
            job.count = wanted.count;
            run = native::run_guest({{*scenario, read_file(root->file()), job}}, guest).front();
        } else {
            run = native::run_native(*scenario, wanted);
        }
        return writer->write(native::report(run, options.get("format").value_or("text")),
                             invocation);
    } catch (const native::Unavailable& problem) {
        invocation.err << "uringsim: " << problem.what() << '\n';
        return exit_status::unavailable;
    } catch (const native::NativeError& problem) {
        invocation.err << "uringsim: the run stopped: " << problem.what() << '\n';
        return exit_status::failed;
    }
}

} // namespace uringsim::analysis
