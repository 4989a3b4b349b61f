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

/// A value at which the winner changes. Close to even, whether a batch or a slab is just full decides,
/// and the winner may change back and forth over some values.
struct WinnerChange {
    std::int64_t last = 0;    ///< the last value before, as bisection finds it
    std::int64_t first = 0;   ///< last + 1
    bool second_wins = false; ///< from `first` on
    std::int64_t unsteady_from = 0; ///< the lowest value near it where the new winner wins
    std::int64_t settled = 0;       ///< from here on the new winner wins, as far as was looked

    bool steady() const { return unsteady_from == first && settled == first; }
};

/// A crossing is settled where so many neighbours on a side agree.
inline constexpr std::int64_t steady_neighbours = 16;

/// What a search for break-even points found.
struct BreakEven {
    bool second_wins_at_start = false;
    bool second_wins_at_end = false;
    std::vector<WinnerChange> crossings; ///< in order
    std::uint64_t evaluations = 0;
};

/// Looks at the ends of first..last and at the powers of two between, and bisects each stretch
/// whose ends have different winners, down to neighbouring integers. Exact and repeatable where the
/// winner changes at most once within each stretch; a change there and back is not seen, but close to
/// a crossing: its neighbours are looked at until `neighbours` of them in a row agree on each side.
BreakEven find_break_even(const Difference& difference, std::int64_t first, std::int64_t last,
                          std::int64_t neighbours = steady_neighbours);

} // namespace uringsim::analysis
