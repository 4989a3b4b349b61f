#include "analysis/native/side_by_side.h"

#include "analysis/export/document.h"
#include "analysis/export/numbers.h"
#include "analysis/native/counter_plan.h"
#include "analysis/published_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace uringsim::analysis::native {

namespace {

constexpr double percent = 100;

double change(double from, double to) {
    return percent * (to / from - 1);
}

/// "6.18" of "6.18.15+deb13-cloud-amd64".
std::string short_release(const std::string& release) {
    const KernelVersion version = version_of(release);
    return version == KernelVersion{} ? release
                                      : fmt::format("{}.{}", version.major, version.minor);
}

std::string what(const SideBySideRow& row) {
    return fmt::format("{}, {}: {}", row.scenario, row.parameters, row.phase);
}

Section rows_section(const SideBySide& comparison) {
    std::vector<Column> columns{{"", Align::left}};
    for (const NativeValidation& kernel : comparison.kernels) {
        columns.push_back({short_release(kernel.release)});
        columns.push_back({"sim."});
    }
    columns.insert(columns.end(), {{"change"}, {"sim."}, {"sign", Align::left}});
    Table table(std::move(columns));
    for (const SideBySideRow& row : comparison.rows) {
        std::vector<std::string> cells{what(row)};
        for (const KernelFigure& kernel : row.kernels) {
            cells.push_back(fmt::format("{:.0f}", kernel.measured));
            cells.push_back(fmt::format("{:.0f}", kernel.simulated));
        }
        cells.push_back(fmt::format("{:+.1f} %", row.measured_change()));
        cells.push_back(fmt::format("{:+.1f} %", row.simulated_change()));
        cells.emplace_back(row.signs_agree() ? "right" : "wrong");
        table.add_row(std::move(cells));
    }
    return {"instructions an operation, on the kernel and simulated", table, {}};
}

std::string summary(const SideBySide& comparison, std::size_t kernel) {
    const NativeValidation& validation = comparison.kernels[kernel];
    std::size_t counted = 0;
    std::size_t exact = 0;
    for (const ValidationRow& row : validation.rows) {
        counted += row.counters > 0 ? 1 : 0;
        exact += row.counters > 0 && row.counts_exact() ? 1 : 0;
    }
    double sum = 0;
    double worst = 0;
    for (const SideBySideRow& row : comparison.rows) {
        const KernelFigure& figure = row.kernels[kernel];
        const double error = std::abs(change(figure.measured, figure.simulated));
        sum += error;
        worst = std::max(worst, error);
    }
    std::string text = fmt::format("{}: design {}", validation.release, validation.design);
    if (!comparison.rows.empty()) {
        text += fmt::format("; off by {:.1f} % in the mean, {:.1f} % at worst",
                            sum / static_cast<double>(comparison.rows.size()), worst);
    }
    if (counted > 0) {
        text += fmt::format("; counts exact in {} of {} phases", exact, counted);
    }
    return text;
}

Document describe(const SideBySide& comparison) {
    Document document;
    document.title = fmt::format("the same programs on {} kernels, and simulated on machine {}",
                                 comparison.kernels.size(), comparison.machine);
    for (std::size_t i = 0; i < comparison.kernels.size(); ++i) {
        document.facts.push_back(summary(comparison, i));
    }
    document.sections.push_back(rows_section(comparison));
    return document;
}

} // namespace

double SideBySideRow::measured_change() const {
    return change(kernels.front().measured, kernels.back().measured);
}

double SideBySideRow::simulated_change() const {
    return change(kernels.front().simulated, kernels.back().simulated);
}

bool SideBySideRow::signs_agree() const {
    const auto sign = [](double change) {
        return std::abs(change) <= change_noise_percent ? 0 : change > 0 ? 1 : -1;
    };
    const int measured = sign(measured_change());
    const int simulated = sign(simulated_change());
    // Where only one of the two is beyond the noise, the other one must not point elsewhere.
    return measured == simulated ||
           (measured * simulated == 0 && same_sign(measured_change(), simulated_change()));
}

bool SideBySide::counts_exact() const {
    return std::ranges::all_of(kernels, &NativeValidation::counts_exact);
}

bool SideBySide::signs_agree() const {
    return std::ranges::all_of(rows, &SideBySideRow::signs_agree);
}

SideBySide side_by_side(std::vector<NativeValidation> kernels, std::string machine) {
    SideBySide comparison{std::move(machine), std::move(kernels), {}};
    const std::vector<ValidationRow>& first = comparison.kernels.front().rows;
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (!first[i].timed) {
            continue;
        }
        SideBySideRow row{first[i].scenario, first[i].parameters, first[i].phase, {}};
        for (const NativeValidation& kernel : comparison.kernels) {
            row.kernels.push_back({kernel.rows.at(i).measured, kernel.rows.at(i).simulated});
        }
        comparison.rows.push_back(std::move(row));
    }
    return comparison;
}

std::string side_by_side_text(const SideBySide& comparison) {
    return to_text(describe(comparison));
}

std::string side_by_side_markdown(const SideBySide& comparison) {
    return to_markdown(describe(comparison));
}

std::string side_by_side_csv(const SideBySide& comparison) {
    std::string text = "scenario,parameters,phase,kernel,design,measured,simulated\n";
    for (const SideBySideRow& row : comparison.rows) {
        for (std::size_t i = 0; i < row.kernels.size(); ++i) {
            text += fmt::format("{},\"{}\",{},{},{},{},{}\n", row.scenario, row.parameters,
                                row.phase, comparison.kernels[i].release,
                                comparison.kernels[i].design, exact_number(row.kernels[i].measured),
                                exact_number(row.kernels[i].simulated));
        }
    }
    return text;
}

} // namespace uringsim::analysis::native
