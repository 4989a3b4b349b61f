#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"
#include "models/uring/syscalls.h"

#include <algorithm>
#include <cerrno>

namespace uringsim::models {

void EnterCall::begin(Ring& ring, const Args& args) {
    *this = EnterCall{};
    ring_ = &ring;
    args_ = args;
}

EnterCall::Progress EnterCall::step(sim::Cpu& cpu, Kernel& kernel, sim::Task& task) {
    switch (stage_) {
    case Stage::entry:
        self_ = &kernel.uring_task(task);
        return enter(cpu, kernel);
    case Stage::submit:
        return submit(cpu, task);
    case Stage::flush:
        return flush(cpu, kernel);
    case Stage::local_work:
        return local_work(cpu, task);
    case Stage::before_wait:
        return before_wait(kernel);
    case Stage::look:
        return look(cpu);
    case Stage::announce:
        return announce(cpu, task);
    case Stage::last_look:
        return last_look();
    case Stage::woken:
        return woken(cpu, kernel);
    case Stage::leave:
        return leave(cpu);
    }
    return Progress::done;
}

EnterCall::Progress EnterCall::go(Stage stage) {
    stage_ = stage;
    return Progress::more;
}

EnterCall::Progress EnterCall::enter(sim::Cpu& cpu, Kernel& kernel) {
    const sim::MechanismScope scope(cpu, id(Mechanism::system_call));
    self_->task.in_kernel = true;
    cpu.charge(id(Primitive::syscall_enter));
    cpu.touch(kernel.code(cpu).submit);
    cpu.count(id(Counter::enters));
    kernel.enter_noise(cpu);
    kernel.run_exit_task_work(cpu);
    ring_->take_interrupts(cpu, false);
    if (ring_->disabled()) {
        result_ = -EBADFD;
        return go(Stage::leave);
    }
    to_consume_ = std::min(args_.to_submit, ring_->prepared());
    if (args_.to_submit > 0 && ring_->single_issuer() && ring_->submitter() != self_) {
        result_ = -EEXIST;
        return go(Stage::leave);
    }
    if (args_.to_submit == 0) {
        return go(Stage::before_wait);
    }
    // with nothing in the SQ it returns 0 before it would wait
    return go(to_consume_ > 0 ? Stage::submit : Stage::leave);
}

EnterCall::Progress EnterCall::submit(sim::Cpu& cpu, const sim::Task& task) {
    if (!ring_->uring_lock().take(cpu, task)) {
        return Progress::more;
    }
    if (!begun_) {
        begun_ = true;
        ring_->requests().begin_submit(cpu, to_consume_);
    }
    auto outcome = SubmitProgress::submitted;
    do {
        outcome = ring_->submit(cpu);
        if (outcome == SubmitProgress::more) {
            return Progress::more;
        }
        submitted_ += outcome == SubmitProgress::no_request ? 0 : 1;
    } while (outcome == SubmitProgress::submitted && submitted_ < to_consume_ &&
             cpu.may_continue());
    result_ = static_cast<std::int32_t>(submitted_);
    if (outcome == SubmitProgress::submitted && submitted_ < to_consume_) {
        return Progress::more;
    }
    ring_->requests().end_submit(cpu);
    if (submitted_ == 0) {
        result_ = -EAGAIN;
    }
    // A short submission returns before it waits.
    args_.get_events = args_.get_events && submitted_ == args_.to_submit;
    return go(Stage::flush);
}

EnterCall::Progress EnterCall::flush(sim::Cpu& cpu, const Kernel& kernel) {
    {
        const sim::LockGuard completion(ring_->completion_lock(), cpu);
        ring_->flush_completions(cpu);
    }
    if (args_.get_events && ring_->defer_taskrun() && ring_->work().pending()) {
        // io_run_local_work_locked, before the lock is dropped
        return run_local(args_.min_complete, cap(kernel), Stage::before_wait);
    }
    ring_->uring_lock().drop(cpu);
    return go(Stage::before_wait);
}

std::int64_t EnterCall::cap(const Kernel& kernel) const {
    const std::int64_t cap = kernel.design().local_cap;
    return cap == 0 ? 0 : std::max<std::int64_t>(cap, args_.min_complete);
}

EnterCall::Progress EnterCall::run_local(std::int64_t min, std::int64_t max, Stage then) {
    run_ = LocalWork::Run(min, max);
    after_work_ = then;
    return go(Stage::local_work);
}

EnterCall::Progress EnterCall::local_work(sim::Cpu& cpu, const sim::Task& task) {
    const sim::MechanismScope scope(cpu, id(Mechanism::task_work));
    if (!ring_->uring_lock().take(cpu, task)) {
        return Progress::more;
    }
    LocalWorkItem item;
    while (run_.next(cpu, ring_->work(), item)) {
        ring_->run_local_work(cpu, item);
        if (!cpu.may_continue()) {
            return Progress::more;
        }
    }
    {
        const sim::LockGuard completion(ring_->completion_lock(), cpu);
        ring_->flush_completions(cpu);
    }
    if (run_.again(ring_->work())) {
        return Progress::more;
    }
    if (!ring_->work().pending()) {
        ring_->clear_taskrun();
    }
    ring_->uring_lock().drop(cpu);
    return go(after_work_);
}

EnterCall::Progress EnterCall::before_wait(const Kernel& kernel) {
    if (!args_.get_events) {
        return go(Stage::leave);
    }
    if (ring_->defer_taskrun() && ring_->submitter() != self_) {
        if (submitted_ == 0) {
            result_ = -EEXIST;
        }
        return go(Stage::leave);
    }
    wanted_ = std::min(args_.min_complete, ring_->cq().entries());
    if (ring_->work().pending()) {
        return run_local(args_.min_complete, cap(kernel), Stage::look);
    }
    return go(Stage::look);
}

EnterCall::Progress EnterCall::look(sim::Cpu& cpu) {
    if (self_->task.pending()) {
        self_->task.run_one(cpu);
        return Progress::more;
    }
    CompletionQueue& cq = ring_->cq();
    if (cq.overflow_pending() && cq.ready() < cq.entries()) {
        if (ring_->uring_lock().held()) {
            ring_->uring_lock().spin(cpu);
            return Progress::more;
        }
        const sim::LockGuard guard(ring_->uring_lock(), cpu);
        const sim::LockGuard completion(ring_->completion_lock(), cpu);
        cq.flush_overflow(cpu);
    }
    if (cq.ready() >= wanted_) {
        return go(Stage::leave);
    }
    if (ring_->take_interrupts(cpu, true)) {
        return Progress::more; // one came in, or was waited for: look again
    }
    if (cq.loss_unreported()) {
        // It does not sleep; the loss is told to whoever neither submitted nor finds a CQE.
        if (submitted_ == 0 && cq.ready() == 0) {
            result_ = -EBADR;
            cq.loss_reported();
        }
        return go(Stage::leave);
    }
    if (slept_) {
        slept_ = false;
        cpu.count(id(Counter::wakeups_spurious));
    }
    return go(Stage::announce);
}

EnterCall::Progress EnterCall::announce(sim::Cpu& cpu, sim::Task& task) {
    const sim::MechanismScope scope(cpu, id(Mechanism::system_call));
    missing_ = wanted_ - std::min(wanted_, ring_->cq().ready());
    ring_->start_wait(task, wanted_);
    cpu.charge(id(Primitive::cqring_wait));
    return go(Stage::last_look);
}

EnterCall::Progress EnterCall::last_look() {
    stage_ = Stage::woken;
    const bool stay = ring_->has_work() || self_->task.pending() || ring_->cq().ready() >= wanted_;
    slept_ = !stay;
    return stay ? Progress::more : Progress::blocked;
}

EnterCall::Progress EnterCall::woken(sim::Cpu& cpu, Kernel& kernel) {
    const sim::MechanismScope scope(cpu, id(Mechanism::system_call));
    ring_->stop_wait(self_->task.task());
    if (slept_) {
        kernel.wake_noise(cpu);
    }
    if (ring_->work().pending()) {
        const std::int64_t max = kernel.design().local_cap == 0 ? 0 : missing_;
        return run_local(missing_, max, Stage::look);
    }
    return go(Stage::look);
}

EnterCall::Progress EnterCall::leave(sim::Cpu& cpu) {
    if (self_->task.pending()) {
        self_->task.run_one(cpu); // on the way to user mode
        return Progress::more;
    }
    self_->task.in_kernel = false;
    return Progress::done;
}

} // namespace uringsim::models
