// Messages from task to task: who sent what when, and the operations that receive and pace.

#include "models/primitives.h"
#include "scenarios/program_task.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::scenarios {

std::uint64_t MessageLog::send(sim::Cycles at, bool last) {
    entries_.push_back({at, last, true});
    ++open_;
    return first_ + entries_.size() - 1;
}

std::optional<MessageLog::Entry> MessageLog::take(std::uint64_t number) {
    if (number < first_ || number - first_ >= entries_.size() || !entries_[number - first_].open) {
        return std::nullopt;
    }
    const Entry entry = entries_[number - first_];
    entries_[number - first_].open = false;
    --open_;
    while (!entries_.empty() && !entries_.front().open) {
        entries_.pop_front();
        ++first_;
    }
    return entry;
}

std::uint64_t ProgramTask::clock_ns(sim::Cycles at) const {
    constexpr std::int64_t ns_of_us = 1000;
    const models::Machine& machine = run_.kernel.machine();
    const std::int64_t ns = at * ns_of_us / machine.mhz;
    return static_cast<std::uint64_t>(ns - ns % machine.timing.clock_tick_ns);
}

void ProgramTask::follow_message(models::Sqe& sqe, std::size_t target, sim::Cpu& /*cpu*/) {
    const auto* send = std::get_if<op::SendData>(&spec_.program[pc_].op);
    const bool last = send != nullptr && send->last;
    sqe.target_user_data = run_.messages[target].send(batch_began_, last);
    batch_messages_.push_back({target, sqe.target_user_data});
}

/// The sender has read the completion of a message that is followed.
void ProgramTask::record_sent(sim::Cpu& cpu, const models::Cqe& cqe) {
    const SentMessage& message = batch_messages_.at(cqe.user_data - first_user_data_);
    if (cqe.res < 0) {
        run_.messages[message.target].cancel(message.number);
        return;
    }
    last_latency_ = cpu.now() - batch_began_;
    const auto* send = std::get_if<op::SendData>(&spec_.program[pc_].op);
    if (send != nullptr && send->latency && !warming_up()) {
        run_.latencies[*send->latency].add(clock_ns(cpu.now()) - clock_ns(batch_began_));
    }
}

sim::Step ProgramTask::run(const op::Receive& op, sim::Cpu& cpu) {
    models::Ring& own = ring(op.ring);
    if (stage_ == Stage::enter) {
        const auto progress = enter_.step(cpu, run_.kernel, *this);
        if (progress == models::EnterCall::Progress::blocked) {
            return sim::Step::blocked();
        }
        if (progress == models::EnterCall::Progress::more) {
            return sim::Step::ready();
        }
        check(cpu, enter_.result(), {}, "io_uring_enter");
        stage_ = Stage::idle;
        return sim::Step::ready();
    }
    const bool enough = op.count ? done_ >= *op.count
                                 : last_seen_ && run_.messages[op.ring].open() == 0;
    if (enough) {
        last_seen_ = false;
        return advance();
    }
    own.cq().await(cpu);
    if (own.cq().ready() > 0) {
        return read_message(op, own, cpu);
    }
    enter_.begin(own, {0, op.wait, true});
    stage_ = Stage::enter;
    return sim::Step::ready();
}

sim::Step ProgramTask::read_message(const op::Receive& op, models::Ring& own, sim::Cpu& cpu) {
    const models::Cqe* cqe = own.cq().reap(cpu);
    const auto entry = run_.messages[op.ring].receive(cqe->user_data);
    if (!entry) {
        fail(fmt::format("message {} arrived in ring \"{}\" twice, or was never sent",
                         cqe->user_data, own.name()));
    }
    if (op.latency && !entry->last && !warming_up()) {
        run_.latencies[*op.latency].add(clock_ns(cpu.now()) - clock_ns(entry->sent));
    }
    last_seen_ = last_seen_ || entry->last;
    ++done_;
    return sim::Step::ready();
}

sim::Cycles ProgramTask::next_due(const op::Pace& op, sim::Cycles now) {
    const models::Machine& machine = run_.kernel.machine();
    const sim::Cycles delay = machine.cycles_of_us(static_cast<std::int64_t>(op.delay_us));
    if (due_ < 0 || op.rule == op::Pace::Rule::sleep) {
        return now + delay;
    }
    if (op.rule != op::Pace::Rule::credit) {
        return due_ + delay;
    }
    // loss x min(1.2, (L + g) / d)
    const sim::Cycles loss = machine.cycles_of_us(static_cast<std::int64_t>(op.loss_us));
    const sim::Cycles overhead = machine.cycles_of_us(6) / 100;
    const sim::Cycles most = loss * 12 / 10;
    return due_ + delay + std::min(most, loss * (last_latency_ + overhead) / delay);
}

sim::Step ProgramTask::run(const op::Pace& op, sim::Cpu& cpu) {
    if (stage_ == Stage::sleeping) {
        if (op.rule == op::Pace::Rule::spin && cpu.now() < until_) {
            const sim::Cycles slice = run_.kernel.machine().cycles_of_us(1);
            cpu.elapse(id(models::Primitive::user_pause), std::min(slice, until_ - cpu.now()));
            return sim::Step::ready();
        }
        return sleep_until(cpu, until_);
    }
    due_ = next_due(op, cpu.now());
    if (cpu.now() >= due_) {
        return advance(); // overdue: at once
    }
    if (op.rule == op::Pace::Rule::spin) {
        stage_ = Stage::sleeping;
        until_ = due_;
        return sim::Step::ready();
    }
    return sleep_until(cpu, run_.kernel.timer_fires(due_));
}

} // namespace uringsim::scenarios
