#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

/// The solver behind `calibrate`: bounded, regularised linear least squares. It knows nothing of
/// kernels, machines or files: unknowns with a prior and a range, and measurements that are linear
/// in them.
namespace uringsim::analysis {

/// What is to be found.
struct FitUnknown {
    std::string name;
    double prior = 0;
    double min = 0;
    double max = 0;    ///< min <= prior <= max
    double spread = 0; ///< one standard deviation of the prior; above 0
};

/// A measurement: constant + sum of coefficient x unknown should be `target`.
struct FitMeasurement {
    std::string name;
    std::vector<double> coefficients; ///< one an unknown, in their order
    double constant = 0;
    double target = 0;
    double sigma = 0; ///< one standard deviation of the target; above 0
};

struct FitProblem {
    std::vector<FitUnknown> unknowns;
    std::vector<FitMeasurement> measurements;
};

/// How a value was come by.
enum class FitStanding {
    determined, ///< the measurements say it
    at_prior,   ///< they cannot: it stays where it was before
};

struct FittedValue {
    double value = 0;
    FitStanding standing = FitStanding::determined;
    /// The share of the value that the measurements decide, 0 to 1; the prior decides the rest.
    double resolution = 0;
    double standard_error = 0; ///< of the measurements and the prior together
    bool at_bound = false;
    /// For a value at its prior: the unknowns whose effect on the measurements is nearly the same
    /// (cosine of the columns at least 0.9), most alike first. Empty: the measurements hardly
    /// depend on it at all.
    std::vector<std::string> confused_with;
};

/// A measurement beside what the fit makes of it.
struct FitResidual {
    double fitted = 0;
    double left_out = 0; ///< predicted by a fit to the other measurements
    std::vector<double> left_out_values; ///< the values of that fit, in the order of the unknowns
};

struct FitResult {
    std::vector<FittedValue> values;    ///< in the order of the unknowns
    std::vector<FitResidual> residuals; ///< in the order of the measurements
    /// Largest by smallest singular value of the measurements' matrix, in units of the priors'
    /// spreads and of the measurements' sigmas, over the determined unknowns.
    double condition = 0;
    std::size_t determined = 0;
};

/// At least this share of a value has to come from the measurements, else it stays at its prior.
inline constexpr double min_resolution = 0.5;

/// Minimises the sum of ((constant + A x - target) / sigma)^2 + ((x - prior) / spread)^2 within the
/// ranges. One after another, the unknown whose resolution is lowest and below min_resolution is
/// put at its prior and left out. Values are rounded to thousandths, so that the last bits of
/// floating point, which differ between compilers, do not show.
FitResult fit(const FitProblem& problem);

} // namespace uringsim::analysis
