#include "analysis/published_change.h"

#include "analysis/validate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace uringsim::analysis {

namespace {

double change_percent(double before, double after) {
    constexpr double percent = 100.0;
    return (after / before - 1.0) * percent;
}

std::optional<double> combined_noise(const PublishedFigure& before, const PublishedFigure& after) {
    if (!before.noise_percent || !after.noise_percent) {
        return std::nullopt;
    }
    return std::hypot(*before.noise_percent, *after.noise_percent);
}

Sign sign_of(const PublishedChange& change) {
    if (std::abs(change.published_percent) <= change.noise_percent.value_or(0)) {
        return Sign::within_noise;
    }
    const bool same = same_sign(change.published_percent, change.simulated_percent);
    return same ? Sign::right : Sign::wrong;
}

PublishedChange change_between(const ValidatedFigure& before, const ValidatedFigure& after) {
    PublishedChange change;
    change.source = after.figure.source;
    change.id = after.figure.id;
    change.against = before.figure.id;
    change.published_percent = change_percent(before.figure.value, after.figure.value);
    change.simulated_percent = change_percent(before.simulated, after.simulated);
    change.noise_percent = combined_noise(before.figure, after.figure);
    change.sign = sign_of(change);
    change.judged = before.figure.is_judged() && after.figure.is_judged();
    return change;
}

} // namespace

std::string_view sign_name(Sign sign) {
    static constexpr std::array<std::string_view, 3> names{"right", "wrong", "within noise"};
    return names.at(static_cast<std::size_t>(sign));
}

bool same_sign(double a, double b) {
    return (a > 0) == (b > 0) && (a < 0) == (b < 0);
}

std::vector<PublishedChange> changes_between(const std::vector<ValidatedFigure>& figures) {
    std::vector<PublishedChange> changes;
    for (const ValidatedFigure& after : figures) {
        const auto before = std::ranges::find_if(figures, [&](const ValidatedFigure& each) {
            return each.figure.id == after.figure.against &&
                   each.figure.source == after.figure.source;
        });
        if (before != figures.end()) {
            changes.push_back(change_between(*before, after));
        }
    }
    return changes;
}

} // namespace uringsim::analysis
