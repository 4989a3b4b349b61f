#include "analysis/cli/validate_native.h"

#include "analysis/cli/options.h"
#include "analysis/cli/output.h"
#include "analysis/library.h"
#include "analysis/native/guest_image.h"
#include "analysis/native/side_by_side.h"
#include "analysis/native/validation.h"
#include "scenarios/configuration.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::analysis {

namespace {

using scenarios::Diagnostics;

constexpr std::string_view option_name = "--native";

std::optional<models::Machine> read_machine_option(const std::optional<std::string>& name,
                                                   const Library& library,
                                                   Diagnostics& diagnostics) {
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

/// `kernel`: an image to run in a guest; the running kernel without one.
native::NativeRuns run_cases(const std::optional<std::string>& kernel,
                             const std::vector<native::LoadedCase>& cases, bool time, bool count) {
    if (kernel) {
        return native::run_cases_in_guest(cases, native::find_guest_image(*kernel), time, count);
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
        .value("design", "D", "design, in place of the one nearest to the kernel's release")
        .value("format", "FORMAT", "text (default), csv or markdown")
        .value("output,o", "FILE", "write to FILE in place of standard output");
    add_data_option(options);
}

int report_unavailable(const Invocation& invocation, const std::exception& problem, int status) {
    invocation.err << "uringsim: " << problem.what() << '\n';
    return status;
}

bool wants_time(const Options& options) {
    return options.given("time") || !options.given("count");
}

bool wants_count(const Options& options) {
    return options.given("count") || !options.given("time");
}

/// Runs the cases on one kernel and simulates them; nothing after reporting.
std::optional<native::NativeValidation>
validate_kernel(const Options& options, const Library& library,
                const std::vector<native::LoadedCase>& cases,
                const std::optional<models::Machine>& machine,
                const std::optional<std::string>& kernel, Diagnostics& diagnostics) {
    const native::NativeRuns runs =
        run_cases(kernel, cases, wants_time(options), wants_count(options));
    const auto design = read_design_option(options, library, runs.release, diagnostics);
    return design ? std::optional(native::validate_native(cases, runs, *design, machine))
                  : std::nullopt;
}

std::string validation_report(const native::NativeValidation& validation,
                              const std::string& format) {
    return format == "csv"        ? validation_csv(validation)
           : format == "markdown" ? validation_markdown(validation)
                                  : validation_text(validation);
}

std::string side_by_side_report(const native::SideBySide& comparison, const std::string& format) {
    return format == "csv"        ? side_by_side_csv(comparison)
           : format == "markdown" ? side_by_side_markdown(comparison)
                                  : side_by_side_text(comparison);
}

} // namespace

bool asks_for_native(const Invocation& invocation) {
    return std::ranges::find(invocation.args, option_name) != invocation.args.end();
}

int validate_native_command(const Invocation& invocation) {
    Options options(
        "validate --native",
        "Runs standard cases on a kernel and in the simulator: counts, which have to be "
        "equal, and times, predicted by a machine that is calibrated on other cases. With several "
        "--vm the kernels are put side by side, each with its own design, on one machine. "
        "Exit status 1 where a count differs or a change between kernels has the wrong sign, 77 "
        "where this host cannot do it.",
        "[SCENARIO...]");
    options
        .repeated("vm", "KERNEL",
                  "a kernel in QEMU, in instructions: an image, or a version (6.12) of which "
                  "tests/guest-image.sh has fetched one; may be repeated")
        .value("machine", "M",
               "machine, by name or path, in place of calibrating one; icount with several --vm")
        .flag("count", "only counts")
        .flag("time", "only times");
    add_native_options(options);
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    const std::vector<std::string> kernels = options.all("vm");
    const bool several = kernels.size() > 1;
    if (several && !wants_time(options)) {
        throw UsageError(
            "several --vm are compared by their instructions, which --count leaves out");
    }
    if (several && options.get("design")) {
        throw UsageError("with several --vm each kernel has its own design: leave --design out");
    }
    Diagnostics diagnostics;
    const auto writer = ResultWriter::open(options, diagnostics);
    const auto library = Library::open(options.get("data"), diagnostics);
    const std::optional<std::string> machine_name =
        several ? options.get("machine").value_or("icount") : options.get("machine");
    auto chosen = choose_cases(options.arguments(), !kernels.empty(), wants_time(options) && !machine_name);
    if (several) {
        std::erase_if(chosen, [](const native::Case& one) { return one.calibrates; });
    }
    const auto cases = library ? native::load_cases(*library, chosen, diagnostics) : std::nullopt;
    const auto machine =
        library ? read_machine_option(machine_name, *library, diagnostics) : std::nullopt;
    if (!writer || !cases || !diagnostics.empty()) {
        invocation.err << diagnostics.to_string();
        return exit_status::bad_input;
    }
    try {
        std::vector<native::NativeValidation> validations;
        for (std::size_t i = 0; i < std::max<std::size_t>(kernels.size(), 1); ++i) {
            const auto kernel = kernels.empty() ? std::nullopt : std::optional(kernels[i]);
            auto validation =
                validate_kernel(options, *library, *cases, machine, kernel, diagnostics);
            if (!validation) {
                invocation.err << diagnostics.to_string();
                return exit_status::bad_input;
            }
            validations.push_back(*std::move(validation));
        }
        const std::string format = options.get("format").value_or("text");
        if (several) {
            const auto comparison = native::side_by_side(std::move(validations), *machine_name);
            const int status = writer->write(side_by_side_report(comparison, format), invocation);
            return comparison.counts_exact() && comparison.signs_agree() ? status
                                                                         : exit_status::failed;
        }
        const int status =
            writer->write(validation_report(validations.front(), format), invocation);
        return validations.front().counts_exact() ? status : exit_status::failed;
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
    options.value("vm", "KERNEL",
                  "a kernel in QEMU, in instructions: an image, or a version (6.12)");
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
        const native::NativeRuns runs = run_cases(options.get("vm"), *cases, true, false);
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
