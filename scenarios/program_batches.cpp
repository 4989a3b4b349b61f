// The operations of a program that carry out requests in batches: fill in, enter, reap.

#include "models/errno_names.h"
#include "scenarios/program_task.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uringsim::scenarios {

void ProgramTask::sq_full(models::Ring& own) const {
    fail(fmt::format("the SQ of ring \"{}\" holds {} entries and is full", own.name(),
                     own.sq_entries()));
}

template <class FillIn>
sim::Step ProgramTask::run_batches(sim::Cpu& cpu, std::size_t index,
                                   std::optional<std::size_t> target, const Batch& batch,
                                   const Expect& expect, const FillIn& fill_in,
                                   std::uint32_t targets) {
    models::Ring& own = ring(index);
    switch (stage_) {
    case Stage::idle: {
        if (done_ == batch.count) {
            return advance();
        }
        in_batch_ = std::min(batch.size, batch.count - done_);
        std::uint64_t& user_data = run_.next_user_data[index];
        first_user_data_ = user_data;
        batch_began_ = cpu.now();
        batch_messages_.clear();
        for (std::uint32_t i = 0; i < in_batch_; ++i) {
            models::Sqe& sqe = next_sqe(cpu, own);
            fill_in(sqe, done_ + i);
            sqe.user_data = user_data++;
            if (target) {
                const std::uint64_t turn = turn_++;
                const std::size_t to = *target + (targets > 1 ? turn % targets : 0);
                sqe.target = run_.rings[to];
                sqe.target_user_data = run_.next_message[to]++;
                if (run_.scenario.rings[to].received) {
                    follow_message(sqe, to, cpu);
                }
            }
        }
        if (!batch.submit) {
            return next_batch(batch);
        }
        enter_.begin(own, {in_batch_, batch.reap ? in_batch_ : 0, batch.reap});
        stage_ = Stage::enter;
        return sim::Step::ready();
    }
    case Stage::enter:
        return enter_stage(cpu, batch);
    case Stage::reap_source:
        return reap_own(cpu, own, expect, target ? run_.rings[*target] : nullptr);
    case Stage::flush_target:
        return flush_target(cpu, ring(*target));
    case Stage::reap_target:
        return reap_messages(cpu, ring(*target));
    case Stage::sleeping:
        break;
    }
    return sim::Step::ready();
}

sim::Step ProgramTask::enter_stage(sim::Cpu& cpu, const Batch& batch) {
    const auto progress = enter_.step(cpu, run_.kernel, *this);
    if (progress == models::EnterCall::Progress::blocked) {
        return sim::Step::blocked();
    }
    if (progress == models::EnterCall::Progress::more) {
        return sim::Step::ready();
    }
    if (enter_.result() != static_cast<std::int32_t>(in_batch_)) {
        fail(fmt::format("io_uring_enter returned {}, expected {}",
                         models::result_name(enter_.result()), in_batch_));
    }
    if (!batch.reap) {
        return next_batch(batch);
    }
    stage_ = Stage::reap_source;
    return sim::Step::ready();
}

sim::Step ProgramTask::reap_own(sim::Cpu& cpu, models::Ring& own, const Expect& expect,
                                models::Ring* target) {
    messages_ = 0;
    const auto& program_op = spec_.program[pc_].op;
    const auto* send = std::get_if<op::SendFd>(&program_op);
    const bool silent = send != nullptr && send->cqe_skip;
    const bool updates = std::holds_alternative<op::UpdateFiles>(program_op) ||
                         std::holds_alternative<op::RemoveFiles>(program_op);
    std::uint64_t succeeded = 0;
    for (std::uint32_t i = 0; i < in_batch_; ++i) {
        const models::Cqe* cqe = own.cq().reap(cpu);
        if (cqe == nullptr) {
            fail(fmt::format("{} of {} completions arrived in ring \"{}\"", i, in_batch_,
                             own.name()));
        }
        check(cpu, cqe->res, expect, "a request");
        if (updates && expect.kind == Expect::Kind::success) {
            check_complete(cqe->res, spans_[done_ + i]);
        }
        if (!batch_messages_.empty()) {
            record_sent(cpu, *cqe);
        } else if (target != nullptr && cqe->res >= 0 && !silent) {
            ++messages_;
        }
        succeeded += cqe->res >= 0 ? 1 : 0;
    }
    count_success(succeeded);
    if (messages_ > 0) {
        stage_ = Stage::reap_target;
        if (target != nullptr && run_.kernel.design().msg_plain == models::MsgPlain::overflow) {
            enter_.begin(*target, {0, 0, true});
            stage_ = Stage::flush_target;
        }
        return sim::Step::ready();
    }
    done_ += in_batch_;
    stage_ = Stage::idle;
    return sim::Step::ready();
}

