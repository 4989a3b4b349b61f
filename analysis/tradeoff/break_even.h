#pragma once

#include "models/machine.h"
#include "sim/cycles.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace uringsim::analysis {

/// Which of two designs is better at a value of a parameter: what the second costs beyond the first,
/// in cycles. Below 0: the second wins. A tie is not won.
using Difference = std::function<sim::Cycles(std::int64_t value)>;

/// A value at which the winner changes.
struct Crossing {
    std::int64_t last = 0;    ///< the last value before
    std::int64_t first = 0;   ///< last + 1
    bool second_wins = false; ///< from `first` on
};

/// What a search for break-even points found.
struct BreakEven {
    bool second_wins_at_start = false;
    bool second_wins_at_end = false;
    std::vector<Crossing> crossings; ///< in order
    std::uint64_t evaluations = 0;
};

/// Looks at the ends of first..last and at the powers of two between, and bisects each stretch
/// whose ends have different winners, down to neighbouring integers. Exact and repeatable where the
/// winner changes at most once within each stretch; a change there and back is not seen.
BreakEven find_break_even(const Difference& difference, std::int64_t first, std::int64_t last);

} // namespace uringsim::analysis
