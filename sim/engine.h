#pragma once

#include "sim/cost.h"
#include "sim/cpu.h"
#include "sim/cycles.h"
#include "sim/event_queue.h"
#include "sim/fingerprint.h"
#include "sim/idle.h"
#include "sim/ledger.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace uringsim::sim {

/// What the engine needs to know of a machine.
struct EngineConfig {
    std::uint16_t cpus = 1;
    /// How long a task keeps a CPU that another one waits for; 0: until it blocks.
    Cycles time_slice = 0;
    MemoryGeometry geometry;
    EnginePrimitives primitives;
    IdleConfig idle;        ///< none: a wake-up of an idle CPU takes no time
    std::uint64_t seed = 1; ///< of the streams that the engine draws from
};

/// The simulation of one machine: its CPUs, the calendar of events, the ledger. One object graph a
/// run and no globals, so runs may go on side by side in different host threads.
///
/// While only one CPU has something to do, its stages run one after another with no event in
/// between; as soon as another has an event at or before that CPU's clock, stages become events.
class Engine {
  public:
    Engine(EngineConfig config, CostTable costs, std::size_t mechanisms, std::size_t counters);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    ~Engine() { clear(); }

    Cpu& cpu(std::uint16_t id) { return *cpus_.at(id); }
    std::uint16_t cpus() const { return config_.cpus; }

    Cycles time_slice() const { return config_.time_slice; }

    /// The idle CPU with the lowest number; nullptr where all are busy.
    Cpu* idle_cpu();

    Ledger& ledger() { return ledger_; }
    const Ledger& ledger() const { return ledger_; }
    /// Of all that has happened so far.
    Fingerprint fingerprint() const;
    const CostTable& costs() const { return costs_; }
    const EventQueue& queue() const { return queue_; }
    IdleModel& idle() { return idle_; }

    /// Plans an event. `at` must not lie before the event that is being handled.
    void schedule(Event& event, Cycles at) {
        check_time(at);
        queue_.schedule(event, at);
    }
    void cancel(Event& event) { queue_.cancel(event); }

    /// Makes a waiting task runnable at `at`; one that sleeps until later wakes before its time.
    /// Nothing happens to a task that is not waiting, or that wakes earlier anyway.
    void wake(Task& task, Cycles at);

    /// Effects that were seen before the time at which they were made: an event planned for a time
    /// that had passed, or a line that one CPU read or wrote at a time before another one's last write.
    /// Counted in debug builds; always 0 in others.
    std::uint64_t causality_violations() const { return causality_violations_; }
    void note_causality_violation();

    /// By how much at most a CPU came too late to a lock, in cycles: one with a clock ahead of its
    /// own had taken it. It waited for that one, so this is how far the order of lock holders was
    /// off: at most the length of a stage.
    Cycles disorder() const { return disorder_; }
    void note_disorder(Cycles late) { disorder_ = std::max(disorder_, late); }

    /// Handles the earliest event; there must be one.
    void run_one() {
        current_ = queue_.next_time();
        queue_.pop().fire(current_);
    }

    /// Runs until no event is left.
    void run();

    /// Forgets all events. For whoever owns tasks and events and ends a run early.
    void clear() { queue_.clear(); }

  private:
    friend class Cpu;
    void schedule_task(Task& task, Cycles at);
    void check_time([[maybe_unused]] Cycles at) {
#ifndef NDEBUG
        if (at < current_) {
            note_causality_violation();
        }
#endif
    }

    EngineConfig config_;
    CostTable costs_;
    Ledger ledger_;
    Fingerprint stages_;
    EventQueue queue_;
    IdleModel idle_;
    std::vector<std::unique_ptr<Cpu>> cpus_;
    std::uint64_t causality_violations_ = 0;
    Cycles disorder_ = 0;
    Cycles current_ = 0; ///< time of the event that is being handled
};

} // namespace uringsim::sim
