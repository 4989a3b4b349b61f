#include "models/uring/msg_ring.h"

#include "models/mechanisms.h"
#include "models/primitives.h"
#include "models/uring/message_policy.h"
#include "models/uring/ring.h"

#include <cerrno>

namespace uringsim::models {

namespace {

/// io_msg_grab_file: a reference on the file of a source slot.
File* grab_file(sim::Cpu& cpu, Ring& source, const Sqe& sqe) {
    if (sqe.file_slot >= source.files().size() || !source.files().occupied(sqe.file_slot)) {
        return nullptr;
    }
    File* file = &source.files().file(sqe.file_slot);
    file->get(cpu);
    return file;
}

std::optional<std::int32_t> begin_data(sim::Cpu& cpu, const Ring& target) {
    cpu.charge(id(Primitive::msg_data_issue));
    if (target.disabled()) {
        return -EBADFD;
    }
    return std::nullopt;
}

std::optional<std::int32_t> begin_send_fd(sim::Cpu& cpu, MessageIssue& issue) {
    cpu.charge(id(Primitive::msg_ring_issue));
    if (issue.request->sqe.len != 0 || issue.target == issue.source) {
        return -EINVAL;
    }
    if (issue.target->disabled()) {
        return -EBADFD;
    }
    issue.request->sent_file = grab_file(cpu, *issue.source, issue.request->sqe);
    if (issue.request->sent_file == nullptr) {
        return -EBADF;
    }
    return std::nullopt;
}

} // namespace

std::optional<std::int32_t> begin_message(sim::Cpu& cpu, MessageIssue& issue) {
    const sim::MechanismScope scope(cpu, id(Mechanism::msg_ring));
    const Sqe& sqe = issue.request->sqe;
    if (!sqe.target_is_ring) {
        return -EBADFD;
    }
    if (sqe.target == nullptr) {
        return -EBADF;
    }
    return sqe.opcode == Opcode::msg_ring_send_fd ? begin_send_fd(cpu, issue)
                                                  : begin_data(cpu, *issue.target);
}

std::int32_t install_sent_file(sim::Cpu& cpu, Ring& target, Request& request) {
    const Sqe& sqe = request.sqe;
    const std::int32_t slot =
        target.files().fixed_fd_install(cpu, *request.sent_file, sqe.file_index);
    if (slot < 0) {
        request.sent_file->put(cpu);
        return slot;
    }
    if (sqe.target_cqe_skip) {
        return slot;
    }
    const sim::LockGuard guard(target.completion_lock(), cpu);
    return target.post(cpu, Cqe{sqe.target_user_data, slot, 0}) ? slot : -EOVERFLOW;
}

const MessagePolicy& message_policy(const Design& design, const Ring& target, Opcode opcode,
                                    const sim::Task* caller) {
    if (!target.defer_taskrun()) {
        return design.msg_plain == MsgPlain::overflow ? overflow_messages() : direct_messages();
    }
    const bool own = target.submitter() != nullptr && &target.submitter()->task.task() == caller;
    if (own && design.msg_own_task_direct) {
        return direct_messages();
    }
    if (opcode == Opcode::msg_ring_send_fd) {
        switch (design.msg_fd) {
        case MsgFd::direct:
            return direct_messages();
        case MsgFd::task_work:
            return task_work_messages();
        case MsgFd::overflow:
            return overflow_messages();
        }
    }
    switch (design.msg_data) {
    case MsgData::direct:
        return direct_messages();
    case MsgData::task_work:
        return task_work_messages();
    case MsgData::overflow:
        return overflow_messages();
    case MsgData::local_work:
        break;
    }
    return local_work_messages();
}

} // namespace uringsim::models
