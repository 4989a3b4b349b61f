#pragma once

#include "sim/cycles.h"
#include "sim/event_queue.h"
#include "sim/ledger.h"

#include <boost/intrusive/list.hpp>

#include <string>

namespace uringsim::sim {

class Cpu;

/// What a task wants after a stage.
struct Step {
    enum class Kind : std::uint8_t {
        ready,   ///< run the next stage
        sleep,   ///< run again at `until`
        blocked, ///< run again when somebody wakes it
        done     ///< never again
    };

    Kind kind = Kind::ready;
    Cycles until = 0;

    static Step ready() { return {}; }
    static Step sleep_until(Cycles at) { return {Kind::sleep, at}; }
    static Step blocked() { return {Kind::blocked, 0}; }
    static Step done() { return {Kind::done, 0}; }
};

/// A thread of control on one CPU: a program that runs stage by stage. A stage runs without a break;
/// between stages other CPUs catch up. As an Event it is the task's own wake-up.
class Task : public Event {
  public:
    /// Leaves its list when the task goes, so a run may end while tasks still wait.
    using RunQueueHook =
        boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

    Task(std::string name, TaskId id, Cpu& cpu) : name_(std::move(name)), id_(id), cpu_(&cpu) {}

    const std::string& name() const { return name_; }
    TaskId task_id() const { return id_; }
    Cpu& cpu() const { return *cpu_; }
    PhaseId phase() const { return phase_; }
    bool finished() const { return state_ == State::done; }
    bool waiting() const { return state_ == State::waiting; }
    /// Waiting, and nothing has woken it by `now`.
    bool asleep(Cycles now) const { return waiting() && !(pending() && wakes_at_ <= now); }

    /// A task that is bound to its CPU shares it by time slices with whoever else wants it; a movable
    /// one goes to an idle CPU, if there is one.
    bool movable() const { return movable_; }
    void set_movable(bool movable) { movable_ = movable; }

    /// Runs one stage. Reads state that others can see at its beginning, or under a Lock.
    virtual Step step(Cpu& cpu) = 0;

    /// The wake-up has come: the task becomes runnable.
    void fire(Cycles now) final;

    RunQueueHook run_queue_hook;

  private:
    friend class Cpu;
    friend class Engine;
    enum class State : std::uint8_t { waiting, runnable, running, done };

    std::string name_;
    TaskId id_;
    Cpu* cpu_;
    PhaseId phase_ = PhaseId::outside;
    State state_ = State::waiting;
    Cycles waiting_since_ = 0;
    Cycles wakes_at_ = 0; ///< while its wake-up is pending
    Cycles wake_flight_ = 0; ///< of that wake-up, on its way between two CPUs
    bool movable_ = false;
};

using RunQueue =
    boost::intrusive::list<Task,
                           boost::intrusive::member_hook<Task, Task::RunQueueHook,
                                                         &Task::run_queue_hook>,
                           boost::intrusive::constant_time_size<false>>;

} // namespace uringsim::sim
