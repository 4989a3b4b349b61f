#pragma once

#include <cstdint>

namespace uringsim::analysis::native {

/// CLOCK_MONOTONIC_RAW in ns: no adjustment while a round runs.
std::uint64_t now_ns();

/// The least time between two readings of the clock.
std::uint64_t clock_cost_ns();

/// One null system call (getppid), as the mean of `calls`; 0 of none. Its cost follows the
/// machine's slow mode, which a loop in user mode does not.
double null_call_ns(std::uint32_t calls);

/// How often this thread lost its CPU so far, not of its own will.
long involuntary_switches();

} // namespace uringsim::analysis::native