void ProgramTask::count_success(std::uint64_t requests) {
    if (!phases_.empty() && phases_.back().measured) {
        run_.counted[sim::index_of(phases_.back().id) - 1] += requests;
    }
}

/// Where messages wait on the overflow list, liburing sees IORING_SQ_TASKRUN and enters before it reads.
sim::Step ProgramTask::flush_target(sim::Cpu& cpu, models::Ring& /*target*/) {
    if (enter_.step(cpu, run_.kernel, *this) == models::EnterCall::Progress::done) {
        stage_ = Stage::reap_target;
    }
    return sim::Step::ready();
}

sim::Step ProgramTask::reap_messages(sim::Cpu& cpu, models::Ring& target) {
    for (std::uint32_t i = 0; i < messages_; ++i) {
        if (!target.cq().reap(cpu)) {
            fail(fmt::format("{} of {} messages are in the CQ of ring \"{}\" ({} on its overflow "
                             "list, which only an enter with GETEVENTS flushes)",
                             i, messages_, target.name(), target.cq().overflowed()));
        }
    }
    done_ += in_batch_;
    stage_ = Stage::idle;
    return sim::Step::ready();
}

sim::Step ProgramTask::next_batch(const Batch& /*batch*/) {
    done_ += in_batch_;
    stage_ = Stage::idle;
    return sim::Step::ready();
}

sim::Step ProgramTask::run(const op::Nop& op, sim::Cpu& cpu) {
    Batch batch = op.batch;
    batch.reap = batch.reap && !op.cqe_skip; // else it would wait for CQEs that never come
    return run_batches(cpu, op.ring, std::nullopt, batch, {},
                       [&](models::Sqe& sqe, std::uint32_t i) {
                           sqe.opcode = models::Opcode::nop;
                           sqe.cqe_skip = op.cqe_skip;
                           if ((i + 1) % op.later_every == 0) {
                               sqe.completes = op.completes;
                               sqe.delay_us = op.delay_us;
                           }
                       });
}

sim::Step ProgramTask::run(const op::ReadFixed& op, sim::Cpu& cpu) {
    Batch batch = op.batch;
    batch.reap = batch.reap && !op.pending; // nothing comes before EndRead
    return run_batches(cpu, op.ring, std::nullopt, batch, op.expect,
                       [&](models::Sqe& sqe, std::uint32_t) {
                           sqe.opcode = models::Opcode::read_fixed;
                           sqe.buffer = op.buffer;
                           sqe.buffer_offset = op.offset;
                           sqe.len = op.bytes;
                           if (op.pending) {
                               sqe.completes = models::Completes::event;
                           }
                       });
}

sim::Step ProgramTask::run(const op::SendFd& op, sim::Cpu& cpu) {
    return run_batches(cpu, op.ring, op.target, op.batch, op.expect, [&](models::Sqe& sqe, std::uint32_t i) {
        sqe.opcode = models::Opcode::msg_ring_send_fd;
        sqe.target_is_ring = op.target.has_value();
        sqe.file_slot = op.source_slot;
        sqe.file_index = op.slot == op::Slot::sequential ? op.file_index + i + 1 : op.file_index;
        sqe.len = op.len;
        sqe.flags = op.flags;
        sqe.target_cqe_skip = op.cqe_skip;
    });
}

sim::Step ProgramTask::run(const op::SendData& op, sim::Cpu& cpu) {
    return run_batches(cpu, op.ring, op.target, op.batch, op.expect, [&](models::Sqe& sqe, std::uint32_t) {
        sqe.opcode = models::Opcode::msg_ring_data;
        sqe.target_is_ring = op.target.has_value();
        sqe.len = op.len;
    }, op.targets);
}

