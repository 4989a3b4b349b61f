#include "models/counters.h"
#include "models/kernel.h"
#include "models/mechanisms.h"
#include "models/primitives.h"
#include "models/uring/ring.h"

#include <algorithm>

// The parts of a ring that other CPUs reach: waiting, local work, task_work, message memory.

namespace uringsim::models {

namespace {

/// A message that is a request of its own goes to and fro between two CPUs with two of its lines:
/// the one of its cqe, where the free pointer is too, and the one of its io_task_work.
/// Source: struct io_kiocb, include/linux/io_uring_types.h (6.12): offsets 80 and 144.
void touch_message_request(sim::Cpu& cpu, Object& memory) {
    cpu.touch(memory.line());
    cpu.touch((&memory.line())[1]);
}

} // namespace

void Ring::enable(UringTask* task) {
    params_.disabled = false;
    if (params_.single_issuer && submitter_ == nullptr) {
        submitter_ = task;
    }
}

// --- Waiting ---

void Ring::start_wait(sim::Task& task, std::uint32_t wanted) {
    wait_changed_.change(task.cpu());
    task.cpu().touch(wait_line_);
    waiters_.push_back({&task, wanted});
    if (params_.defer_taskrun) {
        cq_wait_nr_ = wanted - cq_.ready();
    }
}

void Ring::stop_wait(sim::Task& task) {
    wait_changed_.change(task.cpu());
    std::erase_if(waiters_, [&task](const Waiter& waiter) { return waiter.task == &task; });
    if (params_.defer_taskrun) {
        cq_wait_nr_ = nobody_waits;
    }
}

void Ring::wake_waiters(sim::Cpu& cpu) {
    for (const Waiter& waiter : waiters_) {
        // io_wake_function: enough completions, or work that the waiter has to run
        if (waiter.task != cpu.current() && (cq_.ready() >= waiter.wanted || has_work())) {
            wake_up_state(cpu, *waiter.task);
        }
    }
}

// --- Local work and task_work ---

void Ring::add_local_work(sim::Cpu& cpu, const LocalWorkItem& item, bool lazy) {
    const LocalWork::Added added = work_.push(cpu, item, lazy);
    {
        const sim::MechanismScope scope(cpu, id(Mechanism::task_work));
        cpu.charge(id(Primitive::local_work_add));
    }
    if (added.first) {
        taskrun_ = true;
    }
    wake_local(cpu, added);
}

void Ring::wake_local(sim::Cpu& cpu, const LocalWork::Added& added) {
    wait_changed_.await(cpu);
    cpu.read(wait_line_);
    std::uint32_t nr_tw = added.nr_tw;
    std::uint32_t nr_tw_prev = added.nr_tw_prev;
    const Design& design = kernel_.design();
    if (!design.local_counting) {
        // 6.1: the first one wakes whoever waits, the others nobody
        nr_tw = added.first ? cq_wait_nr_ : 0;
        nr_tw_prev = 0;
        if (cq_wait_nr_ == nobody_waits) {
            nr_tw = 0;
        }
    } else if (design.msg_wake != MsgWake::always) {
        nr_tw += cq_.overflowed(); // io_defer_wake of the v3 series, patch 3
        if (design.msg_wake == MsgWake::batched_local) {
            nr_tw_prev += cq_.overflowed();
        }
    }
    if (nr_tw < cq_wait_nr_ || nr_tw_prev >= cq_wait_nr_ || submitter_ == nullptr) {
        cpu.count(id(Counter::wakeups_skipped));
        return;
    }
    wake_up_state(cpu, submitter_->task.task());
}

void Ring::run_local_work(sim::Cpu& cpu, const LocalWorkItem& item) {
    cpu.count(id(Counter::local_work_run));
    if (item.request != nullptr) {
        completed_.push_back(item.request);
        return;
    }
    const sim::MechanismScope scope(cpu, id(Mechanism::msg_ring));
    touch_message_request(cpu, *item.memory);
    post(cpu, item.message);
    free_message_memory(cpu, *item.memory);
}

void Ring::complete_by_task_work(sim::Cpu& cpu, Request& request) {
    if (params_.defer_taskrun) {
        add_local_work(cpu, {.request = &request}, false);
        return;
    }
    if (creator_ == nullptr) {
        completed_.push_back(&request);
        return;
    }
    // io_req_normal_work_add: only the first one on the task's list queues task_work
    UringTask& owner = *creator_;
    owner.list_changed.change(cpu);
    owner.task_list.push_back(&request);
    taskrun_ = true;
    if (owner.task_list.size() == 1) {
        owner.work = {&run_task_list, &owner};
        owner.task.add(cpu, owner.work);
        owner.task.signal(cpu);
    }
}

bool Ring::run_task_list(sim::Cpu& cpu, TaskWork& work) {
    UringTask& owner = *static_cast<UringTask*>(work.data);
    Request& request = *owner.task_list.front();
    Ring& ring = *request.ring;
    if (!ring.uring_lock_.try_acquire(cpu)) {
        ring.uring_lock_.spin(cpu);
        return true;
    }
    owner.list_changed.change(cpu);
    owner.task_list.erase(owner.task_list.begin());
    ring.completed_.push_back(&request);
    {
        const sim::LockGuard guard(ring.completion_lock_, cpu);
        ring.flush_completions(cpu);
    }
    ring.uring_lock_.release(cpu);
    ring.taskrun_ = false;
    return !owner.task_list.empty();
}

void Ring::finish_punted(sim::Cpu& cpu, Request& request, std::int32_t result) {
    request.res = result;
    complete_by_task_work(cpu, request);
}

// --- Message memory ---

Object* Ring::take_message_memory(sim::Cpu& cpu) {
    if (msg_cache_ != nullptr) {
        if (Object* cached = msg_cache_->get(cpu)) {
            cpu.count(id(Counter::msg_cache_hit));
            return cached;
        }
    }
    cpu.count(id(Counter::msg_cache_miss));
    return cq_.entry_cache().alloc(cpu);
}

void Ring::wake_for_overflow(sim::Cpu& cpu, std::uint32_t before) {
    if (!params_.defer_taskrun) {
        wake_cq(cpu); // patch 9: wq_has_sleeper
        return;
    }
    if (submitter_ == nullptr) {
        return;
    }
    wait_changed_.await(cpu);
    cpu.read(wait_line_);
    const std::uint32_t prev = before + work_.head_count();
    // Patch 8 as posted: prev + 1 has the entries in it, and io_defer_wake adds them once more.
    const std::uint32_t now = prev + 1 + cq_.overflowed();
    const bool batched = kernel_.design().msg_wake != MsgWake::always;
    if (batched && (now < cq_wait_nr_ || prev >= cq_wait_nr_)) {
        cpu.count(id(Counter::wakeups_skipped));
        return;
    }
    wake_up_state(cpu, submitter_->task.task());
}

Object* Ring::message_memory_for(sim::Cpu& cpu, Ring& target) {
    constexpr std::uint32_t request_lines = 4;
    const MsgCache pairing = kernel_.design().msg_cache;
    if (pairing != MsgCache::none) {
        Ring& from = pairing == MsgCache::target ? target : *this;
        if (from.msg_lock_.try_acquire(cpu)) {
            Object* cached = from.msg_cache_->get(cpu);
            from.msg_lock_.release(cpu);
            if (cached != nullptr) {
                touch_message_request(cpu, *cached);
                cpu.count(id(Counter::msg_cache_hit));
                return cached;
            }
        }
    }
    cpu.count(id(Counter::msg_cache_miss));
    Object* memory = kernel_.request_slab().alloc(cpu);
    if (memory != nullptr) {
        touch_message_request(cpu, *memory);
        cpu.charge(id(Primitive::zero_line), request_lines);
    }
    return memory;
}

void Ring::free_message_memory(sim::Cpu& cpu, Object& memory) {
    if (msg_cache_ != nullptr && msg_lock_.try_acquire(cpu)) {
        const bool kept =
            msg_cache_->cached() < static_cast<std::uint32_t>(kernel_.design().msg_cache_limit) &&
            msg_cache_->put(cpu, memory);
        msg_lock_.release(cpu);
        if (kept) {
            return;
        }
    }
    if (kernel_.design().msg_free_rcu) {
        kernel_.kfree_rcu(cpu, memory);
    } else {
        kfree(cpu, memory);
    }
}

} // namespace uringsim::models
