#include "analysis/tradeoff/pareto.h"

#include <algorithm>
#include <utility>

namespace uringsim::analysis {

bool dominates(const TradeoffCost& a, const TradeoffCost& b) {
    const bool no_worse = a.ns_per_operation <= b.ns_per_operation &&
                          a.registration_ns <= b.registration_ns &&
                          a.retained_bytes <= b.retained_bytes;
    const bool better = a.ns_per_operation < b.ns_per_operation ||
                        a.registration_ns < b.registration_ns ||
                        a.retained_bytes < b.retained_bytes;
    return no_worse && better;
}

namespace {

bool within(const Candidate& candidate, std::optional<std::uint64_t> memory_budget) {
    return !memory_budget || candidate.cost.retained_bytes <= static_cast<double>(*memory_budget);
}

} // namespace

Ranking rank(const std::vector<Candidate>& candidates, std::optional<std::uint64_t> memory_budget) {
    Ranking ranking;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (within(candidates[i], memory_budget)) {
            ranking.order.push_back(i);
        }
    }
    std::ranges::stable_sort(ranking.order, {}, [&](std::size_t i) {
        return candidates[i].cost.ns_per_operation;
    });
    for (const std::size_t i : ranking.order) {
        ranking.front.push_back(std::ranges::none_of(ranking.order, [&](std::size_t other) {
            return dominates(candidates[other].cost, candidates[i].cost);
        }));
    }
    return ranking;
}

std::vector<Candidate> best_of_each_design(const std::vector<Candidate>& candidates,
                                           std::optional<std::uint64_t> memory_budget) {
    std::vector<Candidate> best;
    for (const Candidate& candidate : candidates) {
        if (!within(candidate, memory_budget)) {
            continue;
        }
        const auto found = std::ranges::find(best, candidate.design, &Candidate::design);
        if (found == best.end()) {
            best.push_back(candidate);
        } else if (std::pair(candidate.cost.ns_per_operation, candidate.cost.retained_bytes) <
                   std::pair(found->cost.ns_per_operation, found->cost.retained_bytes)) {
            *found = candidate;
        }
    }
    return best;
}

} // namespace uringsim::analysis
