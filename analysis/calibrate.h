#pragma once

#include "analysis/fit.h"
#include "analysis/library.h"
#include "analysis/published.h"
#include "models/machine.h"
#include "scenarios/strict_json.h"

#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis {

/// Chooses a machine's free costs by measurements.
///
/// The time of a phase on one CPU is the sum of count x cost, so the counts are simulated once and
/// the costs follow by least squares (analysis/fit.h): towards the priors, which are the defaults
/// of the primitive table, within its physical ranges. The counts are taken with every free cost at
/// its prior, so that the outcome does not depend on what the file held before; then with the new
/// costs, to see that they have not moved, and if they have (work on other CPUs overlaps
/// differently), again from those.

/// What a fit assumes of figures and priors, where nothing better is known.
inline constexpr double fit_sigma_percent = 0.5;     ///< model error of a figure; noise is added
inline constexpr double prior_spread_fraction = 0.5; ///< of the prior
inline constexpr int max_fit_passes = 8;

/// A cost before and after.
struct CalibratedCost {
    models::Primitive primitive{};
    double before_cycles = 0;
    double after_cycles = 0;
    models::Cost cost; ///< after, with provenance and source
};

/// How far leaving out one figure of the fit moves a figure that is predicted.
struct CalibrationMove {
    std::string left_out;
    std::string moved;  ///< the predicted figure that moves most
    double percent = 0; ///< of what it was
};

/// Beyond this a model is over-fitted: it hangs on a single figure.
inline constexpr double max_move_percent = 3;

struct Calibration {
    std::string machine;
    std::vector<PublishedFigure> figures; ///< fitted to
    FitProblem problem;
    FitResult fit;
    int passes = 1; ///< simulations of the counts until they did not move
    bool settled = true;
    std::vector<CalibratedCost> free;
    std::vector<models::Primitive> used; ///< by the figures, not free: assumed or as the file says
    models::Machine before;
    models::Machine after;
    std::vector<CalibrationMove> moves; ///< one a figure; empty where nothing is predicted
    std::string machine_file; ///< the machine's file with the new costs, always laid out alike
};

/// `machine_file` is the parsed file of the machine, `figures` those to fit (costs only; of that
/// machine), `predicted` others of it, by which over-fitting shows. Nothing after reporting: no
/// free costs are named, there are not more figures than costs, a cost is in none of them, or a
/// figure is no sum of costs. Throws scenarios::RunError.
std::optional<Calibration> calibrate(const Library& library,
                                     const scenarios::JsonNode& machine_file,
                                     const std::vector<PublishedFigure>& figures,
                                     const std::vector<PublishedFigure>& predicted, unsigned jobs,
                                     scenarios::Diagnostics& diagnostics);

/// The figures of a result file, as `run --format json` and native runs write them: each phase that
/// holds no other is one, to be fitted, on `machine`. Its noise is the scatter of the rounds.
/// Nothing after reporting.
std::optional<std::vector<PublishedFigure>> figures_of_result(const scenarios::JsonNode& root,
                                                              const Library& library,
                                                              const std::string& machine,
                                                              scenarios::Diagnostics& diagnostics);

} // namespace uringsim::analysis
