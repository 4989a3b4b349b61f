#include "analysis/export/document.h"
#include "analysis/export/numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::analysis {

namespace {

constexpr std::size_t max_id_width = 26;

std::string figures_text(const ErrorSummary& summary) {
    return summary.figures > 0 ? fmt::format("{}", summary.figures) : "";
}

std::string percent_text(const ErrorSummary& summary, double value) {
    return summary.figures > 0 ? fmt::format("{:.2f} %", value) : "";
}

void add_source(Table& table, const SourceValidation& source) {
    table.add_row(
        {source.source, figures_text(source.fitted),
         percent_text(source.fitted, source.fitted.mean),
         percent_text(source.fitted, source.fitted.worst), figures_text(source.predicted),
         percent_text(source.predicted, source.predicted.mean),
         percent_text(source.predicted, source.predicted.worst), figures_text(source.not_judged),
         percent_text(source.not_judged, source.not_judged.mean),
         percent_text(source.not_judged, source.not_judged.worst), figures_text(source.changes),
         source.changes.figures > 0 ? fmt::format("{:.2f} pt", source.changes.worst) : "",
         source.counts > 0 ? fmt::format("{}/{}", source.counts_exact, source.counts) : ""});
}

Section summary_section(const Validation& validation) {
    Table table({{"source", Align::left},
                 {"fit"},
                 {"MAPE"},
                 {"worst"},
                 {"predict"},
                 {"MAPE"},
                 {"worst"},
                 {"shown only"},
                 {"MAPE"},
                 {"worst"},
                 {"changes"},
                 {"worst"},
                 {"exact counts"}});
    const auto has_figures = [](const SourceValidation& source) {
        return source.fitted.figures + source.predicted.figures + source.not_judged.figures +
                   source.changes.figures + source.counts >
               0;
    };
    for (const SourceValidation& source : validation.sources) {
        if (has_figures(source)) { // a file may list only what cannot be expressed
            add_source(table, source);
        }
    }
    if (validation.sources.size() > 1) {
        add_source(table, validation.total);
    }
    table.drop_empty_columns();
    Section section{"simulated against published", std::move(table), {}};
    section.lines.push_back(fmt::format(
        "predicted, over all sources: {} figures, mean error {:.2f} %, at most {} % asked{}",
        validation.total.predicted.figures, validation.total.predicted.mean,
        validation.total.limits.mape_percent,
        validation.total.mean_is_good ? "" : ", which is over it"));
    for (const SourceValidation& source : validation.sources) {
        if (!source.mean_is_good) {
            section.lines.push_back(fmt::format("{}: the mean error of predictions is over {} %",
                                                source.source, source.limits.mape_percent));
        }
    }
    return section;
}

std::string use_text(const PublishedFigure& figure) {
    return is_exact(figure.metric) ? "count" : figure.fitted ? "fit" : "predict";
}

Section source_section(const Validation& validation, const PublishedFile& file) {
    Table table({{"figure", Align::left},
                 {"published"},
                 {"simulated"},
                 {"error"},
                 {"noise"},
                 {"use", Align::left},
                 {"verdict", Align::left}});
    for (const ValidatedFigure& cell : validation.figures) {
        const PublishedFigure& figure = cell.figure;
        if (figure.source != file.source) {
            continue;
        }
        table.add_row({shortened(figure.id, max_id_width), metric_text(figure.metric, figure.value),
                       metric_text(figure.metric, cell.simulated),
                       error_text(figure.metric, cell.error),
                       figure.noise_percent ? fmt::format("{:.2f} %", *figure.noise_percent) : "",
                       use_text(figure), std::string(verdict_name(cell.verdict))});
    }
    table.drop_empty_columns();
    Section section{file.source, std::move(table), {file.citation}};
    for (const PublishedFigure& figure : file.figures) {
        if (!figure.note.empty()) {
            section.lines.push_back(fmt::format("{}: {}", figure.id, figure.note));
        }
    }
    for (const NotExpressed& row : file.not_expressed) {
        section.lines.push_back(fmt::format("not simulated: {}: {}", row.id, row.reason));
    }
    return section;
}

/// "right"; "wrong, not judged" where a figure's own gate failed.
std::string sign_text(const PublishedChange& change) {
    const bool open = change.sign == Sign::within_noise || change.judged;
    return fmt::format("{}{}", sign_name(change.sign), open ? "" : ", not judged");
}

Section changes_section(const Validation& validation) {
    Table table({{"figure", Align::left},
                 {"against", Align::left},
                 {"published"},
                 {"simulated"},
                 {"off"},
                 {"noise"},
                 {"sign", Align::left}});
    constexpr std::size_t max_width = 20;
    for (const PublishedChange& change : validation.between) {
        const double off = change.simulated_percent - change.published_percent;
        table.add_row({shortened(change.id, max_width), shortened(change.against, max_width),
                       metric_text(Metric::percent, change.published_percent),
                       metric_text(Metric::percent, change.simulated_percent),
                       error_text(Metric::percent, off),
                       change.noise_percent ? fmt::format("{:.2f}", *change.noise_percent) : "",
                       sign_text(change)});
    }
    return {"changes from one published figure to another",
            std::move(table),
            {"noise: of the two figures together, in points; a change that is no larger has no "
             "sign"}};
}

std::size_t signs_wrong(const Validation& validation) {
    const auto wrong = [](const PublishedChange& each) { return each.sign == Sign::wrong; };
    return validation.total.signs_wrong +
           static_cast<std::size_t>(std::ranges::count_if(validation.between, wrong));
}

std::string verdict_text(const Validation& validation) {
    std::size_t not_judged = 0;
    for (const ValidatedFigure& cell : validation.figures) {
        not_judged += cell.verdict == Verdict::not_judged ? 1 : 0;
    }
    const SourceValidation& total = validation.total;
    return fmt::format("{} figures: {} good, {} broken, {} percentiles outside (as many are "
                       "allowed), {} not judged; {} signs wrong",
                       validation.figures.size(),
                       validation.figures.size() - total.broken - total.outside - not_judged,
                       total.broken, total.outside, not_judged, signs_wrong(validation));
}

} // namespace

Document describe(const Validation& validation) {
    Document document;
    document.title = "accuracy";
    document.facts = {
        verdict_text(validation),
        "fit: figures that costs were chosen by; predict: figures that nothing was chosen by; not "
        "judged: the source's own stability gate failed, or the note below says why"};
    document.sections.push_back(summary_section(validation));
    if (!validation.between.empty()) {
        document.sections.push_back(changes_section(validation));
    }
    for (const PublishedFile& file : validation.files) {
        if (validation.brief) {
            break;
        }
        document.sections.push_back(source_section(validation, file));
    }
    return document;
}

} // namespace uringsim::analysis
