#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis {

/// What a design costs over a mix of workloads: less is better in each.
struct TradeoffCost {
    double ns_per_operation = 0; ///< weighted mean
    double registration_ns = 0;  ///< weighted mean, where it is measured
    double retained_bytes = 0;   ///< the most of any workload
};

/// A design with its settings, and its costs.
struct Candidate {
    std::string name;
    TradeoffCost cost;
};

/// True where `a` is no worse than `b` in anything and better in something.
bool dominates(const TradeoffCost& a, const TradeoffCost& b);

/// The candidates within the memory budget, cheapest operation first; `front` of a place says
/// whether no other of them dominates it.
struct Ranking {
    std::vector<std::size_t> order; ///< indices of candidates
    std::vector<bool> front;        ///< by place in `order`
};
Ranking rank(const std::vector<Candidate>& candidates, std::optional<std::uint64_t> memory_budget);

} // namespace uringsim::analysis
