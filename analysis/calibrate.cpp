#include "analysis/calibrate.h"

#include "analysis/canonical_json.h"
#include "analysis/figures.h"
#include "models/primitives.h"
#include "scenarios/configuration.h"
#include "scenarios/scenario_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace uringsim::analysis {

using models::Primitive;
using scenarios::Diagnostics;
using scenarios::JsonNode;

namespace {

constexpr double percent = 100.0;
constexpr double millicycles = static_cast<double>(sim::millicycles_per_cycle);

void set_cycles(models::Cost& cost, double cycles) {
    cost.millicycles = std::llround(cycles * millicycles);
}

double cycles_of(const models::Cost& cost) {
    return static_cast<double>(cost.millicycles) / millicycles;
}

std::vector<std::string> ids(const std::vector<PublishedFigure>& figures) {
    std::vector<std::string> names;
    for (const PublishedFigure& figure : figures) {
        names.push_back(figure.id);
    }
    return names;
}

/// What a figure's phase should be, in the unit of per_cycle().
double linear_target(const PublishedFigure& figure) {
    constexpr double ns_per_second = 1e9;
    return figure.metric == Metric::per_second ? ns_per_second / figure.value : figure.value;
}

/// Whoever names costs to choose needs more figures than costs.
bool has_enough(const models::Machine& machine, const std::vector<PublishedFigure>& figures,
                Diagnostics& diagnostics) {
    const std::string option = "--machine " + machine.name;
    if (machine.free_costs.empty()) {
        diagnostics.add_option(option, "its file names no free costs: it has no \"calibration\": "
                                       "{ \"free\": [...] }, so there is nothing to choose");
        return false;
    }
    if (figures.size() <= machine.free_costs.size()) {
        diagnostics.add_option(
            option,
            fmt::format("{} free costs need at least {} figures to fit, and there are {}{}{}; "
                        "{} more are missing: name more figures \"use\": \"fit\", or fewer costs "
                        "in \"calibration\"",
                        machine.free_costs.size(), machine.free_costs.size() + 1, figures.size(),
                        figures.empty() ? "" : ": ", fmt::join(ids(figures), ", "),
                        machine.free_costs.size() + 1 - figures.size()));
        return false;
    }
    return true;
}

FitUnknown unknown_of(Primitive primitive) {
    const models::PrimitiveInfo& row = models::info(primitive);
    return {std::string(row.name), row.default_cycles, row.min_cycles, row.max_cycles,
            prior_spread_fraction * row.default_cycles};
}

double sigma_of(const PublishedFigure& figure, double target) {
    const double noise = figure.noise_percent.value_or(0);
    return std::sqrt(fit_sigma_percent * fit_sigma_percent + noise * noise) / percent * target;
}

/// The figure's counts as a row of the problem.
FitMeasurement measurement_of(const PublishedFigure& figure, const CostCounts& counts, double unit,
                              const models::Machine& machine) {
    FitMeasurement row;
    row.name = figure.id;
    row.target = linear_target(figure);
    row.sigma = sigma_of(figure, row.target);
    double constant = counts.fixed_cycles;
    for (const models::PrimitiveInfo& info : models::primitive_table()) {
        const double count = counts.count[static_cast<std::size_t>(info.id)];
        if (std::ranges::find(machine.free_costs, info.id) == machine.free_costs.end()) {
            constant += count * cycles_of(machine.cost(info.id));
        }
    }
    row.constant = constant * unit;
    for (const Primitive primitive : machine.free_costs) {
        row.coefficients.push_back(counts.count[static_cast<std::size_t>(primitive)] * unit);
    }
    return row;
}

/// Reports the free costs that no figure depends on.
void check_charged(const models::Machine& machine, const FitProblem& problem,
                   Diagnostics& diagnostics) {
    for (std::size_t j = 0; j < problem.unknowns.size(); ++j) {
        const bool charged =
            std::ranges::any_of(problem.measurements, [&](const FitMeasurement& row) {
                return row.coefficients[j] != 0;
            });
        if (!charged) {
            diagnostics.add_option(
                "--machine " + machine.name,
                fmt::format("no figure to fit ever charges the free cost {}: a figure that does is "
                            "missing",
                            problem.unknowns[j].name));
        }
    }
}

/// The counts of all figures on a machine, as a problem. Nothing after reporting.
std::optional<FitProblem> count_problem(const Library& library, const models::Machine& machine,
                                        Calibration& calibration, unsigned jobs,
                                        Diagnostics& diagnostics) {
    const std::size_t reported_before = diagnostics.size();
    auto runs = FigureRuns::plan(library, calibration.figures, {machine}, diagnostics);
    if (!runs) {
        return std::nullopt;
    }
    runs->execute(jobs);
    FitProblem problem;
    for (const Primitive primitive : machine.free_costs) {
        problem.unknowns.push_back(unknown_of(primitive));
    }
    std::vector<bool> used(models::primitive_count, false);
    for (std::size_t i = 0; i < calibration.figures.size(); ++i) {
        const PublishedFigure& figure = calibration.figures[i];
        const auto counts = cost_counts(runs->result(i), figure.phase);
        if (!counts || !counts->is_sum(machine)) {
            diagnostics.add_option(
                "figure " + figure.id,
                counts ? "its phase is no sum of costs (several tasks share its "
                         "time), so that it cannot be fitted"
                       : fmt::format("{} has no phase \"{}\"", figure.scenario, figure.phase));
            continue;
        }
        problem.measurements.push_back(
            measurement_of(figure, *counts, per_cycle(figure, runs->result(i)), machine));
        for (std::size_t p = 0; p < used.size(); ++p) {
            used[p] = used[p] || counts->count[p] > 0;
        }
    }
    check_charged(machine, problem, diagnostics);
    calibration.used.clear();
    for (const models::PrimitiveInfo& row : models::primitive_table()) {
        if (used[static_cast<std::size_t>(row.id)] &&
            std::ranges::find(machine.free_costs, row.id) == machine.free_costs.end()) {
            calibration.used.push_back(row.id);
        }
    }
    return diagnostics.size() > reported_before ? std::nullopt : std::optional(problem);
}

std::string source_of(const Calibration& calibration, const FittedValue& value) {
    if (value.standing == FitStanding::determined) {
        return fmt::format(
            "least squares over {} figures; {:.0f} % of it from them, standard error "
            "{:.1f} cycles{}",
            calibration.figures.size(), std::floor(value.resolution * percent),
            value.standard_error, value.at_bound ? "; at the end of its range" : "");
    }
    return value.confused_with.empty()
               ? "left at its prior: the figures hardly depend on it"
               : fmt::format("left at its prior: the figures cannot tell it from {}",
                             fmt::join(value.confused_with, ", "));
}

/// Costs that differ by less than a thousandth are the same: where deferred work is counted, the
/// counts follow the costs a little and would move for ever.
bool differs(sim::Millicycles a, sim::Millicycles b) {
    constexpr sim::Millicycles parts = 1000;
    return (a > b ? a - b : b - a) * parts > b;
}

/// Moves the machine to the fitted costs. True where a free cost changed.
bool apply(Calibration& calibration, models::Machine& machine) {
    bool moved = false;
    calibration.free.clear();
    for (std::size_t j = 0; j < machine.free_costs.size(); ++j) {
        const Primitive primitive = machine.free_costs[j];
        const FittedValue& value = calibration.fit.values[j];
        models::Cost cost;
        set_cycles(cost, value.value);
        const bool determined = value.standing == FitStanding::determined;
        cost.provenance = determined ? models::Provenance::fitted : models::Provenance::assumed;
        cost.source = source_of(calibration, value);
        moved = moved || differs(cost.millicycles, machine.cost(primitive).millicycles);
        machine.cost(primitive) = cost;
        calibration.free.push_back(
            {primitive, cycles_of(calibration.before.cost(primitive)), cycles_of(cost), cost});
    }
    return moved;
}

bool same_counts(const FitProblem& a, const FitProblem& b) {
    return std::ranges::equal(
        a.measurements, b.measurements, [](const FitMeasurement& x, const FitMeasurement& y) {
            return x.coefficients == y.coefficients && x.constant == y.constant;
        });
}

JsonText cost_text(const models::Cost& cost) {
    JsonText text = JsonText::object();
    text.set("cycles", JsonText::number(cycles_of(cost)));
    text.set("provenance", JsonText::string(models::name(cost.provenance)));
    text.set("source", JsonText::string(cost.source));
    return text;
}

/// The file with the new costs; every cost in the order of the primitive table.
std::string machine_file(const JsonNode& root, const Calibration& calibration) {
    JsonText text = JsonText::copy(root);
    JsonText section = JsonText::object();
    JsonText free = JsonText::array();
    JsonText figures = JsonText::array();
    for (const CalibratedCost& cost : calibration.free) {
        free.add(JsonText::string(models::info(cost.primitive).name));
    }
    for (const PublishedFigure& figure : calibration.figures) {
        figures.add(JsonText::string(figure.id));
    }
    section.set("free", std::move(free));
    section.set("figures", std::move(figures));
    text.set_before("calibration", std::move(section), "costs");
    JsonText costs = JsonText::object();
    const JsonNode* old = root.find("costs");
    for (const models::PrimitiveInfo& row : models::primitive_table()) {
        const auto found = std::ranges::find(calibration.free, row.id, &CalibratedCost::primitive);
        if (found != calibration.free.end()) {
            costs.set(row.name, cost_text(found->cost));
        } else if (const JsonNode* kept = old->find(row.name)) {
            costs.set(row.name, JsonText::copy(*kept));
        }
    }
    text.set("costs", std::move(costs));
    return text.to_string();
}

} // namespace

