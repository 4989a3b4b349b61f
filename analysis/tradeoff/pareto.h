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
    double registration_ns = 0;  ///< weighted mean over the workloads that measure it
    double retained_bytes = 0;   ///< the most of any workload
    std::vector<double> workload_ns; ///< of each workload; what ns_per_operation is the mean of
};

/// A design with its settings, and its costs.
struct Candidate {
    std::string name;   ///< the design's, and what the axes set
    std::string design; ///< the design's alone
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

/// For each design the one of its candidates within the budget whose operation is cheapest: designs
/// compared at equal memory, each with the settings that suit it best, or of equal ones those that
/// retain least. In the order of the designs.
std::vector<Candidate> best_of_each_design(const std::vector<Candidate>& candidates,
                                           std::optional<std::uint64_t> memory_budget);

} // namespace uringsim::analysis
