#include "analysis/compare.h"

#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/cli/output.h"
#include "analysis/library.h"
#include "analysis/run.h"
#include "analysis/sweep/axis.h"
#include "scenarios/did_you_mean.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::analysis {

namespace {

/// The index of the baseline: the design of that name, or the first.
std::size_t find_baseline(const std::optional<std::string>& wanted,
                          const std::vector<std::string>& names,
                          scenarios::Diagnostics& diagnostics) {
    if (!wanted) {
        return 0;
    }
    const auto found = std::ranges::find(names, *wanted);
    if (found != names.end()) {
        return static_cast<std::size_t>(found - names.begin());
    }
    std::string message =
        fmt::format("\"{}\" is none of --designs {}", *wanted, fmt::join(names, ","));
    if (const auto near = scenarios::did_you_mean(*wanted, names)) {
        message += fmt::format("; did you mean \"{}\"?", *near);
    }
    diagnostics.add_option("--baseline", message);
    return 0;
}

/// --vary KNOB=VALUES, with the values that an axis of a sweep takes.
std::optional<KnobVariation> read_variation(const Options& options,
                                            scenarios::Diagnostics& diagnostics) {
    const auto text = options.get("vary");
    if (!text) {
        return std::nullopt;
    }
    const std::size_t equals = text->find('=');
    if (equals == std::string::npos || equals == 0) {
        diagnostics.add_option("--vary", fmt::format("must be knob=values; got \"{}\"", *text));
        return std::nullopt;
    }
    KnobVariation variation{text->substr(0, equals), {}};
    std::string error;
    if (auto values = expand_values(text->substr(equals + 1), true, error)) {
        variation.values = *std::move(values);
    } else {
        diagnostics.add_option("--vary " + variation.knob, error);
        return std::nullopt;
    }
    constexpr std::size_t most = 100;
    if (variation.values.size() > most) {
        diagnostics.add_option("--vary " + variation.knob,
                               fmt::format("{} values are more than {}: `uringsim sweep` is for so "
                                           "many",
                                           variation.values.size(), most));
        return std::nullopt;
    }
    return variation;
}

std::vector<Run> execute_all(const PreparedRuns& prepared,
                             const std::optional<KnobVariation>& vary) {
    std::vector<Run> runs;
    for (const EffectiveDesign& design : prepared.designs) {
        try {
            runs.push_back(execute(prepared, design));
            // What varies is in the design's name; what is left was set for all.
            std::erase_if(runs.back().changed_knobs, [&vary](const scenarios::Setting& knob) {
                return vary && knob.name == vary->knob;
            });
        } catch (const scenarios::RunError& error) {
            throw scenarios::RunError(
                fmt::format("design {}: {}", design.design.name, error.what()));
        }
    }
    return runs;
}

} // namespace

int compare_command(const Invocation& invocation) {
    Options options("compare",
                    "Runs a scenario on several designs: what each phase costs, how that differs "
                    "from the baseline, and which mechanisms account for the difference.",
                    "SCENARIO");
    options.value("designs", "A,B,C", "designs, by name or path")
        .value("baseline", "A", "the one of them to compare with; without it the first")
        .value("vary", "KNOB=VALUES",
               "each design once with each of these values of a knob: 0,32,64..512x2, as an axis "
               "of `sweep` takes them");
    add_run_options(options);
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    if (!options.get("designs")) {
        throw UsageError("--designs A,B,C is missing; `uringsim list designs` names all");
    }
    scenarios::Diagnostics diagnostics;
    RunRequest request = read_request(options, diagnostics);
    request.design_option = "--designs";
    request.designs = read_list(*options.get("designs"), "--designs", diagnostics);
    request.vary = read_variation(options, diagnostics);
    // Of the designs that a variation makes of the baseline, the first.
    const std::size_t baseline =
        find_baseline(options.get("baseline"), request.designs, diagnostics) *
        (request.vary ? request.vary->values.size() : 1);
    const auto writer = ResultWriter::open(options, diagnostics);
    const auto library = Library::open(options.get("data"), diagnostics);
    const auto prepared = library ? prepare(*library, request, diagnostics) : std::nullopt;
    if (!writer || !prepared || !diagnostics.empty()) {
        invocation.err << diagnostics.to_string();
        return exit_status::bad_input;
    }
    try {
        const Comparison comparison =
            compare(execute_all(*prepared, request.vary), baseline, prepared->published);
        return writer->write(writer->exporter().to_string(comparison), invocation);
    } catch (const scenarios::RunError& error) {
        invocation.err << "uringsim: the run stopped: " << error.what() << '\n';
        return exit_status::failed;
    }
}

} // namespace uringsim::analysis
