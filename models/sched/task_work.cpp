#include "models/sched/task_work.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"
#include "sim/engine.h"

namespace uringsim::models {

namespace {

void send_interrupt(sim::Cpu& cpu) {
    cpu.charge(id(Primitive::wake_ipi));
    cpu.count(id(Counter::wakeups_ipi));
}

/// Whether a wake-up of this CPU needs an interrupt at `now`.
bool needs_interrupt(sim::Cpu& target, sim::Cycles now) {
    if (target.busy()) {
        return true; // it runs another task and must look at its queue
    }
    const sim::Cycles idle_for = now - target.idle_since();
    const sim::IdleModel& idle = target.engine().idle();
    return idle.enabled() && idle_for >= 0 && !idle.state(target.id(), idle_for).polling;
}

} // namespace

bool TaskStruct::add(sim::Cpu& cpu, TaskWork& work) {
    if (exiting) {
        return false;
    }
    const sim::MechanismScope scope(cpu, id(Mechanism::task_work));
    changed_.change(cpu);
    cpu.touch(line_);
    cpu.charge(id(Primitive::task_work_add));
    works_.push_back(&work);
    return true;
}

void TaskStruct::signal(sim::Cpu& cpu) {
    if (task_.asleep(cpu.now())) {
        wake_up_state(cpu, task_);
        return;
    }
    if (!in_kernel && &task_.cpu() != &cpu) {
        const sim::MechanismScope scope(cpu, id(Mechanism::wakeup));
        send_interrupt(cpu); // kick_process
    }
}

void TaskStruct::run_one(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::task_work));
    if (running_.empty()) {
        changed_.change(cpu);
        cpu.touch(line_);
        cpu.charge(id(Primitive::task_work_run));
        running_.swap(works_);
    }
    TaskWork* work = running_.back();
    if (!work->func(cpu, *work)) {
        std::erase(running_, work); // it may have added others
        cpu.count(id(Counter::task_work_run));
    }
}

bool wake_up_state(sim::Cpu& cpu, sim::Task& task) {
    const sim::MechanismScope scope(cpu, id(Mechanism::wakeup));
    if (!task.asleep(cpu.now())) {
        cpu.charge(id(Primitive::wake_check));
        return false;
    }
    const bool interrupt = needs_interrupt(task.cpu(), cpu.now());
    cpu.charge(id(Primitive::wake_task));
    if (interrupt) {
        send_interrupt(cpu);
    }
    cpu.count(id(Counter::wakeups));
    const bool elsewhere = &task.cpu() != &cpu;
    cpu.engine().wake(task, cpu.now(), elsewhere ? cpu.engine().idle().wake_flight() : 0);
    return true;
}

} // namespace uringsim::models
