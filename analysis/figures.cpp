#include "analysis/figures.h"

#include "models/primitives.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <thread>

namespace uringsim::analysis {

using scenarios::Diagnostics;
using scenarios::Result;

namespace {

RunRequest request_of(const PublishedFigure& figure, bool of_baseline) {
    RunRequest request;
    request.scenario = figure.scenario;
    request.designs = {of_baseline ? figure.baseline : figure.design};
    request.machine = figure.machine;
    for (const auto& [name, value] : figure.parameters) {
        request.parameters.emplace_back(name, std::to_string(value));
    }
    request.knobs = figure.knobs; // what both kernels ran under
    return request;
}

std::string key_of(const RunRequest& request) {
    std::string key =
        fmt::format("{}|{}|{}", request.scenario, request.designs.front(), *request.machine);
    for (const auto* list : {&request.parameters, &request.knobs}) {
        key += '|';
        auto sorted = *list;
        std::ranges::sort(sorted);
        for (const auto& [name, value] : sorted) {
            key += fmt::format("{}={};", name, value);
        }
    }
    return key;
}

/// The errors of a run that a figure asks for, with the figure's name: they are no matter of the
/// command line.
void pass_on(const Diagnostics& found, const PublishedFigure& figure, Diagnostics& diagnostics) {
    for (scenarios::Diagnostic diagnostic : found.all()) {
        diagnostic.message =
            fmt::format("figure {} of {}: {}", figure.id, figure.source, diagnostic.message);
        diagnostics.add(std::move(diagnostic));
    }
}

} // namespace

std::optional<std::size_t> FigureRuns::add(const Library& library, const PublishedFigure& figure,
                                           bool of_baseline,
                                           const std::vector<models::Machine>& machines,
                                           Diagnostics& diagnostics) {
    const RunRequest request = request_of(figure, of_baseline);
    const std::string key = key_of(request);
    const auto known = std::ranges::find(runs_, key, &PlannedRun::key);
    if (known != runs_.end()) {
        return static_cast<std::size_t>(known - runs_.begin());
    }
    Diagnostics found;
    const auto node = library.load(FileKind::scenario, request.scenario, "scenario", found);
    auto prepared = node ? prepare_parsed(library, *node, request, found) : std::nullopt;
    if (!prepared) {
        pass_on(found, figure, diagnostics);
        return std::nullopt;
    }
    const auto other = std::ranges::find(machines, prepared->machine.name, &models::Machine::name);
    if (other != machines.end()) {
        prepared->machine = *other;
    }
    runs_.push_back({key, figure.id, *std::move(prepared), std::nullopt});
    return runs_.size() - 1;
}

std::optional<FigureRuns> FigureRuns::plan(const Library& library,
                                           const std::vector<PublishedFigure>& figures,
                                           const std::vector<models::Machine>& machines,
                                           Diagnostics& diagnostics) {
    FigureRuns runs;
    const std::size_t reported_before = diagnostics.size();
    for (const PublishedFigure& figure : figures) {
        const auto run = runs.add(library, figure, false, machines, diagnostics);
        const auto baseline = figure.metric == Metric::percent
                                  ? runs.add(library, figure, true, machines, diagnostics)
                                  : run;
        runs.run_of_.push_back(run.value_or(0));
        runs.baseline_of_.push_back(baseline.value_or(0));
    }
    if (diagnostics.size() > reported_before) {
        return std::nullopt;
    }
    return runs;
}

void FigureRuns::execute(unsigned jobs) {
    std::atomic<std::size_t> next{0};
    std::vector<std::exception_ptr> errors(runs_.size());
    const auto work = [&] {
        for (std::size_t i = next++; i < runs_.size(); i = next++) {
            try {
                const PreparedRuns& prepared = runs_[i].prepared;
                runs_[i].result = scenarios::replay(
                    prepared.scenario, prepared.designs.front().design, prepared.machine);
            } catch (const scenarios::RunError& error) {
                errors[i] = std::make_exception_ptr(scenarios::RunError(
                    fmt::format("figure {}: {}", runs_[i].figure, error.what())));
            } catch (...) {
                errors[i] = std::current_exception();
            }
        }
    };
    const std::size_t helpers =
        std::min<std::size_t>(std::max(jobs, 1U), std::max<std::size_t>(runs_.size(), 1)) - 1;
    std::vector<std::thread> threads;
    try {
        while (threads.size() < helpers) {
            threads.emplace_back(work);
        }
    } catch (const std::exception&) { // the system gives no more; those it gave will do
    }
    work();
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const std::exception_ptr& error : errors) {
        if (error) {
            std::rethrow_exception(error);
        }
    }
}

const Result& FigureRuns::result(std::size_t figure) const {
    return runs_.at(run_of_.at(figure)).result.value();
}

const Result& FigureRuns::baseline(std::size_t figure) const {
    return runs_.at(baseline_of_.at(figure)).result.value();
}

const models::Machine& FigureRuns::machine(std::size_t figure) const {
    return runs_.at(run_of_.at(figure)).prepared.machine;
}

const scenarios::Scenario& FigureRuns::scenario(std::size_t figure) const {
    return runs_.at(run_of_.at(figure)).prepared.scenario;
}

double CostCounts::cycles(const models::Machine& machine) const {
    double sum = fixed_cycles;
    for (const models::PrimitiveInfo& row : models::primitive_table()) {
        sum += count[static_cast<std::size_t>(row.id)] *
               static_cast<double>(machine.cost(row.id).millicycles) /
               static_cast<double>(sim::millicycles_per_cycle);
    }
    return sum;
}

bool CostCounts::is_sum(const models::Machine& machine) const {
    constexpr double tolerance = 1e-3;
    return std::abs(cycles(machine) - measured_cycles) <= tolerance * measured_cycles;
}

std::optional<CostCounts> cost_counts(const Result& result, const std::string& phase_name) {
    const scenarios::PhaseResult* phase = result.find_phase(phase_name);
    if (phase == nullptr || phase->cycles_by_round.empty()) {
        return std::nullopt;
    }
    const double rounds = static_cast<double>(phase->cycles_by_round.size());
    CostCounts counts;
    counts.count.assign(models::primitive_count, 0);
    counts.measured_cycles = phase->mean_cycles();
    for (const scenarios::LedgerRow& row : result.ledger) {
        const auto primitive = models::find_primitive(row.primitive);
        if (row.phase != phase_name || !primitive) {
            continue;
        }
        if (models::info(*primitive).max_cycles > 0) {
            counts.count[static_cast<std::size_t>(*primitive)] +=
                static_cast<double>(row.count) / rounds;
        } else {
            counts.fixed_cycles += static_cast<double>(row.cycles) / rounds;
        }
    }
    return counts;
}

double per_cycle(const PublishedFigure& figure, const Result& result) {
    constexpr double ns_per_us = 1e3;
    if (figure.metric == Metric::us) {
        return result.ns(1) / ns_per_us;
    }
    const scenarios::PhaseResult* phase = result.find_phase(figure.phase);
    return result.ns(1) / static_cast<double>(phase->operations);
}

unsigned default_jobs() {
    return std::max(std::thread::hardware_concurrency(), 1U);
}

} // namespace uringsim::analysis
