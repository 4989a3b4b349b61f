// The operations of a program that are one step each, and assertions.

#include "models/mechanisms.h"
#include "models/primitives.h"
#include "scenarios/program_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

namespace uringsim::scenarios {

sim::Step ProgramTask::run(const op::Submit& op, sim::Cpu& cpu) {
    models::Ring& own = ring(op.ring);
    if (stage_ == Stage::idle) {
        enter_.begin(own, {own.prepared(), op.wait.value_or(0), op.wait.has_value()});
        stage_ = Stage::enter;
        return sim::Step::ready();
    }
    const auto progress = enter_.step(cpu, run_.kernel, *this);
    if (progress == models::EnterCall::Progress::blocked) {
        return sim::Step::blocked();
    }
    if (progress == models::EnterCall::Progress::more) {
        return sim::Step::ready();
    }
    check(cpu, enter_.result(), op.expect, "io_uring_enter");
    return advance();
}

sim::Step ProgramTask::run(const op::Reap& op, sim::Cpu& cpu) {
    models::Ring& own = ring(op.ring);
    const std::uint32_t wanted = op.count.value_or(own.cq().ready());
    for (std::uint32_t i = 0; i < wanted; ++i) {
        const models::Cqe* cqe = own.cq().reap(cpu);
        if (!cqe) {
            fail(fmt::format("{} of {} completions are in the CQ of ring \"{}\"", i, wanted,
                             own.name()));
        }
        check(cpu, cqe->res, op.expect, "a completion");
        if (op.first_user_data && cqe->user_data != *op.first_user_data + i) {
            fail(fmt::format("completion {} carries user_data {}, expected {}", i, cqe->user_data,
                             *op.first_user_data + i));
        }
    }
    return advance();
}

sim::Step ProgramTask::run(const op::Poll& op, sim::Cpu& cpu) {
    models::Ring& own = ring(op.ring);
    if (stage_ == Stage::idle) {
        models::Sqe& sqe = next_sqe(cpu, own);
        sqe.opcode = models::Opcode::poll_add;
        sqe.file_slot = op.slot;
        sqe.user_data = run_.next_user_data[op.ring]++;
        enter_.begin(own, {own.prepared(), 0, false});
        stage_ = Stage::enter;
        return sim::Step::ready();
    }
    const auto progress = enter_.step(cpu, run_.kernel, *this);
    if (progress != models::EnterCall::Progress::done) {
        return sim::Step::ready();
    }
    if (op.expect.kind == Expect::Kind::value) {
        const models::Cqe* cqe = own.cq().reap(cpu);
        check(cpu, cqe ? cqe->res : 0, op.expect, "poll");
    }
    return advance();
}

sim::Step ProgramTask::run(const op::EndPoll& op, sim::Cpu& cpu) {
    constexpr std::int32_t poll_in = 1;
    if (!ring(op.ring).end_poll(cpu, poll_in)) {
        fail(fmt::format("no poll is pending on ring \"{}\"", ring(op.ring).name()));
    }
    return advance();
}

sim::Step ProgramTask::run(const op::Sleep& op, sim::Cpu& cpu) {
    if (op.us == 0) {
        return advance();
    }
    if (stage_ == Stage::sleeping) {
        return sleep_until(cpu, until_);
    }
    const sim::Cycles length =
        run_.kernel.machine().cycles_of_us(static_cast<std::int64_t>(op.us));
    return sleep_until(cpu, run_.kernel.timer_fires(cpu.now() + length));
}

/// nanosleep: a task that is woken early runs its task_work and sleeps on.
sim::Step ProgramTask::sleep_until(sim::Cpu& cpu, sim::Cycles until) {
    if (cpu.now() < until) {
        stage_ = Stage::sleeping;
        until_ = until;
        return sim::Step::sleep_until(until);
    }
    advance();
    return step(cpu);
}

sim::Step ProgramTask::run(const op::SetRlimitNofile& op, sim::Cpu& /*cpu*/) {
    run_.kernel.rlimit_nofile = op.limit;
    return advance();
}

sim::Step ProgramTask::run(const op::FailAlloc& op, sim::Cpu& /*cpu*/) {
    switch (op.what) {
    case op::FailWhat::rsrc_node:
        run_.kernel.node_slab().inject_failure(op.after, op.times);
        break;
    case op::FailWhat::overflow_entry:
        ring(op.ring).cq().inject_overflow_failure(op.after, op.times);
        break;
    case op::FailWhat::request:
        run_.kernel.request_slab().inject_failure(op.after, op.times);
        break;
    }
    return advance();
}

namespace {

constexpr std::size_t pointers_a_line = 8;

/// Requests that the per-CPU caches have ready.
std::uint64_t available_requests(models::Kernel& kernel) {
    std::uint64_t sum = 0;
    for (std::uint16_t cpu = 0; cpu < kernel.engine().cpus(); ++cpu) {
        for (const bool interrupt : {false, true}) {
            sum += kernel.per_cpu_requests().held(cpu, interrupt).available;
        }
    }
    return sum;
}

std::uint64_t measure(models::Kernel& kernel, models::Ring* ring, op::Quantity quantity) {
    switch (quantity) {
    case op::Quantity::cq_ready:
        return ring->cq().ready();
    case op::Quantity::cq_overflowed:
        return ring->cq().overflowed();
    case op::Quantity::cq_dropped:
        return ring->cq().dropped();
    case op::Quantity::files_installed:
        return ring->files().installed();
    case op::Quantity::files_held:
        return ring->lifetime().files_held();
    case op::Quantity::nodes_cached:
        return ring->node_cache().cached();
    case op::Quantity::node_capacity:
        return ring->node_cache().capacity();
    case op::Quantity::rings_alive:
        return kernel.rings_alive();
    case op::Quantity::buffers_installed:
        return ring->buffers().installed();
    case op::Quantity::pins:
        return kernel.pinned().pins();
    case op::Quantity::pages_accounted:
        return kernel.pinned().accounted_pages();
    case op::Quantity::requests_cached:
        return kernel.per_cpu_requests().cached();
    case op::Quantity::requests_available:
        return available_requests(kernel);
    case op::Quantity::local_work:
        return ring->work().size();
    case op::Quantity::taskrun:
        return ring->taskrun() ? 1 : 0;
    }
    return 0;
}

} // namespace

sim::Step ProgramTask::run(const op::Shrink& op, sim::Cpu& cpu) {
    check(cpu, static_cast<std::int32_t>(run_.kernel.shrink(cpu, op.objects)), op.expect, "shrink");
    return advance();
}

sim::Step ProgramTask::run(const op::CpuHotplug& op, sim::Cpu& cpu) {
    if (op.online) {
        check(cpu, run_.kernel.bring_cpu_online(op.cpu), op.expect, "cpu_online");
    } else {
        const bool busy = std::ranges::any_of(
            run_.scenario.tasks, [&](const TaskSpec& task) { return task.cpu == op.cpu; });
        check(cpu, busy ? -EBUSY : run_.kernel.take_cpu_offline(cpu, op.cpu), op.expect,
              "cpu_offline");
    }
    return advance();
}

sim::Step ProgramTask::run(const op::SlabCycle& op, sim::Cpu& cpu) {
    models::KmemCache& cache = run_.kernel.shared_cache(cpu, op.bytes, op.account);
    const sim::MechanismScope scope(cpu, id(models::Mechanism::user));
    cpu.charge(id(models::Primitive::slab_bench_round));
    objects_.resize(op.count);
    object_lines_.resize((op.count + pointers_a_line - 1) / pointers_a_line);
    if (op.bulk_alloc) {
        std::ranges::for_each(object_lines_, [&](sim::Line& line) { cpu.touch(line); });
        cache.alloc_bulk(cpu, objects_);
    } else {
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            objects_[i] = cache.alloc(cpu);
            touch_array(i, cpu);
        }
    }
    if (op.bulk_free) {
        std::ranges::for_each(object_lines_, [&](sim::Line& line) { cpu.touch(line); });
        cache.free_bulk(cpu, objects_);
    } else {
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            touch_array(i, cpu);
            cache.free(cpu, *objects_[i]);
        }
    }
    return advance();
}

void ProgramTask::touch_array(std::size_t index, sim::Cpu& cpu) {
    if (index % pointers_a_line == 0) {
        cpu.touch(object_lines_[index / pointers_a_line]);
    }
}

sim::Step ProgramTask::run(const op::SlabResidents& op, sim::Cpu& cpu) {
    run_.kernel.shared_cache(cpu, op.bytes, op.account).add_resident(cpu, op.slabs, op.live);
    return advance();
}

sim::Step ProgramTask::run(const op::Assert& op, sim::Cpu& /*cpu*/) {
    const bool of_ring = !op::is_global(op.quantity);
    const std::uint64_t value =
        measure(run_.kernel, of_ring ? &ring(op.ring) : nullptr, op.quantity);
    if (value != op.equals) {
        fail(fmt::format("assertion: the quantity is {}, expected {}", value, op.equals));
    }
    return advance();
}

sim::Step ProgramTask::run(const op::Snapshot& op, sim::Cpu& /*cpu*/) {
    const models::NodeCache& cache = ring(op.ring).node_cache();
    run_.snapshots.push_back({op.name, run_.scenario.rings[op.ring].name, cache.cached(),
                              cache.capacity()});
    return advance();
}

} // namespace uringsim::scenarios
