#include "models/counters.h"
#include "models/uring/message_policy.h"
#include "models/uring/ring.h"

#include <cerrno>

namespace uringsim::models {

namespace {

/// Source: io_msg_fill_remote, io_msg_install_remote, io_msg_add_overflow, [PATCH v3 0/9] Improve
/// MSG_RING DEFER_TASKRUN performance (June 2024, never merged), patches 4 - 9. With a cache the
/// entry is allocated under the target's completion_lock, as in patch 6.
class OverflowMessages final : public MessagePolicy {
  public:
    MessageProgress step(sim::Cpu& cpu, MessageIssue& issue) const override {
        Ring& target = *issue.target;
        if (issue.stage == 1) {
            target.wake_for_overflow(cpu,
                                     static_cast<std::uint32_t>(issue.request->overflow_before));
            return MessageProgress::complete(issue.result);
        }
        const Sqe& sqe = issue.request->sqe;
        if (sqe.opcode == Opcode::msg_ring_data) {
            issue.result = append(cpu, issue, static_cast<std::int32_t>(sqe.len)) ? 0 : -ENOMEM;
        } else {
            if (!target.uring_lock().try_acquire(cpu)) {
                if (!issue.may_block) {
                    return MessageProgress::again();
                }
                target.uring_lock().spin(cpu);
                return MessageProgress::more();
            }
            issue.result = send_fd(cpu, issue);
            target.uring_lock().release(cpu);
        }
        if (issue.result < 0 || (sqe.opcode == Opcode::msg_ring_send_fd && sqe.target_cqe_skip)) {
            return MessageProgress::complete(issue.result);
        }
        issue.stage = 1;
        return MessageProgress::more();
    }

  private:
    static bool append(sim::Cpu& cpu, MessageIssue& issue, std::int32_t res,
                       Object* memory = nullptr) {
        Ring& target = *issue.target;
        const sim::LockGuard guard(target.completion_lock(), cpu);
        if (memory == nullptr) {
            memory = target.take_message_memory(cpu);
        }
        if (memory == nullptr) {
            return false;
        }
        issue.request->overflow_before = target.cq().overflowed();
        target.cq().append_entry(cpu, Cqe{issue.request->sqe.target_user_data, res, 0}, *memory);
        return true;
    }

    /// The posted code allocates the entry before it installs the file; without memory nothing is
    /// installed. The sender gets 0.
    static std::int32_t send_fd(sim::Cpu& cpu, MessageIssue& issue) {
        Ring& target = *issue.target;
        Request& request = *issue.request;
        File* file = request.sent_file;
        Object* memory = nullptr;
        if (!request.sqe.target_cqe_skip) {
            const sim::LockGuard guard(target.completion_lock(), cpu);
            memory = target.take_message_memory(cpu);
            if (memory == nullptr) {
                file->put(cpu);
                return -ENOMEM;
            }
        }
        const std::int32_t slot =
            target.files().fixed_fd_install(cpu, *file, request.sqe.file_index);
        if (slot < 0) {
            file->put(cpu);
            if (memory != nullptr) {
                kfree(cpu, *memory);
            }
            return slot;
        }
        if (memory == nullptr) {
            return slot;
        }
        append(cpu, issue, slot, memory);
        return 0;
    }
};

} // namespace

const MessagePolicy& overflow_messages() {
    static const OverflowMessages policy;
    return policy;
}

} // namespace uringsim::models
