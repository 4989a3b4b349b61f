#include "analysis/validate.h"

#include "analysis/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace uringsim::analysis {

using scenarios::Diagnostics;

namespace {

constexpr double percent = 100.0;

/// What an ErrorSummary is made of.
class Errors {
  public:
    void add(const ValidatedFigure& cell) {
        ++summary_.figures;
        sum_ += std::abs(cell.error);
        if (std::abs(cell.error) > summary_.worst || summary_.worst_id.empty()) {
            summary_.worst = std::abs(cell.error);
            summary_.worst_id = cell.figure.id;
        }
    }

    ErrorSummary summary() const {
        ErrorSummary summary = summary_;
        if (summary.figures > 0) {
            summary.mean = sum_ / static_cast<double>(summary.figures);
        }
        return summary;
    }

  private:
    ErrorSummary summary_;
    double sum_ = 0;
};

std::optional<double> simulated_change(const PublishedFigure& figure, const FigureRuns& runs,
                                       std::size_t index) {
    const scenarios::PhaseResult* before = runs.baseline(index).find_phase(figure.phase);
    const scenarios::PhaseResult* after = runs.result(index).find_phase(figure.phase);
    if (before == nullptr || after == nullptr) {
        return std::nullopt;
    }
    return (ns_per_operation(runs.result(index), *after) /
                ns_per_operation(runs.baseline(index), *before) -
            1.0) *
           percent;
}

double error_of(const PublishedFigure& figure, double simulated) {
    if (figure.metric == Metric::percent || is_exact(figure.metric)) {
        return simulated - figure.value;
    }
    return (simulated / figure.value - 1.0) * percent;
}

/// A published change that is no larger than its noise has no sign to be right about.
bool has_right_sign(const PublishedFigure& figure, double simulated) {
    return figure.metric != Metric::percent ||
           std::abs(figure.value) <= figure.noise_percent.value_or(0) ||
           same_sign(figure.value, simulated);
}

/// A figure that scatters cannot be held to less than its scatter; one that is counted does not.
double allowed(const PublishedFigure& figure) {
    return is_exact(figure.metric) ? figure.limit
                                   : std::max(figure.limit, figure.noise_percent.value_or(0));
}

ValidatedFigure judged(const PublishedFigure& figure, double simulated) {
    ValidatedFigure cell{figure, simulated, error_of(figure, simulated),
                         has_right_sign(figure, simulated), Verdict::good};
    if (!figure.is_judged()) {
        cell.verdict = Verdict::not_judged;
    } else if (std::abs(cell.error) > allowed(figure) || !cell.sign_right) {
        cell.verdict = Verdict::broken;
    }
    return cell;
}

/// Percentiles are judged together: so many of a source may be outside its common limit.
void allow_outliers(std::vector<ValidatedFigure>& figures, const PublishedFile& file) {
    std::vector<ValidatedFigure*> missed;
    for (ValidatedFigure& cell : figures) {
        if (cell.figure.source == file.source && cell.verdict == Verdict::broken &&
            cell.figure.metric == Metric::latency &&
            cell.figure.limit == file.limits.cell_percent) {
            missed.push_back(&cell);
        }
    }
    if (missed.size() <= file.limits.outliers) {
        std::ranges::for_each(missed, [](auto* cell) { cell->verdict = Verdict::outside; });
    }
}

template <class Belongs>
SourceValidation summarise(const std::vector<ValidatedFigure>& figures,
                           const PublishedLimits& limits, const std::string& name,
                           const Belongs& belongs) {
    SourceValidation source;
    source.source = name;
    source.limits = limits;
    Errors fitted;
    Errors predicted;
    Errors shown;
    Errors changes;
    for (const ValidatedFigure& cell : figures) {
        if (!belongs(cell.figure)) {
            continue;
        }
        source.broken += cell.verdict == Verdict::broken ? 1 : 0;
        source.outside += cell.verdict == Verdict::outside ? 1 : 0;
        source.signs_wrong += cell.sign_right ? 0 : 1;
        if (is_exact(cell.figure.metric)) {
            ++source.counts;
            source.counts_exact += cell.error == 0 ? 1 : 0;
        } else if (cell.figure.metric == Metric::percent) {
            changes.add(cell);
        } else if (cell.figure.fitted) {
            fitted.add(cell);
        } else {
            (cell.verdict == Verdict::not_judged ? shown : predicted).add(cell);
        }
    }
    source.fitted = fitted.summary();
    source.predicted = predicted.summary();
    source.not_judged = shown.summary();
    source.changes = changes.summary();
    source.mean_is_good = source.predicted.mean <= limits.mape_percent;
    return source;
}

} // namespace

std::string_view verdict_name(Verdict verdict) {
    static constexpr std::array<std::string_view, 4> names{"good", "broken", "outside", "not judged"};
    return names.at(static_cast<std::size_t>(verdict));
}

bool Validation::is_good() const {
    return total.broken == 0 && total.mean_is_good &&
           std::ranges::none_of(between, &PublishedChange::is_broken) &&
           std::ranges::all_of(sources, &SourceValidation::mean_is_good);
}

std::optional<Validation> validate(const Library& library, std::vector<PublishedFile> files,
                                   unsigned jobs, Diagnostics& diagnostics) {
    std::vector<PublishedFigure> figures;
    for (const PublishedFile& file : files) {
        figures.insert(figures.end(), file.figures.begin(), file.figures.end());
    }
    auto runs = FigureRuns::plan(library, figures, {}, diagnostics);
    if (!runs) {
        return std::nullopt;
    }
    runs->execute(jobs);
    Validation validation;
    for (std::size_t i = 0; i < figures.size(); ++i) {
        const auto simulated = figures[i].metric == Metric::percent
                                   ? simulated_change(figures[i], *runs, i)
                                   : simulated_value(figures[i], runs->result(i));
        if (!simulated) {
            diagnostics.add_option(fmt::format("figure {} of {}", figures[i].id, figures[i].source),
                                   fmt::format("{} has no phase, counter or snapshot of that name",
                                               figures[i].scenario));
            continue;
        }
        validation.figures.push_back(judged(figures[i], *simulated));
    }
    if (!diagnostics.empty()) {
        return std::nullopt;
    }
    for (const PublishedFile& file : files) {
        allow_outliers(validation.figures, file);
        validation.sources.push_back(
            summarise(validation.figures, file.limits, file.source,
                      [&](const PublishedFigure& figure) { return figure.source == file.source; }));
    }
    validation.total = summarise(validation.figures, {}, "all sources",
                                 [](const PublishedFigure&) { return true; });
    validation.between = changes_between(validation.figures);
    validation.files = std::move(files);
    return validation;
}

} // namespace uringsim::analysis
