#pragma once

#include "sim/cpu.h"
#include "sim/engine.h"

#include <cstdint>
#include <deque>

namespace uringsim::models {

/// A structure with an rcu_head in it.
class RcuCallback {
  public:
    virtual ~RcuCallback() = default;
    virtual void rcu_callback(sim::Cpu& cpu) = 0;

  private:
    friend class Rcu;
    RcuCallback* next_ = nullptr;
};

/// How long grace periods last.
struct RcuTiming {
    sim::Cycles jiffy = 1;
    std::int64_t hz = 250;
    std::uint32_t possible_cpus = 1;
    sim::Cycles softirq_limit = 0; ///< a run of softirqs gives way after this long (2 ms)
    sim::Cycles batch_limit = 0;   ///< a long batch of callbacks stops after this long (3 ms)

    /// Jiffies from the start of a grace period to its end: the wait before quiescent states are
    /// first forced, 1 + (HZ > 250) + (HZ > 500) and one more for every 256 CPUs, and the jiffy
    /// within which a busy CPU's tick reports that it passed through user mode.
    std::int64_t jiffies() const;
};

/// Tree RCU as callbacks see it. call() puts a callback on the list of its CPU; after the first
/// grace period that starts later than that, a softirq **on the same CPU** runs it, in batches: 10
/// at a time (or 1/128 of what waits), without that limit once more than 10,000 wait.
///
/// While callbacks wait, grace periods follow each other without a gap, and what is called during
/// one is served after the next: so 1 to 2 of them pass. Not modelled: the grace-period kthread's
/// own work, expedited grace periods, callback offloading. Source: kernel/rcu/tree.c, tree.h (6.1):
/// rcu_init_geometry, rcu_do_batch, rcu_core.
class Rcu {
  public:
    Rcu(sim::Engine& engine, const RcuTiming& timing);
    Rcu(const Rcu&) = delete;
    Rcu& operator=(const Rcu&) = delete;
    ~Rcu();

    /// call_rcu.
    void call(sim::Cpu& cpu, RcuCallback& callback);

    /// Callbacks called and not yet run, now and at most.
    std::uint64_t pending() const { return pending_; }
    std::uint64_t peak_pending() const { return peak_pending_; }

    sim::Cycles grace_period() const { return timing_.jiffies() * timing_.jiffy; }

  private:
    /// Callbacks in the order of their calls.
    struct List {
        RcuCallback* first = nullptr;
        RcuCallback* last = nullptr;

        void push(RcuCallback& callback);
        RcuCallback* pop();
        void append(List& other);
        bool empty() const { return first == nullptr; }
    };

    /// The RCU softirq of one CPU, with that CPU's segmented list of callbacks.
    class CpuCallbacks final : public sim::SoftIrq {
      public:
        explicit CpuCallbacks(Rcu& rcu)
            : rcu_(rcu) {}
        bool serve(sim::Cpu& cpu) override;

        List next;    ///< wait for the grace period after this one
        List waiting; ///< wait for the end of this one
        List done;
        std::uint64_t count = 0;

      private:
        bool batch(sim::Cpu& cpu);

        Rcu& rcu_;
    };

    class GracePeriod final : public sim::Event {
      public:
        explicit GracePeriod(Rcu& rcu)
            : rcu_(rcu) {}
        void fire(sim::Cycles now) override { rcu_.grace_period_ends(now); }

      private:
        Rcu& rcu_;
    };

    void grace_period_ends(sim::Cycles now);

    sim::Engine& engine_;
    RcuTiming timing_;
    GracePeriod grace_period_{*this};
    std::deque<CpuCallbacks> cpus_;
    std::uint64_t pending_ = 0;
    std::uint64_t peak_pending_ = 0;
};

} // namespace uringsim::models
