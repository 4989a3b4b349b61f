#include "models/uring/message_policy.h"
#include "models/uring/ring.h"

#include <cerrno>

namespace uringsim::models {

namespace {

/// Source: io_msg_ring_data and io_msg_install_complete with io_double_lock_ctx,
/// io_uring/msg_ring.c (6.1; 6.17 for targets without DEFER_TASKRUN). DATA takes the target's
/// uring_lock for IOPOLL only.
class DirectMessages final : public MessagePolicy {
  public:
    MessageProgress step(sim::Cpu& cpu, MessageIssue& issue) const override {
        if (issue.stage == 1) {
            issue.target->wake_cq(cpu);
            return MessageProgress::complete(issue.result);
        }
        const bool file = issue.request->sqe.opcode == Opcode::msg_ring_send_fd;
        const bool lock = file || issue.target->iopoll();
        if (lock && !issue.target->uring_lock().try_acquire(cpu)) {
            if (!issue.may_block) {
                return MessageProgress::again();
            }
            issue.target->uring_lock().spin(cpu);
            return MessageProgress::more();
        }
        issue.result = file ? install_sent_file(cpu, *issue.target, *issue.request)
                            : post(cpu, *issue.target, issue.request->sqe);
        if (lock) {
            issue.target->uring_lock().release(cpu);
        }
        issue.stage = 1;
        return MessageProgress::more();
    }

  private:
    static std::int32_t post(sim::Cpu& cpu, Ring& target, const Sqe& sqe) {
        const sim::LockGuard guard(target.completion_lock(), cpu);
        const Cqe cqe{sqe.target_user_data, static_cast<std::int32_t>(sqe.len), 0};
        return target.post(cpu, cqe) ? 0 : -EOVERFLOW;
    }
};

} // namespace

const MessagePolicy& direct_messages() {
    static const DirectMessages policy;
    return policy;
}

} // namespace uringsim::models
