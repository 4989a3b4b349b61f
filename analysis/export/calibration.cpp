#include "analysis/export/calibration.h"

#include "analysis/export/document.h"
#include "analysis/export/numbers.h"
#include "analysis/export/table.h"
#include "models/primitives.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace uringsim::analysis {

namespace {

constexpr double percent = 100.0;

Section determined_section(const Calibration& calibration) {
    Table table({{"cost", Align::left},
                 {"before"},
                 {"after"},
                 {"+/-"},
                 {"ns"},
                 {"prior"},
                 {"from data"},
                 {"", Align::left}});
    for (std::size_t j = 0; j < calibration.free.size(); ++j) {
        const CalibratedCost& cost = calibration.free[j];
        const FittedValue& value = calibration.fit.values[j];
        if (value.standing == FitStanding::determined) {
            table.add_row({std::string(models::info(cost.primitive).name),
                           fmt::format("{:.3f}", cost.before_cycles),
                           fmt::format("{:.3f}", cost.after_cycles),
                           fmt::format("{:.1f}", value.standard_error),
                           short_number(calibration.after.ns_of_cycles(cost.after_cycles)),
                           fmt::format("{}", models::info(cost.primitive).default_cycles),
                           fmt::format("{:.0f} %", std::floor(value.resolution * percent)),
                           value.at_bound ? "end of range" : ""});
        }
    }
    table.drop_empty_columns();
    return {"determined by the figures (cycles)", std::move(table), {}};
}

Section at_prior_section(const Calibration& calibration) {
    Section section{"free, but left at the prior", std::nullopt, {}};
    for (std::size_t j = 0; j < calibration.free.size(); ++j) {
        const CalibratedCost& cost = calibration.free[j];
        if (calibration.fit.values[j].standing == FitStanding::at_prior) {
            section.lines.push_back(fmt::format("{} {} cycles: {}",
                                                models::info(cost.primitive).name,
                                                cost.after_cycles, cost.cost.source));
        }
    }
    if (section.lines.empty()) {
        section.lines.emplace_back("none");
    }
    return section;
}

Section other_section(const Calibration& calibration) {
    Section section{
        "not free: as the machine's file or the primitive table has them", std::nullopt, {}};
    for (const models::Provenance provenance :
         {models::Provenance::published, models::Provenance::measured, models::Provenance::fitted,
          models::Provenance::assumed}) {
        std::vector<std::string_view> names;
        for (const models::Primitive primitive : calibration.used) {
            if (calibration.before.cost(primitive).provenance == provenance) {
                names.push_back(models::info(primitive).name);
            }
        }
        if (!names.empty()) {
            section.lines.push_back(
                fmt::format("{}: {}", models::name(provenance), fmt::join(names, ", ")));
        }
    }
    return section;
}

Section residual_section(const Calibration& calibration) {
    Table table(
        {{"figure", Align::left}, {"value"}, {"fitted"}, {"error"}, {"left out"}, {"noise"}});
    for (std::size_t i = 0; i < calibration.figures.size(); ++i) {
        const PublishedFigure& figure = calibration.figures[i];
        const FitMeasurement& row = calibration.problem.measurements[i];
        const FitResidual& residual = calibration.fit.residuals[i];
        const auto error = [&](double fitted) {
            return fmt::format("{:+.2f} %", (fitted / row.target - 1) * percent);
        };
        table.add_row({shortened(figure.id, 34), short_number(row.target),
                       short_number(residual.fitted), error(residual.fitted),
                       error(residual.left_out),
                       figure.noise_percent ? fmt::format("{:.2f} %", *figure.noise_percent) : ""});
    }
    table.drop_empty_columns();
    return {"figures (left out: predicted by a fit to the others)", std::move(table), {}};
}

Section moves_section(const Calibration& calibration) {
    Section section{"leaving out a figure (what it does to the predicted figure that moves most)",
                    std::nullopt,
                    {}};
    Table table({{"left out", Align::left}, {"moves", Align::left}, {"by"}, {"", Align::left}});
    for (const CalibrationMove& move : calibration.moves) {
        table.add_row({shortened(move.left_out, 30), shortened(move.moved, 30),
                       fmt::format("{:+.2f} %", move.percent),
                       std::abs(move.percent) > max_move_percent ? "over-fitted" : ""});
    }
    table.drop_empty_columns();
    if (calibration.moves.empty()) {
        section.lines.emplace_back("nothing is predicted on this machine");
    } else {
        section.table = std::move(table);
    }
    return section;
}

} // namespace

std::string calibration_text(const Calibration& calibration) {
    Document document;
    document.title = fmt::format("calibration of {}", calibration.machine);
    const std::size_t changed = static_cast<std::size_t>(
        std::ranges::count_if(calibration.free, [](const CalibratedCost& cost) {
            return cost.before_cycles != cost.after_cycles;
        }));
    document.facts.push_back(fmt::format(
        "{} figures, {} free costs: {} determined, {} left at the prior; {} of them change",
        calibration.figures.size(), calibration.free.size(), calibration.fit.determined,
        calibration.free.size() - calibration.fit.determined, changed));
    document.facts.push_back(
        fmt::format("condition number {:.1f}; counts simulated {} times{}",
                    calibration.fit.condition, calibration.passes,
                    calibration.settled ? "" : ", and they still move: the fit has not settled"));
    document.sections = {determined_section(calibration), at_prior_section(calibration),
                         other_section(calibration), residual_section(calibration),
                         moves_section(calibration)};
    return to_text(document);
}

} // namespace uringsim::analysis