// --- Updates ---

sim::Step ProgramTask::run(const op::UpdateFiles& op, sim::Cpu& cpu) {
    if (stage_ == Stage::idle && done_ == 0) {
        spans_.clear();
        allocated_.clear();
        for (std::uint32_t at = 0; at < op.count; at += op.entries) {
            const std::uint32_t offset = op.alloc() ? op.offset : op.offset + at;
            spans_.push_back({offset, std::min(op.entries, op.count - at)});
        }
    }
    if (stage_ == Stage::idle && done_ == spans_.size()) {
        check_slots(op);
    }
    return run_spans(cpu, op.ring, op.via, op.batch, op.with, op.tag, op.expect);
}

void ProgramTask::check_slots(const op::UpdateFiles& op) const {
    std::uint32_t wanted = op.first_slot.value_or(0);
    for (const std::uint32_t slot : allocated_) {
        if (op.first_slot && slot != wanted++) {
            fail(fmt::format("the update picked slot {}, expected {}", slot, wanted - 1));
        }
    }
}

sim::Step ProgramTask::run(const op::RemoveFiles& op, sim::Cpu& cpu) {
    if (stage_ == Stage::idle && done_ == 0) {
        spans_ = installed_spans(ring(op.ring).files());
    }
    return run_spans(cpu, op.ring, op.via, 1, op::With::none, 0, op.expect);
}

sim::Step ProgramTask::run_spans(sim::Cpu& cpu, std::size_t index, op::Via via, std::uint32_t batch,
                                 op::With with, std::uint64_t tag, const Expect& expect) {
    models::Ring& own = ring(index);
    const auto count = static_cast<std::uint32_t>(spans_.size());
    if (via == op::Via::request) {
        return run_batches(cpu, index, std::nullopt, {count, batch, true, true}, expect,
                           [&](models::Sqe& sqe, std::uint32_t i) {
                               sqe.opcode = models::Opcode::files_update;
                               sqe.offset = spans_[i].offset;
                               sqe.updates = &entries_for(spans_[i], with, tag, own);
                               sqe.allocated = &allocated_;
                           });
    }
    if (done_ == count) {
        return advance();
    }
    const Span& span = spans_[done_++];
    const int result = models::register_files_update(cpu, run_.kernel, own, span.offset,
                                                     entries_for(span, with, tag, own));
    check(cpu, result, expect, "register_files_update");
    if (expect.kind == Expect::Kind::success) {
        check_complete(result, span);
    }
    return sim::Step::ready();
}

void ProgramTask::check_complete(std::int32_t result, const Span& span) const {
    if (result != static_cast<std::int32_t>(span.length)) {
        fail(fmt::format("the update did {} of {} slots", result, span.length));
    }
}

const std::vector<models::FileUpdate>& ProgramTask::entries_for(const Span& span, op::With with,
                                                                std::uint64_t tag,
                                                                models::Ring& own) {
    using Kind = models::FileUpdate::Kind;
    static constexpr std::array kinds{Kind::install, Kind::remove, Kind::skip, Kind::bad_fd,
                                      Kind::install};
    models::FileUpdate entry;
    entry.kind = kinds[static_cast<std::size_t>(with)];
    entry.file = with == op::With::ring_file ? &own.file() : &run_.file;
    entry.tag = tag;
    if (entries_.size() <= span.length) {
        entries_.resize(span.length + 1);
    }
    std::vector<models::FileUpdate>& entries = entries_[span.length];
    entries.assign(span.length, entry);
    return entries;
}

std::vector<ProgramTask::Span> ProgramTask::installed_spans(models::FileTable& files) const {
    std::vector<Span> spans;
    for (std::uint32_t slot = 0; slot < files.size(); ++slot) {
        if (!files.occupied(slot)) {
            continue;
        }
        if (!spans.empty() && spans.back().offset + spans.back().length == slot) {
            ++spans.back().length;
        } else {
            spans.push_back({slot, 1});
        }
    }
    return spans;
}

} // namespace uringsim::scenarios