namespace {

/// The machine with other values of its free costs.
models::Machine with_values(models::Machine machine, const std::vector<double>& values) {
    for (std::size_t j = 0; j < values.size(); ++j) {
        set_cycles(machine.cost(machine.free_costs[j]), values[j]);
    }
    return machine;
}

/// What leaving out each figure does to the predicted ones. Figures whose phases are no sums of
/// costs are passed over: their counts tell nothing of other costs.
bool add_moves(const Library& library, const std::vector<PublishedFigure>& predicted,
               Calibration& calibration, unsigned jobs, Diagnostics& diagnostics) {
    auto runs = FigureRuns::plan(library, predicted, {calibration.after}, diagnostics);
    if (!runs) {
        return false;
    }
    runs->execute(jobs);
    std::vector<std::pair<std::string, CostCounts>> counts;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
        auto count = cost_counts(runs->result(i), predicted[i].phase);
        if (count && count->is_sum(calibration.after)) {
            counts.emplace_back(predicted[i].id, *std::move(count));
        }
    }
    if (counts.empty()) {
        return true;
    }
    for (std::size_t i = 0; i < calibration.figures.size(); ++i) {
        const models::Machine other =
            with_values(calibration.after, calibration.fit.residuals[i].left_out_values);
        CalibrationMove most{calibration.figures[i].id, "", 0};
        for (const auto& [id, count] : counts) {
            const double move =
                (count.cycles(other) / count.cycles(calibration.after) - 1.0) * percent;
            if (most.moved.empty() || std::abs(move) > std::abs(most.percent)) {
                most.moved = id;
                most.percent = move;
            }
        }
        calibration.moves.push_back(std::move(most));
    }
    return true;
}

} // namespace

