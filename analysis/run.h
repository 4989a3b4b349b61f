#pragma once

#include "analysis/library.h"
#include "analysis/published.h"
#include "models/design.h"
#include "models/machine.h"
#include "scenarios/configuration.h"
#include "scenarios/result.h"
#include "scenarios/scenario.h"
#include "scenarios/strict_json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis {

/// A knob that takes several values in turn; each makes a design of its own of every design asked
/// for.
struct KnobVariation {
    std::string knob;
    std::vector<std::string> values;
};

/// What a user asks for: a scenario, and what shall differ from what it says.
struct RunRequest {
    std::string scenario;                   ///< a shipped name or a path
    std::vector<std::string> designs;       ///< none: the scenario's own
    std::string design_option = "--design"; ///< where they were given, for messages
    std::optional<std::string> machine;
    scenarios::ParameterOverrides parameters;
    scenarios::KnobOverrides knobs; ///< for every design
    std::optional<std::uint64_t> seed;
    std::optional<KnobVariation> vary = std::nullopt;
};

/// A design of a run, with the knobs that the user changed on it.
struct EffectiveDesign {
    models::Design design;
    std::vector<scenarios::Setting> changed; ///< knobs whose value is not the named design's
};

/// Everything read and checked: what a run needs.
struct PreparedRuns {
    scenarios::Scenario scenario;
    std::vector<EffectiveDesign> designs; ///< in the order asked for
    models::Machine machine;
    std::vector<PublishedFigure> published;
};

/// A run that is done: the result, what it was run on, and what others measured.
struct Run {
    scenarios::Result result;
    models::Machine machine;
    std::vector<scenarios::Setting> changed_knobs;
    std::vector<PublishedMatch> published;
};

/// Reads all that a request names. Nothing after reporting every error that was found.
std::optional<PreparedRuns> prepare(const Library& library, const RunRequest& request,
                                    scenarios::Diagnostics& diagnostics);

/// The same for a scenario that has been parsed; without published figures.
std::optional<PreparedRuns> prepare_parsed(const Library& library, const scenarios::JsonNode& root,
                                           const RunRequest& request,
                                           scenarios::Diagnostics& diagnostics);

/// Runs one of the prepared designs. Throws scenarios::RunError.
Run execute(const PreparedRuns& prepared, const EffectiveDesign& design);

/// The place among the scenario's phases of the one that --phase names; the first where it is not
/// given, or after reporting.
std::size_t find_phase(const scenarios::Scenario& scenario,
                       const std::optional<std::string>& wanted,
                       scenarios::Diagnostics& diagnostics);

/// What one operation of a phase costs, by the mean of its measured rounds.
double ns_per_operation(const scenarios::Result& result, const scenarios::PhaseResult& phase);

} // namespace uringsim::analysis
