#pragma once

#include "scenarios/result.h"
#include "scenarios/strict_json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uringsim::analysis {

class Library;

/// What a published figure gives: the cost of an operation, of a round, or a change.
enum class Metric : std::uint8_t {
    ns_per_operation,
    us,
    percent,
    latency,   ///< a percentile of a latency histogram, ns: "name": "sender.p50"
    operations ///< operations of the phase in one round
};

std::string_view metric_name(Metric metric);

/// A figure that someone measured and published, with the run that it belongs to.
///
/// File format (scenarios/published/*.json):
///
///     { "source": "rfc-rsrc-node-allocation", "citation": "where to read it",
///       "figures": [
///         { "id": "rfc-f0-U", "scenario": "first-fill", "parameters": { "slots": 4096 },
///           "design": "linux-6.18", "machine": "i7-12700kf", "phase": "fill",
///           "metric": "ns_per_operation", "value": 119.423, "unit": "ns/install",
///           "noise_pct": 1.28, "gate": "pass", "use": "fit" } ] }
///
/// Optional: parameters; knobs (changed on the design); noise_pct; gate; and baseline, the design
/// that a percent figure is a change against, which only such a figure has and must have.
struct PublishedFigure {
    std::string source;
    std::string citation;
    std::string id;
    std::string scenario;
    std::vector<std::pair<std::string, std::int64_t>> parameters;
    std::string design;
    std::vector<std::pair<std::string, std::string>> knobs; ///< name, value as users write it
    std::string baseline;
    std::string machine;
    std::string phase;
    Metric metric = Metric::ns_per_operation;
    std::string subject; ///< "name": which percentile, for Metric::latency; else empty
    double value = 0;
    std::string unit;
    std::optional<double> noise_percent; ///< nothing where the source gives none
    std::optional<bool> gate_passed;     ///< nothing where the source has no gate
    bool fitted = false;                 ///< used to choose costs; else a prediction
};

/// A published figure beside the simulated one.
struct PublishedMatch {
    PublishedFigure figure;
    double simulated = 0; ///< in the figure's metric
    /// Percent of the published value; for Metric::percent the difference in points.
    double error = 0;
};

/// Reads a file of published figures strictly. Nothing after reporting.
std::optional<std::vector<PublishedFigure>> read_published(const scenarios::JsonNode& root,
                                                           scenarios::Diagnostics& diagnostics);

/// All figures of the library.
std::vector<PublishedFigure> load_published(const Library& library,
                                            scenarios::Diagnostics& diagnostics);

/// Whether a figure is of this scenario, machine, design and of the effective parameters.
bool describes(const PublishedFigure& figure, const scenarios::Result& result,
               const std::vector<scenarios::Setting>& changed_knobs);

/// The figures of costs that belong to a run, each beside its simulated value.
std::vector<PublishedMatch> match_published(const std::vector<PublishedFigure>& figures,
                                            const scenarios::Result& result,
                                            const std::vector<scenarios::Setting>& changed_knobs);

} // namespace uringsim::analysis
