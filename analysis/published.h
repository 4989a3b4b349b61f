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

/// What a published figure gives.
enum class Metric : std::uint8_t {
    ns_per_operation,
    us,                ///< a round of the phase
    percent,           ///< a change of a phase against the same phase on another design
    per_second,        ///< operations of the phase in a second
    latency,           ///< a percentile of a latency histogram in ns: "name": "sender.p50"
    operations,        ///< operations of the phase in one round
    counter,           ///< an event counter, of the phase or, without one, of the whole run; exact
    counter_per_round, ///< an event counter of a phase in one round; exact
    snapshot,          ///< nodes cached at the last snapshot of that name; exact
    memory,            ///< a figure of the run's memory by name; exact
};

std::string_view metric_name(Metric metric);

/// True for what is counted: the simulated value has to equal the published one.
bool is_exact(Metric metric);

/// True for what costs time: the mean of a phase, or its rate.
bool is_cost(Metric metric);

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
/// Optional: parameters; knobs (changed on the design); noise_pct; gate; note; limit_pct (the error
/// that is allowed, in place of the file's); judged: false, for a figure that is shown but cannot
/// break a gate, whose note says why; and baseline, the design that a percent figure is a change
/// against, which only such a figure has and must have. "against": the id of a figure of the same
/// metric in the file: the change from that one is compared as well. A figure that is counted has a "name": of
/// the counter, of the snapshot, or of the memory figure; its phase is optional for a counter of
/// the whole run and absent for snapshots and memory. "apart": events that our run counts besides
/// what the source counted, which are taken off; the note says what they are.
///
/// Optional in the file: "limits": { "cell_pct": 4, "points": 2, "mape_pct": 1.5 }, what errors
/// validate lets pass: of one predicted cost, of one change, and of the mean over the file's
/// predicted costs; "outliers" in it is how many percentiles of latencies may be outside; and "not_expressed": [ { "id": "x", "reason": "why no shipped scenario says
/// it" } ].
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
    std::string phase; ///< empty for what is counted over a whole run
    Metric metric = Metric::ns_per_operation;
    std::string against; ///< id of the figure that validate also shows the change from; or empty
    std::string subject; ///< "name": the counter, snapshot or memory figure; percentile; else empty
    double value = 0;
    std::string unit;
    std::optional<double> noise_percent; ///< nothing where the source gives none
    std::optional<bool> gate_passed;     ///< nothing where the source has no gate
    bool fitted = false;                 ///< used to choose costs; else a prediction
    double limit = 0; ///< error allowed: percent of the value, for a change points, 0 where exact
    bool judged = true;
    std::string note;
    std::uint64_t apart = 0; ///< events of the run that the source did not count

    /// Whether validate holds the figure to its limit: not where its own source's gate failed.
    bool is_judged() const { return judged && gate_passed.value_or(true); }
};

/// What a source's predictions have to keep to.
struct PublishedLimits {
    std::uint64_t outliers = 0; ///< percentiles of latencies that may be outside cell_percent
    double cell_percent = 4;
    double points = 2;
    double mape_percent = 2.5;
};

/// A figure of a source that no shipped scenario can express.
struct NotExpressed {
    std::string id;
    std::string reason;
};

/// A file of published figures.
struct PublishedFile {
    std::string source;
    std::string citation;
    PublishedLimits limits;
    std::vector<PublishedFigure> figures;
    std::vector<NotExpressed> not_expressed;
};

/// A published figure beside the simulated one.
struct PublishedMatch {
    PublishedFigure figure;
    double simulated = 0; ///< in the figure's metric
    /// Percent of the published value; for Metric::percent the difference in points.
    double error = 0;
};

/// Reads a file of published figures strictly. Nothing after reporting.
std::optional<PublishedFile> read_published(const scenarios::JsonNode& root,
                                            scenarios::Diagnostics& diagnostics);

/// All files of published figures in the library, in alphabetical order.
std::vector<PublishedFile> load_published_files(const Library& library,
                                                scenarios::Diagnostics& diagnostics);

/// All figures of the library.
std::vector<PublishedFigure> load_published(const Library& library,
                                            scenarios::Diagnostics& diagnostics);

/// The simulated value of a figure that is no change; nothing where the run has no such phase,
/// counter or snapshot.
std::optional<double> simulated_value(const PublishedFigure& figure,
                                      const scenarios::Result& result);

/// Whether a figure is of this scenario, machine, design and of the effective parameters.
bool describes(const PublishedFigure& figure, const scenarios::Result& result,
               const std::vector<scenarios::Setting>& changed_knobs);

/// The figures of costs that belong to a run, each beside its simulated value.
std::vector<PublishedMatch> match_published(const std::vector<PublishedFigure>& figures,
                                            const scenarios::Result& result,
                                            const std::vector<scenarios::Setting>& changed_knobs);

} // namespace uringsim::analysis
