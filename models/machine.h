#pragma once

#include "models/primitives.h"
#include "sim/idle.h"
#include "sim/jitter.h"
#include "sim/memory.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uringsim::models {

/// Where a figure comes from.
enum class Provenance : std::uint8_t { published, fitted, measured, assumed };

std::string_view name(Provenance provenance);

/// What one primitive costs on one machine, and how that is known.
struct Cost {
    sim::Millicycles millicycles = 0;
    Provenance provenance = Provenance::assumed;
    std::string source;
};

/// What a machine with several CPUs adds: timers, idle states, scatter. A default one has none: timers
/// fire on time, wake-ups take no time, nothing scatters.
struct Timing {
    sim::Cycles timer_slack = 0; ///< a timer fires up to this late (PR_SET_TIMERSLACK; 50 us)
    sim::Cycles tick = 0;        ///< period of the scheduler's tick, which fires due timers; 0: none
    sim::Cycles cold_after = 0;  ///< a pause at least this long makes the next entries dearer
    std::int64_t clock_tick_ns = 1; ///< what the programs' clock ticks in
    sim::IdleConfig idle;
    sim::Jitter noise;      ///< of each system call
    sim::Jitter wake_noise; ///< of each wake-up out of a wait
    sim::Jitter cold_noise; ///< of the first entry after a pause; halves with each further one
    /// Where each group of values comes from: name, provenance and source.
    std::vector<std::pair<std::string, Cost>> sources;
};

/// What a cost may be. Cycles stay within the primitive's physical range. Under an instruction
/// clock nothing is known of memory, so a cost may be 0, and a slow path of many cheap instructions
/// may count many times its cycles.
struct CostRange {
    double min = 0;
    double max = 0;
};
CostRange cost_range(Primitive primitive, bool instructions);

/// A machine: clock, CPUs, caches, and the cost of every primitive.
struct Machine {
    std::string name;
    std::string summary;
    std::int64_t mhz = 3600;
    bool instructions = false;       ///< costs are instructions (an instruction clock), not cycles
    std::int64_t cpus = 20;          ///< CPUs that the kernel sees: decides slab orders
    std::int64_t possible_cpus = 0;  ///< copies of percpu memory; 0: as many as `cpus`
    std::int64_t time_slice_us = 3000; ///< how long tasks that share a CPU keep it in turn
    sim::MemoryGeometry memory;
    std::int64_t aging_idle_us = 1000; ///< an idle gap at least this long cools the caches
    /// Instructions that a core has in flight at once (reorder buffer). 0: not known, all work of a
    /// bulk overlaps as far as its costs say.
    std::int64_t reorder_entries = 0;
    Timing timing;
    std::array<Cost, primitive_count> costs;
    std::vector<Primitive> free_costs; ///< those that `calibrate` may choose; in the file's order
    std::vector<std::string> fitted_to; ///< ids of the figures that the free costs were chosen by

    /// All costs at the defaults of the primitive table, marked as assumed.
    Machine();

    Cost& cost(Primitive primitive) { return costs[static_cast<std::size_t>(primitive)]; }
    const Cost& cost(Primitive primitive) const {
        return costs[static_cast<std::size_t>(primitive)];
    }

    sim::Cycles cycles_of_us(std::int64_t us) const { return us * mhz; }
    double ns_of_cycles(double cycles) const { return cycles * 1000.0 / static_cast<double>(mhz); }
};

} // namespace uringsim::models
