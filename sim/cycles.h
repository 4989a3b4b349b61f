#pragma once

#include <cstdint>

namespace uringsim::sim {

/// A point or a length of simulated time, in cycles of the one machine-wide clock.
using Cycles = std::int64_t;

/// A cost, in thousandths of a cycle. Costs are finer than the clock because many kernel steps
/// take a cycle or three, and rounding each to a whole cycle would be an error of tens of percent.
using Millicycles = std::int64_t;

inline constexpr Millicycles millicycles_per_cycle = 1000;

} // namespace uringsim::sim
