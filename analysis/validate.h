#pragma once

#include "analysis/library.h"
#include "analysis/published.h"
#include "analysis/published_change.h"
#include "scenarios/strict_json.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis {

/// What is said of a simulated figure.
enum class Verdict {
    good,       ///< within its limit, a change of the right sign; exact where it is counted
    broken,     ///< not so
    outside,    ///< a percentile not so, of which the file allows as many
    not_judged, ///< its own source's gate failed, or the file says why it cannot be held to a limit
};

std::string_view verdict_name(Verdict verdict);

/// A published figure beside the simulated one.
struct ValidatedFigure {
    PublishedFigure figure;
    double simulated = 0;   ///< in the figure's metric
    double error = 0;       ///< percent; for a change points; for a count the difference
    bool sign_right = true; ///< of a change that is larger than its noise
    Verdict verdict = Verdict::good;
};

/// The errors of several figures.
struct ErrorSummary {
    std::size_t figures = 0;
    double mean = 0;      ///< of the absolute errors: MAPE for costs
    double worst = 0;     ///< absolute
    std::string worst_id; ///< empty where there are no figures
};

/// A source, or all of them.
struct SourceValidation {
    std::string source;
    PublishedLimits limits;
    ErrorSummary fitted;     ///< costs that the machine was fitted to
    ErrorSummary predicted;  ///< costs that it was not, and that are judged
    ErrorSummary not_judged; ///< predicted costs that are shown only
    ErrorSummary changes;    ///< in points
    std::size_t signs_wrong = 0;
    std::size_t counts = 0;
    std::size_t counts_exact = 0;
    std::size_t broken = 0;   ///< figures
    std::size_t outside = 0;  ///< figures
    bool mean_is_good = true; ///< the mean error of predicted costs is within limits.mape_percent
};

struct Validation {
    std::vector<PublishedFile> files;
    std::vector<ValidatedFigure> figures;  ///< in the order of the files
    std::vector<SourceValidation> sources; ///< one a file
    SourceValidation total;                ///< over all files, by the default limits
    std::vector<PublishedChange> between;  ///< what figures change against each other
    bool brief = false; ///< for people: the sources without their figures

    bool is_good() const;
};

/// Simulates every figure of the files on at most `jobs` threads. Nothing after reporting. Throws
/// scenarios::RunError.
std::optional<Validation> validate(const Library& library, std::vector<PublishedFile> files,
                                   unsigned jobs, scenarios::Diagnostics& diagnostics);

} // namespace uringsim::analysis