std::optional<Calibration> calibrate(const Library& library, const JsonNode& root,
                                     const std::vector<PublishedFigure>& figures,
                                     const std::vector<PublishedFigure>& predicted, unsigned jobs,
                                     Diagnostics& diagnostics) {
    const auto before = scenarios::read_machine(root, diagnostics);
    if (!before || !has_enough(*before, figures, diagnostics)) {
        return std::nullopt;
    }
    Calibration calibration;
    calibration.machine = before->name;
    calibration.figures = figures;
    calibration.before = *before;
    models::Machine machine = *before;
    for (const Primitive primitive : machine.free_costs) {
        set_cycles(machine.cost(primitive), models::info(primitive).default_cycles);
    }
    auto problem = count_problem(library, machine, calibration, jobs, diagnostics);
    if (!problem) {
        return std::nullopt;
    }
    for (;;) {
        calibration.problem = *std::move(problem);
        calibration.fit = fit(calibration.problem);
        if (!apply(calibration, machine)) {
            break;
        }
        problem = count_problem(library, machine, calibration, jobs, diagnostics);
        if (!problem) {
            return std::nullopt;
        }
        if (same_counts(*problem, calibration.problem)) {
            break;
        }
        if (++calibration.passes > max_fit_passes) {
            calibration.settled = false;
            break;
        }
    }
    calibration.after = machine;
    if (!add_moves(library, predicted, calibration, jobs, diagnostics)) {
        return std::nullopt;
    }
    calibration.machine_file = machine_file(root, calibration);
    return calibration;
}

