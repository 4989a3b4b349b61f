#include "analysis/cli/validate_native.h"

#include "analysis/cli/options.h"
#include "analysis/cli/output.h"
#include "analysis/library.h"
#include "analysis/native/validation.h"
#include "scenarios/configuration.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::analysis {

namespace {

using scenarios::Diagnostics;

constexpr std::string_view option_name = "--native";

std::optional<models::Machine> read_machine_option(const Options& options, const Library& library,
                                                   Diagnostics& diagnostics) {
    const auto name = options.get("machine");
    const auto root =
        name ? library.load(FileKind::machine, *name, "--machine", diagnostics) : std::nullopt;
    return root ? scenarios::read_machine(*root, diagnostics) : std::nullopt;
}

/// The design that is given, or the nearest to the kernel's release.
std::optional<models::Design> read_design_option(const Options& options, const Library& library,
                                                 const std::string& release,
                                                 Diagnostics& diagnostics) {
    const auto name = options.get("design")
                          ? options.get("design")
                          : native::design_for(release, library.names(FileKind::design));
    if (!name) {
        diagnostics.add_option("--design", fmt::format("no shipped design is as old as kernel {}; "
                                                       "name one",
                                                       release));
        return std::nullopt;
    }
    const auto root = library.load(FileKind::design, *name, "--design", diagnostics);
    return root ? library.design(*root, diagnostics) : std::nullopt;
}

native::NativeRuns run_cases(const Options& options, const std::vector<native::LoadedCase>& cases,
                             bool time, bool count) {
    if (const auto kernel = options.get("vm")) {
        return native::run_cases_in_guest(cases, *kernel, time, count);
    }
    native::NativeOptions wanted;
    wanted.time = time;
    wanted.count = count;
    return native::run_cases_here(cases, wanted);
}

/// All standard cases, or those of the scenarios that are named and all that calibrate.
std::vector<native::Case> choose_cases(const std::vector<std::string>& named, bool instructions,
                                       bool time) {
    std::vector<native::Case> cases = native::standard_cases(instructions);
    std::erase_if(cases, [&](const native::Case& one) {
        const bool wanted = named.empty() || std::ranges::find(named, one.scenario) != named.end();
        return !wanted && !(one.calibrates && time);
    });
    return cases;
}

void add_native_options(Options& options) {
    options.flag("native", "with a kernel's own io_uring")
        .value("vm", "KERNEL", "a kernel image to run in QEMU, in instructions")
        .value("design", "D", "design, in place of the one nearest to the kernel's release")
        .value("format", "FORMAT", "text (default), csv or markdown")
        .value("output,o", "FILE", "write to FILE in place of standard output");
    add_data_option(options);
}

int report_unavailable(const Invocation& invocation, const std::exception& problem, int status) {
    invocation.err << "uringsim: " << problem.what() << '\n';
    return status;
}

} // namespace

bool asks_for_native(const Invocation& invocation) {
    return std::ranges::find(invocation.args, option_name) != invocation.args.end();
}

int validate_native_command(const Invocation& invocation) {
    Options options(
        "validate --native",
        "Runs standard cases on a kernel and in the simulator: counts, which have to be "
        "equal, and times, predicted by a machine that is calibrated on other cases. "
        "Exit status 1 where a count differs, 77 where this host cannot do it.",
        "[SCENARIO...]");
    options.value("machine", "M", "machine, by name or path, in place of calibrating one")
        .flag("count", "only counts")
        .flag("time", "only times");
    add_native_options(options);
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    const bool time = options.given("time") || !options.given("count");
    const bool count = options.given("count") || !options.given("time");
    Diagnostics diagnostics;
    const auto writer = ResultWriter::open(options, diagnostics);
    const auto library = Library::open(options.get("data"), diagnostics);
    const bool guest = options.get("vm").has_value();
    const auto cases = library ? native::load_cases(*library,
                                                    choose_cases(options.arguments(), guest,
                                                                 time && !options.get("machine")),
                                                    diagnostics)
                               : std::nullopt;
    const auto machine =
        library ? read_machine_option(options, *library, diagnostics) : std::nullopt;
    if (!writer || !cases || !diagnostics.empty()) {
        invocation.err << diagnostics.to_string();
        return exit_status::bad_input;
    }
    try {
        const native::NativeRuns runs = run_cases(options, *cases, time, count);
        const auto design = read_design_option(options, *library, runs.release, diagnostics);
        if (!design) {
            invocation.err << diagnostics.to_string();
            return exit_status::bad_input;
        }
        const auto validation = native::validate_native(*cases, runs, *design, machine);
        const std::string format = options.get("format").value_or("text");
        const int status = writer->write(format == "csv"        ? validation_csv(validation)
                                         : format == "markdown" ? validation_markdown(validation)
                                                                : validation_text(validation),
                                         invocation);
        return validation.counts_exact() ? status : exit_status::failed;
    } catch (const native::Unavailable& problem) {
        return report_unavailable(invocation, problem, exit_status::unavailable);
    } catch (const native::NativeError& problem) {
        return report_unavailable(invocation, problem, exit_status::failed);
    } catch (const scenarios::RunError& problem) {
        return report_unavailable(invocation, problem, exit_status::failed);
    }
}

int calibrate_native_command(const Invocation& invocation) {
    Options options("calibrate --native",
                    "Measures small programs on a kernel and chooses a machine's costs by them. "
                    "Writes the machine's file. Exit status 77 where this host cannot do it.",
                    "");
    add_native_options(options);
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    Diagnostics diagnostics;
    const auto writer = ResultWriter::open(options, diagnostics);
    const auto library = Library::open(options.get("data"), diagnostics);
    auto chosen = native::standard_cases(options.get("vm").has_value());
    std::erase_if(chosen, [](const native::Case& one) { return !one.calibrates; });
    const auto cases = library ? native::load_cases(*library, chosen, diagnostics) : std::nullopt;
    if (!writer || !cases || !diagnostics.empty()) {
        invocation.err << diagnostics.to_string();
        return exit_status::bad_input;
    }
    try {
        const native::NativeRuns runs = run_cases(options, *cases, true, false);
        const auto design = read_design_option(options, *library, runs.release, diagnostics);
        if (!design) {
            invocation.err << diagnostics.to_string();
            return exit_status::bad_input;
        }
        const auto calibration = native::calibrate_native(
            *cases, native::measured_phases(*cases, runs), *design,
            runs.instructions ? native::instruction_machine() : native::host_machine(),
            runs.placement, "fitted to runs on kernel " + runs.release);
        return writer->write(native::machine_json(calibration.machine), invocation);
    } catch (const native::Unavailable& problem) {
        return report_unavailable(invocation, problem, exit_status::unavailable);
    } catch (const native::NativeError& problem) {
        return report_unavailable(invocation, problem, exit_status::failed);
    } catch (const scenarios::RunError& problem) {
        return report_unavailable(invocation, problem, exit_status::failed);
    }
}

} // namespace uringsim::analysis
