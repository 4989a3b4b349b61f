#pragma once

#include "sim/cpu.h"
#include "sim/memory.h"
#include "sim/task.h"

#include <vector>

namespace uringsim::models {

/// One item of generic task_work: struct callback_head. `func` runs in the task; true means that it
/// has more to do, as a stage of its own, before the next item.
struct TaskWork {
    bool (*func)(sim::Cpu& cpu, TaskWork& work) = nullptr;
    void* data = nullptr;
};

/// A task as the kernel sees it: struct task_struct with its list of task_work.
///
/// Source: task_work_add, task_work_run, kernel/task_work.c (6.12). The list is a stack: what was
/// added last runs first (the FIFO guarantee went with c82199061009, 2015).
class TaskStruct {
  public:
    explicit TaskStruct(sim::Task& task)
        : task_(task) {}

    sim::Task& task() const { return task_; }

    /// The task is inside a system call: it looks for task_work by itself before it leaves.
    bool in_kernel = false;

    /// PF_EXITING: no more task_work is accepted.
    bool exiting = false;

    /// task_work_add without its wake-up; the caller follows with signal(), in a stage of its own.
    /// False when the task is exiting.
    bool add(sim::Cpu& cpu, TaskWork& work);

    /// TWA_SIGNAL: wakes the task if it sleeps, interrupts it if it runs in user mode elsewhere.
    void signal(sim::Cpu& cpu);

    bool pending() const { return !works_.empty() || !running_.empty(); }

    /// Runs one item, or one stage of one. Only in the task itself.
    void run_one(sim::Cpu& cpu);

  private:
    sim::Task& task_;
    std::vector<TaskWork*> works_;   ///< as they were added
    std::vector<TaskWork*> running_; ///< taken off; the last one runs next
    sim::Line line_;
};

/// wake_up_state: wakes a task that sleeps, at the waker's cost; true when it did.
/// Source: try_to_wake_up, ttwu_queue, kernel/sched/core.c (6.12). A CPU that polls its idle task's
/// flag, or is still on its way to the idle task, needs no interrupt.
bool wake_up_state(sim::Cpu& cpu, sim::Task& task);

} // namespace uringsim::models
