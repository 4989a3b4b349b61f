#pragma once

#include "sim/cpu.h"
#include "sim/engine.h"
#include "sim/task.h"

#include <cstdint>

namespace uringsim::sim {

/// A lock that several CPUs may take.
///
/// Held within one stage (acquire, release, LockGuard): a stage may run a little ahead of the other
/// CPUs' clocks; the time of the last release keeps the order honest: whoever takes the lock moves
/// at least to that time, so nobody sees an effect before the moment at which it was made. Held
/// over several stages (take, drop): the holder is noted, and others spin until it is gone. Holders
/// never give up their CPU, so spinning always ends.
///
/// A stage that is to take a lock which others take as well begins with it: then no CPU arrives
/// with a clock before the last acquisition. Engine::causality_violations() counts who does.
class Lock {
  public:
    void acquire(Cpu& cpu) {
        if (cpu.now() < acquired_at_) {
            cpu.engine().note_causality_violation();
        }
        if (cpu.now() < released_at_) {
            ++contended_;
            waited_ += released_at_ - cpu.now();
            cpu.spin_until(released_at_);
        }
        acquired_at_ = cpu.now();
    }
    void release(Cpu& cpu) { released_at_ = cpu.now(); }

    /// A trylock: true when it is free at this CPU's time, and it is then taken.
    bool try_acquire(Cpu& cpu) {
        if (holder_ != nullptr || cpu.now() < released_at_) {
            return false;
        }
        acquire(cpu);
        return true;
    }

    /// Takes the lock for several stages. False, after spinning for a moment, while another task has
    /// it: the stage must then end and be run again.
    bool take(Cpu& cpu, const Task& task) {
        if (held_by_other(task)) {
            spin(cpu);
            return false;
        }
        if (holder_ == nullptr) {
            acquire(cpu);
            holder_ = &task;
        }
        return true;
    }
    void drop(Cpu& cpu) {
        holder_ = nullptr;
        release(cpu);
    }

    bool held_by_other(const Task& task) const { return holder_ != nullptr && holder_ != &task; }
    bool held() const { return holder_ != nullptr; }

    /// Spins for a moment on a lock that somebody holds.
    void spin(Cpu& cpu) {
        constexpr Cycles moment = 64;
        ++contended_;
        waited_ += moment;
        cpu.spin_until(cpu.now() + moment);
    }

    /// Times that somebody had to wait, and the cycles spent on it.
    std::uint64_t contended() const { return contended_; }
    Cycles waited() const { return waited_; }

  private:
    const Task* holder_ = nullptr;
    Cycles acquired_at_ = 0;
    Cycles released_at_ = 0;
    std::uint64_t contended_ = 0;
    Cycles waited_ = 0;
};

/// Takes a lock for the life of this object, within a stage.
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
