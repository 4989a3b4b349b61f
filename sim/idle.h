#pragma once

#include "sim/cycles.h"
#include "sim/jitter.h"
#include "sim/random.h"

#include <cstdint>
#include <string>
#include <vector>

namespace uringsim::sim {

/// A state of an idle CPU, as the governor lets it slip from one to the next, deeper one.
struct IdleState {
    std::string name;
    /// The CPU is in this state once it has been idle for a length drawn uniformly from
    /// [after_min, after_max] at the moment at which it goes idle.
    Cycles after_min = 0;
    Cycles after_max = 0;
    /// In how many of a million idle stretches the state can be reached at all.
    std::uint32_t chance_ppm = 1'000'000;
    /// It watches a flag in memory: whoever wakes it sends no interrupt.
    bool polling = false;
    /// From the arrival of the wake-up to the first instruction of the woken task.
    Jitter exit;
};

/// How CPUs idle. No states at all: a wake-up takes no time.
struct IdleConfig {
    std::vector<IdleState> states; ///< shallow first; the first one must be reachable at once
    /// A wake-up that reaches a CPU while it is still switching to its idle task: it turns round.
    Jitter turn_round;
    /// From the sending of a wake-up to its arrival at another, idle CPU: the interrupt's way, or
    /// that of the flag's line to a CPU that polls it. 0: part of the exit.
    Cycles wake_flight = 0;
};

/// The idle states of all CPUs of a machine. Each CPU draws from a stream of its own.
class IdleModel {
  public:
    IdleModel(IdleConfig config, std::uint64_t seed, std::uint16_t cpus);

    bool enabled() const { return !config_.states.empty(); }
    Cycles wake_flight() const { return config_.wake_flight; }

    /// A CPU goes idle: draws when it will reach which state.
    void enter(std::uint16_t cpu);

    /// The state that a CPU is in when it has been idle for so long.
    const IdleState& state(std::uint16_t cpu, Cycles idle_for) const;

    /// From the wake-up to the first instruction of the task; draws. `idle_for` below 0: the CPU is
    /// still on its way to the idle task.
    Cycles exit_latency(std::uint16_t cpu, Cycles idle_for);

  private:
    struct PerCpu {
        RandomStream stream;
        std::vector<Cycles> reached_at; ///< by state, since the CPU went idle; -1: not this time
    };

    IdleConfig config_;
    std::vector<PerCpu> cpus_;
};

} // namespace uringsim::sim
