#pragma once

#include "sim/cpu.h"
#include "sim/engine.h"
#include "sim/task.h"

#include <cstdint>

namespace uringsim::sim {

/// A lock that several CPUs may take. A stage may run a little ahead of the other CPUs' clocks; the
/// time of the last release keeps the order honest: whoever takes the lock moves at least to that
/// time, so nobody sees an effect before the moment at which it was made.
class Lock {
  public:
    void acquire(Cpu& cpu) {
        if (cpu.now() < released_at_) {
            ++contended_;
            waited_ += released_at_ - cpu.now();
            cpu.spin_until(released_at_);
        }
    }
    void release(Cpu& cpu) { released_at_ = cpu.now(); }

    /// Times that somebody had to wait, and the cycles spent on it.
    std::uint64_t contended() const { return contended_; }
    Cycles waited() const { return waited_; }

  private:
    Cycles released_at_ = 0;
    std::uint64_t contended_ = 0;
    Cycles waited_ = 0;
};

/// Takes a lock for the life of this object.
class LockGuard {
  public:
    LockGuard(Lock& lock, Cpu& cpu) : lock_(lock), cpu_(cpu) { lock_.acquire(cpu_); }
    ~LockGuard() { lock_.release(cpu_); }
    LockGuard(const LockGuard&) = delete;
    LockGuard& operator=(const LockGuard&) = delete;

  private:
    Lock& lock_;
    Cpu& cpu_;
};

/// Tasks that wait for something, woken in the order in which they came.
class WaitQueue {
  public:
    /// Puts a task at the end; its step must then return Step::blocked().
    void add(Task& task) { waiters_.push_back(task); }

    bool empty() const { return waiters_.empty(); }

    /// Wakes all, at the waker's time.
    void wake_all(Cpu& waker) {
        while (!waiters_.empty()) {
            Task& task = waiters_.front();
            waiters_.pop_front();
            waker.engine().wake(task, waker.now());
        }
    }

  private:
    // A task is on a run queue or on a wait queue, never on both, so one hook serves.
    RunQueue waiters_;
};

} // namespace uringsim::sim
