#pragma once

#include "analysis/published.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis {

struct ValidatedFigure;

/// Whether a simulated change goes the way that the published one does.
enum class Sign {
    right,
    wrong,
    within_noise, ///< the published change is no larger than its noise: it has no sign
};

std::string_view sign_name(Sign sign);

/// Both above 0, or both below, or both 0.
bool same_sign(double a, double b);

/// The change from one published figure to another, as a rule from one design to the next, beside
/// the simulated one. A figure names the other one by "against".
struct PublishedChange {
    std::string source;
    std::string id;
    std::string against;
    double published_percent = 0;
    double simulated_percent = 0;
    /// Of the difference of the two figures: the root of the sum of their squared noises, in
    /// percent. Nothing where the source gives none.
    std::optional<double> noise_percent;
    Sign sign = Sign::right;
    bool judged = true; ///< both figures are

    bool is_broken() const { return judged && sign == Sign::wrong; }
};

/// All changes among figures that were simulated, in the order of the figures.
std::vector<PublishedChange> changes_between(const std::vector<ValidatedFigure>& figures);

} // namespace uringsim::analysis
