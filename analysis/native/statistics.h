#pragma once

#include "analysis/native/record.h"

#include <cstddef>
#include <span>
#include <vector>

namespace uringsim::analysis::native {

/// The middle value; the mean of the two middle ones of an even number; 0 of none.
double median(std::vector<double> values);

/// Half the distance between the largest and the smallest value, in percent of their median; 0 of
/// fewer than two.
double half_range_percent(const std::vector<double>& values);

/// What the rounds of one phase say, over all processes. Times are of a round, in ns.
struct PhaseTimes {
    std::size_t rounds = 0;
    std::size_t preempted = 0; ///< rounds in which the task lost its CPU
    std::size_t slow = 0;      ///< rounds whose null call took more than slow_factor x its minimum
    bool flagged_used = false; ///< too few good rounds: preempted ones are in the figures too
    double minimum = 0;
    double median = 0;  ///< median of the processes' medians
    double null_ns = 0; ///< the reference: the smallest median null call of a process
    double normalised_median =
        0;                     ///< median of the processes' (median of round / null call) x null_ns
    double spread_percent = 0; ///< half range of the processes' normalised medians
};

inline constexpr double slow_factor = 1.1;

/// One phase of several processes' records. `reference_null_ns` takes the place of the null call's
/// own smallest median where it is above 0, so that runs of different times compare.
PhaseTimes phase_times(std::span<const Record> processes, std::size_t phase,
                       double reference_null_ns = 0);

/// The smallest median null call of a process; 0 where none was timed.
double reference_null(std::span<const Record> processes);

} // namespace uringsim::analysis::native
