#include "analysis/compare.h"

#include <algorithm>
#include <cmath>

namespace uringsim::analysis {

using scenarios::LedgerRow;
using scenarios::PhaseResult;
using scenarios::Result;

namespace {

/// Mechanisms in the order of the ledger, with their cycles over all measured rounds.
std::vector<std::pair<std::string, sim::Cycles>> cycles_by_mechanism(const Result& result,
                                                                     const std::string& phase) {
    std::vector<std::pair<std::string, sim::Cycles>> sums;
    for (const LedgerRow& row : result.ledger) {
        if (row.phase != phase) {
            continue;
        }
        const auto found = std::ranges::find(
            sums, row.mechanism, [](const auto& sum) -> const std::string& { return sum.first; });
        if (found != sums.end()) {
            found->second += row.cycles;
        } else {
            sums.emplace_back(row.mechanism, row.cycles);
        }
    }
    return sums;
}

std::vector<MovedMechanism> moved(const Result& baseline, const Result& other,
                                  const PhaseResult& before, const PhaseResult& after) {
    std::vector<MovedMechanism> differences = cost_by_mechanism(other, after);
    for (const MovedMechanism& cost : cost_by_mechanism(baseline, before)) {
        const auto found =
            std::ranges::find(differences, cost.mechanism, &MovedMechanism::mechanism);
        if (found != differences.end()) {
            found->ns_per_operation -= cost.ns_per_operation;
        } else {
            differences.push_back({cost.mechanism, -cost.ns_per_operation});
        }
    }
    std::erase_if(differences,
                  [](const MovedMechanism& entry) { return entry.ns_per_operation == 0; });
    std::ranges::stable_sort(differences, [](const MovedMechanism& a, const MovedMechanism& b) {
        return std::abs(a.ns_per_operation) > std::abs(b.ns_per_operation);
    });
    return differences;
}

Change change_of(const Result& baseline, const Result& other, const PhaseResult& before,
                 const PhaseResult& after) {
    const double old_cost = ns_per_operation(baseline, before);
    const double new_cost = ns_per_operation(other, after);
    Change change;
    change.phase = after.name;
    change.design = other.design;
    change.baseline = baseline.design;
    change.change_ns_per_operation = new_cost - old_cost;
    if (old_cost != 0) {
        change.change_percent = (new_cost / old_cost - 1.0) * 100.0;
    }
    change.moved = moved(baseline, other, before, after);
    return change;
}

/// The published changes that these runs show too.
std::vector<PublishedMatch> match_changes(const Comparison& comparison,
                                          const std::vector<PublishedFigure>& figures) {
    std::vector<PublishedMatch> matches;
    for (const PublishedFigure& figure : figures) {
        if (figure.metric != Metric::percent ||
            figure.baseline != comparison.baseline_run().result.design) {
            continue;
        }
        for (const Run& run : comparison.runs) {
            const Change* change = comparison.find_change(figure.phase, run.result.design);
            if (change == nullptr || !change->change_percent ||
                !describes(figure, run.result, run.changed_knobs)) {
                continue;
            }
            matches.push_back(
                {figure, *change->change_percent, *change->change_percent - figure.value});
        }
    }
    return matches;
}

} // namespace

std::vector<MovedMechanism> cost_by_mechanism(const Result& result, const PhaseResult& phase) {
    const double operations =
        static_cast<double>(phase.operations) * static_cast<double>(phase.cycles_by_round.size());
    std::vector<MovedMechanism> costs;
    if (operations == 0) {
        return costs;
    }
    for (const auto& [mechanism, cycles] : cycles_by_mechanism(result, phase.name)) {
        costs.push_back({mechanism, result.ns(static_cast<double>(cycles)) / operations});
    }
    return costs;
}

const Change* Comparison::find_change(const std::string& phase, const std::string& design) const {
    const auto found = std::ranges::find_if(changes, [&](const Change& change) {
        return change.phase == phase && change.design == design;
    });
    return found == changes.end() ? nullptr : &*found;
}

std::optional<std::size_t> Comparison::fastest(const std::string& phase) const {
    std::optional<std::size_t> best;
    bool shared = false;
    double best_cost = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const PhaseResult* found = runs[i].result.find_phase(phase);
        if (found == nullptr) {
            continue;
        }
        const double cost = ns_per_operation(runs[i].result, *found);
        if (!best || cost < best_cost) {
            best = i;
            best_cost = cost;
            shared = false;
        } else if (cost == best_cost) {
            shared = true;
        }
    }
    return shared ? std::nullopt : best;
}

Comparison compare(std::vector<Run> runs, std::size_t baseline,
                   const std::vector<PublishedFigure>& figures) {
    Comparison comparison{std::move(runs), baseline, {}, {}};
    const Result& before = comparison.baseline_run().result;
    for (const PhaseResult& phase : before.phases) {
        for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
            const Result& other = comparison.runs[i].result;
            const PhaseResult* after = other.find_phase(phase.name);
            if (i != baseline && after != nullptr) {
                comparison.changes.push_back(change_of(before, other, phase, *after));
            }
        }
    }
    comparison.published = match_changes(comparison, figures);
    return comparison;
}

} // namespace uringsim::analysis
