#include "models/primitives.h"
#include "models/uring/message_policy.h"
#include "models/uring/ring.h"
#include "models/uring/uring_task.h"

#include <cerrno>

namespace uringsim::models {

namespace {

/// What the target's task does with a message: posts its CQE or installs its file, and then hands
/// the request back to the sender's task. False once that is done.
bool run_at_target(sim::Cpu& cpu, TaskWork& work) {
    Request& request = *static_cast<Request*>(work.data);
    Ring& target = *request.sqe.target;
    if (request.returning) {
        request.returning = false;
        request.ring->complete_by_task_work(cpu, request);
        return false;
    }
    if (target.submitter() == nullptr || target.submitter()->task.exiting) {
        request.res = -EOWNERDEAD;
        request.returning = true;
        return true;
    }
    const bool file = request.sqe.opcode == Opcode::msg_ring_send_fd;
    const bool lock = file || target.iopoll();
    if (lock && !target.uring_lock().try_acquire(cpu)) {
        target.uring_lock().spin(cpu);
        return true;
    }
    cpu.charge(id(Primitive::msg_task_work));
    if (file) {
        request.res = install_sent_file(cpu, target, request);
    } else {
        const Cqe cqe{request.sqe.target_user_data, static_cast<std::int32_t>(request.sqe.len), 0};
        request.res = target.post(cpu, cqe) ? 0 : -EOVERFLOW;
    }
    if (lock) {
        target.uring_lock().release(cpu);
    }
    request.returning = true;
    return true;
}

/// Source: io_msg_exec_remote, io_msg_tw_complete, io_msg_tw_fd_complete, io_uring/msg_ring.c
/// (6.4, 6.8; SEND_FD also 6.12 - 7.0).
class TaskWorkMessages final : public MessagePolicy {
  public:
    MessageProgress step(sim::Cpu& cpu, MessageIssue& issue) const override {
        UringTask* owner = issue.target->submitter();
        if (issue.stage == 1) {
            owner->task.signal(cpu);
            return MessageProgress::pending();
        }
        issue.request->message_work = {&run_at_target, issue.request};
        issue.request->returning = false;
        if (owner == nullptr || !owner->task.add(cpu, issue.request->message_work)) {
            return MessageProgress::complete(-EOWNERDEAD);
        }
        issue.stage = 1;
        return MessageProgress::more();
    }
};

} // namespace

const MessagePolicy& task_work_messages() {
    static const TaskWorkMessages policy;
    return policy;
}

} // namespace uringsim::models
