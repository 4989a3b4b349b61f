#pragma once

#include "analysis/published.h"
#include "analysis/run.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis {

/// What one mechanism adds to a change.
struct MovedMechanism {
    std::string mechanism;
    double ns_per_operation = 0; ///< positive: dearer than on the baseline
};

/// One phase on one design against the same phase on the baseline.
struct Change {
    std::string phase;
    std::string design;
    std::string baseline;
    std::optional<double> change_percent; ///< nothing where the baseline costs nothing
    double change_ns_per_operation = 0;
    /// Every mechanism whose cost differs, largest difference first. They sum to the change.
    std::vector<MovedMechanism> moved;
};

/// The runs of one scenario on several designs, and what differs.
struct Comparison {
    std::vector<Run> runs; ///< in the order asked for
    std::size_t baseline = 0;
    std::vector<Change> changes; ///< by phase, then by design; without the baseline itself
    std::vector<PublishedMatch> published; ///< figures of changes, in percent and points

    const Run& baseline_run() const { return runs.at(baseline); }

    /// Nothing for the baseline.
    const Change* find_change(const std::string& phase, const std::string& design) const;

    /// The index of the design on which a phase is cheapest; nothing where two are.
    std::optional<std::size_t> fastest(const std::string& phase) const;
};

/// Compares runs of one scenario on one machine with the run at `baseline`. `figures` may hold
/// changes that were published.
Comparison compare(std::vector<Run> runs, std::size_t baseline,
                   const std::vector<PublishedFigure>& figures);

/// What a phase costs by mechanism, an operation, in the order of the ledger.
std::vector<MovedMechanism> cost_by_mechanism(const scenarios::Result& result,
                                              const scenarios::PhaseResult& phase);

} // namespace uringsim::analysis
