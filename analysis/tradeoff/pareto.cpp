#include "analysis/tradeoff/pareto.h"

#include <algorithm>

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

Ranking rank(const std::vector<Candidate>& candidates, std::optional<std::uint64_t> memory_budget) {
    Ranking ranking;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (!memory_budget ||
            candidates[i].cost.retained_bytes <= static_cast<double>(*memory_budget)) {
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

} // namespace uringsim::analysis