namespace {

void read_settings(const JsonNode* object, bool of_design, PublishedFigure& figure,
                   Diagnostics& diagnostics) {
    if (object == nullptr) {
        return;
    }
    for (const JsonNode& node : object->children()) {
        if (of_design) {
            figure.knobs.emplace_back(
                node.key(), node.is_boolean() ? (node.boolean() ? "true" : "false") : node.text());
        } else if (const auto value = scenarios::get_integer(node, {}, diagnostics)) {
            figure.parameters.emplace_back(node.key(), *value);
        }
    }
}

/// What of a member is there, without a word about what else the file holds.
std::string name_at(const JsonNode& root, std::string_view key, Diagnostics& diagnostics) {
    const JsonNode* node = root.find(key);
    if (node == nullptr) {
        root.report(fmt::format("\"{}\" is missing: this is no result of a run", key), diagnostics);
        return "";
    }
    return scenarios::get_name(*node, diagnostics).value_or("");
}

std::optional<double> number_at(const JsonNode& object, std::string_view key,
                                Diagnostics& diagnostics) {
    const JsonNode* node = object.find(key);
    return node == nullptr || node->is_null() ? std::nullopt
                                              : scenarios::get_number(*node, {}, diagnostics);
}

/// The phases of a scenario that hold no other.
std::vector<std::string> innermost_phases(const Library& library, const std::string& name,
                                          Diagnostics& diagnostics) {
    std::vector<std::string> names;
    const auto node = library.load(FileKind::scenario, name, "scenario", diagnostics);
    const auto scenario = node ? scenarios::read_scenario(*node, {}, diagnostics) : std::nullopt;
    if (!scenario) {
        return names;
    }
    for (std::size_t i = 0; i < scenario->phases.size(); ++i) {
        const auto id = static_cast<sim::PhaseId>(i + 1);
        if (std::ranges::none_of(scenario->phases, [&](const scenarios::PhaseSpec& other) {
                return other.parent == id;
            })) {
            names.push_back(scenario->phases[i].name);
        }
    }
    return names;
}

} // namespace

std::optional<std::vector<PublishedFigure>> figures_of_result(const JsonNode& root,
                                                              const Library& library,
                                                              const std::string& machine,
                                                              Diagnostics& diagnostics) {
    const std::size_t reported_before = diagnostics.size();
    PublishedFigure run;
    run.source = root.file();
    run.citation = root.file();
    run.scenario = name_at(root, "scenario", diagnostics);
    run.design = name_at(root, "design", diagnostics);
    run.machine = machine;
    run.metric = Metric::ns_per_operation;
    run.unit = "ns";
    run.fitted = true;
    if (const JsonNode* config = root.find("config")) {
        read_settings(config->find("parameters"), false, run, diagnostics);
        read_settings(config->find("changed_knobs"), true, run, diagnostics);
    }
    const JsonNode* phases = root.find("phases");
    if (phases == nullptr || !phases->is_object()) {
        root.report("\"phases\" is missing: this is no result of a run", diagnostics);
    }
    if (diagnostics.size() > reported_before) {
        return std::nullopt;
    }
    std::vector<PublishedFigure> figures;
    for (const std::string& name : innermost_phases(library, run.scenario, diagnostics)) {
        const JsonNode* phase = phases->find(name);
        const auto value =
            phase != nullptr ? number_at(*phase, "ns_per_operation", diagnostics) : std::nullopt;
        if (!value || *value <= 0) {
            continue;
        }
        PublishedFigure figure = run;
        figure.phase = name;
        figure.value = *value;
        figure.noise_percent = number_at(*phase, "cv_percent", diagnostics);
        figure.id = fmt::format("{}/{}/{}", run.scenario, run.design, name);
        figures.push_back(std::move(figure));
    }
    if (diagnostics.size() > reported_before) {
        return std::nullopt;
    }
    return figures;
}

} // namespace uringsim::analysis
