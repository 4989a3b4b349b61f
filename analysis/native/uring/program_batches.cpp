// Operations that are batches of requests, and updates of file tables.

#include "analysis/native/uring/program_thread.h"
#include "models/errno_names.h"
#include "models/uring/file_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uringsim::analysis::native {

namespace op = scenarios::op;

template <class MakeSqe, class OnCqe>
void ProgramThread::run_batches(KernelRing& own, KernelRing& messages_to, const Batch& batch,
                                const Expect& expect, const MakeSqe& make_sqe,
                                const OnCqe& on_cqe) {
    for (std::uint32_t done = 0; done < batch.count && !run_.stop;) {
        const std::uint32_t count = std::min(batch.size, batch.count - done);
        if (own.room() < count) {
            fail(fmt::format("the SQ of ring \"{}\" has no room for {} more", own.name(), count));
        }
        const std::uint64_t first = own.next_user_data;
        for (std::uint32_t i = 0; i < count; ++i) {
            io_uring_sqe& sqe = own.next_sqe();
            make_sqe(sqe, done + i);
            sqe.user_data = first + i;
        }
        own.next_user_data = first + count;
        if (batch.submit) {
            ++own_.enters;
            const int result = own.enter(batch.reap ? count : 0, batch.reap);
            if (result != static_cast<int>(count)) {
                fail(fmt::format("io_uring_enter returned {}, expected {}",
                                 models::result_name(result), count));
            }
        }
        if (batch.submit && batch.reap) {
            std::uint32_t succeeded = 0;
            reap(own, count, "a completion", [&](const io_uring_cqe& cqe) {
                if (cqe.res < 0 || expect.kind != Expect::Kind::success) {
                    check(cqe.res, expect, "a request");
                }
                if (cqe.res >= 0) {
                    on_cqe(done + static_cast<std::uint32_t>(cqe.user_data - first), cqe.res);
                    ++succeeded;
                }
            });
            if (&messages_to != &own) {
                reap(messages_to, succeeded, "a message", [](const io_uring_cqe&) {});
            }
        }
        done += count;
    }
}

template <class Read>
void ProgramThread::reap(KernelRing& ring, std::uint32_t count, const char* what,
                         const Read& read) {
    std::uint32_t read_so_far = ring.drain(count, read);
    while (read_so_far < count) {
        wait_front(ring, what);
        read_so_far += ring.drain(count - read_so_far, read);
    }
    own_.cqe_reaped += count;
}

std::uint64_t ProgramThread::next_message(KernelRing& target) const {
    if (!alone_) {
        return target.next_message.fetch_add(1);
    }
    const std::uint64_t value = target.next_message.load(std::memory_order_relaxed);
    target.next_message.store(value + 1, std::memory_order_relaxed);
    return value;
}

void ProgramThread::run(const op::Nop& op) {
    KernelRing& own = ring(op.ring);
    run_batches(
        own, own, op.batch, {},
        [&](io_uring_sqe& sqe, std::uint32_t) {
            sqe.opcode = IORING_OP_NOP;
            sqe.flags = op.cqe_skip ? IOSQE_CQE_SKIP_SUCCESS : 0;
        },
        [](std::uint32_t, std::int32_t) {});
}

void ProgramThread::run(const op::SendFd& op) {
    KernelRing* target = op.target ? &ring(*op.target) : nullptr;
    const bool alloc = op.slot == op::Slot::alloc || op.file_index == models::file_index_alloc;
    const auto index_of = [&](std::uint32_t i) {
        return op.slot == op::Slot::sequential ? op.file_index + i + 1 : op.file_index;
    };
    KernelRing& own = ring(op.ring);
    KernelRing& messages_to = target != nullptr && !op.cqe_skip ? *target : own;
    run_batches(
        own, messages_to, op.batch, op.expect,
        [&](io_uring_sqe& sqe, std::uint32_t i) {
            sqe.opcode = IORING_OP_MSG_RING;
            sqe.fd = target != nullptr ? target->fd() : run_.file;
            sqe.addr = IORING_MSG_SEND_FD;
            sqe.addr3 = op.source_slot;
            sqe.file_index = alloc ? models::file_index_alloc : index_of(i);
            sqe.len = op.len;
            sqe.msg_ring_flags = op.flags | (op.cqe_skip ? IORING_MSG_RING_CQE_SKIP : 0U);
            sqe.off = target != nullptr ? next_message(*target) : 0;
        },
        [&](std::uint32_t i, std::int32_t result) {
            if (target != nullptr) {
                note_install(*target, alloc ? static_cast<std::uint32_t>(result) : index_of(i) - 1,
                             alloc);
            }
        });
}

