#pragma once

#include "sim/cpu.h"
#include "sim/engine.h"
#include "sim/task.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace uringsim::models {

/// struct work_struct: something to be done later by a kworker.
class Work {
  public:
    Work() = default;
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    virtual ~Work() = default;

    /// Does one stage. True: there is more of this execution to do.
    virtual bool run(sim::Cpu& cpu) = 0;

    /// Some kworker has begun and not ended it.
    bool is_running() const { return running_on_.has_value(); }

  private:
    friend class Workqueue;
    bool queued_ = false;
    std::optional<std::uint16_t> running_on_; ///< the CPU of the kworker that is at it
};

/// The bound workqueue system_wq: a work runs on the CPU that queued it, as a task that shares that
/// CPU with whoever runs there. A work is queued at most once; it can be queued again while it
/// runs, and then runs again on the CPU where it is running, whoever queues it: no work runs twice
/// at the same time. Source: kernel/workqueue.c (6.1): queue_work_on, mod_delayed_work_on,
/// flush_delayed_work, and __queue_work with find_worker_executing_work for the last rule.
class Workqueue {
  public:
    explicit Workqueue(sim::Engine& engine);
    Workqueue(const Workqueue&) = delete;
    Workqueue& operator=(const Workqueue&) = delete;
    ~Workqueue();

    /// A work with a timer before it: struct delayed_work.
    class DelayedWork : public Work, private sim::Event {
      public:
        explicit DelayedWork(Workqueue& queue)
            : queue_(queue) {}
        ~DelayedWork() override;

        /// mod_delayed_work: queues it on this CPU after `delay`, whatever was planned before.
        void modify(sim::Cpu& cpu, sim::Cycles delay);

        /// flush_delayed_work, without the wait: what is planned runs now.
        void expedite(sim::Cpu& cpu);

      private:
        void fire(sim::Cycles now) override;

        Workqueue& queue_;
        std::uint16_t cpu_ = 0;
    };

    /// queue_work on a CPU, at `at`; on another one where the work is running.
    void queue(std::uint16_t cpu, Work& work, sim::Cycles at);

  private:
    /// The kworker of one CPU.
    class Worker final : public sim::Task {
      public:
        explicit Worker(sim::Cpu& cpu)
            : Task("kworker", sim::TaskId{0}, cpu) {}
        sim::Step step(sim::Cpu& cpu) override;

        std::deque<Work*> works;

      private:
        Work* running_ = nullptr;
    };

    void forget(Work& work);

    sim::Engine& engine_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

} // namespace uringsim::models
