#pragma once

#include "sim/cycles.h"
#include "sim/histogram.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace uringsim::scenarios {

/// Counters by name, in the order of the counter table. A counter that a backend cannot know is
/// absent; a simulated run has all of them.
using CounterValues = std::vector<std::pair<std::string, std::uint64_t>>;

/// One phase of a run.
struct PhaseResult {
    std::string name;
    std::uint64_t operations = 1;             ///< in one round
    std::vector<sim::Cycles> cycles_by_round; ///< measured rounds only
    CounterValues counters;                   ///< summed over the measured rounds

    sim::Cycles total_cycles() const;
    double mean_cycles() const;
};

/// One row of the ledger. The cycles of a phase's rows sum to the phase's total exactly; a phase
/// that contains others has their rows too.
struct LedgerRow {
    std::string phase;
    std::string task;
    std::string mechanism;
    std::string primitive;
    std::uint64_t count = 0;
    sim::Cycles cycles = 0;
};

/// The state of a ring's node cache where the scenario asked for it.
struct SnapshotResult {
    std::string name;
    std::string ring;
    std::uint64_t cached = 0;
    std::uint64_t capacity = 0;
};

/// Free objects that an allocator keeps, and where, at the end of the run.
struct HeldResult {
    std::string cache; ///< "kmalloc-256"; "requests" for the per-CPU request caches
    std::string where; ///< "CPU 2 array"
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
};

/// Memory of requests; high-water marks over the run but for the last three.
struct RequestMemoryResult {
    std::uint64_t in_flight_peak = 0; ///< of one ring, submitted and not yet completed: what is needed
    std::uint64_t allocated_peak = 0; ///< out of the slab allocator
    std::uint64_t cached_peak = 0;    ///< in the per-CPU caches
    std::uint64_t slot_bytes = 0;
    std::uint64_t slabs_at_end = 0;
    std::uint64_t slab_bytes_at_end = 0;
    std::vector<HeldResult> held; ///< where the free ones are
};

/// Memory that the resource paths hold; high-water marks over the run but for the last two.
struct MemoryResult {
    std::uint64_t nodes_live_peak = 0;
    std::uint64_t nodes_cached_peak = 0;
    std::uint64_t node_slot_bytes = 0;
    std::uint64_t node_array_bytes_peak = 0;
    std::uint64_t retained_bytes_peak = 0;
    std::uint64_t node_slabs_at_end = 0;
    std::uint64_t node_slab_bytes_at_end = 0;
    std::uint64_t node_footprint_bytes = 0; ///< one node with all that is allocated for it
    std::uint64_t live_bytes_peak = 0;      ///< of nodes in use or waiting to be freed
    std::uint64_t percpu_bytes_peak = 0;    ///< copies for all possible CPUs
    std::uint64_t rcu_callbacks_peak = 0;   ///< waiting for their grace period at most
    RequestMemoryResult requests{};
};

/// How long messages took, in ns: sender (submission to own completion) or receiver (send to read).
struct LatencyResult {
    std::string name;
    sim::Histogram histogram;
};

/// One effective setting of a run: knob, parameter or machine, as text.
struct Setting {
    std::string name;
    std::string value;
    std::string unit;
};

/// What a run cost and why: the same structure for a simulated run and a native one.
struct Result {
    std::string scenario;
    std::string design;
    std::string machine;
    std::int64_t machine_mhz = 0;
    std::uint64_t seed = 0;
    std::uint64_t fingerprint = 0;
    std::vector<Setting> parameters;
    std::vector<Setting> knobs;
    std::vector<PhaseResult> phases; ///< in the order of the scenario file, parents first
    CounterValues counters;          ///< the whole run
    std::vector<LedgerRow> ledger;   ///< phases only
    std::vector<LedgerRow> ledger_outside; ///< what ran outside every measured phase
    std::vector<SnapshotResult> snapshots;
    MemoryResult memory;
    std::vector<LatencyResult> latencies; ///< in the order of the scenario file

    double ns(double cycles) const { return cycles * 1000.0 / static_cast<double>(machine_mhz); }
    const PhaseResult* find_phase(const std::string& name) const;
};

/// The value of a counter; 0 where it is absent.
std::uint64_t counter_value(const CounterValues& counters, const std::string& name);

} // namespace uringsim::scenarios