void ProgramThread::note_install(KernelRing& ring, std::uint32_t slot, bool given_out) {
    if (slot >= ring.slots.size()) {
        fail(fmt::format("slot {} is outside the table of ring \"{}\"", slot, ring.name()));
    }
    const bool was_used = ring.slots.set(slot);
    ++own_.files_installed;
    if (was_used && given_out) {
        fail(fmt::format("slot {} of ring \"{}\" was given out twice", slot, ring.name()));
    }
    own_.files_removed += was_used ? 1 : 0; // a slot that is named explicitly is replaced
}

void ProgramThread::run(const op::SendData& op) {
    KernelRing* target = op.target ? &ring(*op.target) : nullptr;
    KernelRing& own = ring(op.ring);
    run_batches(
        own, target != nullptr ? *target : own, op.batch, op.expect,
        [&](io_uring_sqe& sqe, std::uint32_t) {
            sqe.opcode = IORING_OP_MSG_RING;
            sqe.fd = target != nullptr ? target->fd() : run_.file;
            sqe.addr = IORING_MSG_DATA;
            sqe.len = op.len;
            sqe.off = target != nullptr ? next_message(*target) : 0;
        },
        [](std::uint32_t, std::int32_t) {});
}

void ProgramThread::run(const op::UpdateFiles& op) {
    std::vector<Span> spans;
    for (std::uint32_t at = 0; at < op.count; at += op.entries) {
        spans.push_back({op.offset + at, std::min(op.entries, op.count - at)});
    }
    update_spans(ring(op.ring), spans, op.via, op.batch, op.with, op.tag, op.expect);
}

void ProgramThread::run(const op::RemoveFiles& op) {
    KernelRing& own = ring(op.ring);
    update_spans(own, own.slots.spans(), op.via, 1, op::With::none, 0, op.expect);
}

void ProgramThread::update_spans(KernelRing& own, const std::vector<Span>& spans, op::Via via,
                                 std::uint32_t batch, op::With with, std::uint64_t tag,
                                 const Expect& expect) {
    if (via == op::Via::request) {
        run_batches(
            own, own, {static_cast<std::uint32_t>(spans.size()), batch, true, true}, expect,
            [&](io_uring_sqe& sqe, std::uint32_t i) {
                const std::vector<int>& fds = fds_for(spans[i], with, own);
                sqe.opcode = IORING_OP_FILES_UPDATE;
                sqe.fd = -1;
                sqe.addr = reinterpret_cast<std::uint64_t>(fds.data());
                sqe.len = spans[i].length;
                sqe.off = spans[i].offset;
            },
            [&](std::uint32_t i, std::int32_t result) {
                note_update(own, spans[i], with, result);
            });
        return;
    }
    for (const Span& span : spans) {
        const int result = own.update_files(span.offset, fds_for(span, with, own), tag);
        check(result, expect, "register_files_update");
        if (expect.kind == Expect::Kind::success && result != static_cast<int>(span.length)) {
            fail(fmt::format("register_files_update did {} of {} slots", result, span.length));
        }
        note_update(own, span, with, result);
    }
}

void ProgramThread::note_update(KernelRing& own, const Span& span, op::With with, int done) {
    if (with == op::With::skip || with == op::With::bad_fd) {
        return;
    }
    const bool install = with != op::With::none;
    const auto count = static_cast<std::uint32_t>(std::max(done, 0));
    own_.files_removed += own.slots.change(span.offset, count, install);
    own_.files_installed += install ? count : 0;
}

const std::vector<int>& ProgramThread::fds_for(const Span& span, op::With with, KernelRing& own) {
    constexpr int skip_slot = -2; // IORING_REGISTER_FILES_SKIP
    const std::array kinds{run_.file, -1, skip_slot, run_.bad_fd, own.fd()};
    const int wanted = kinds[static_cast<std::size_t>(with)];
    if (fds_.size() <= span.length) {
        fds_.resize(span.length + 1);
    }
    std::vector<int>& fds = fds_[span.length];
    if (fds.empty() || fds.front() != wanted) {
        fds.assign(span.length, wanted);
    }
    return fds;
}

} // namespace uringsim::analysis::native
