#pragma once

#include "models/mechanisms.h"
#include "models/primitives.h"
#include "models/uring/message_policy.h"
#include "models/uring/ring.h"
#include "sim/cpu.h"

#include <cerrno>
#include <cstdint>

namespace uringsim::models {

/// io_msg_grab_file: a reference on the file of a source slot.
inline File* grab_file(sim::Cpu& cpu, Ring& source, const Sqe& sqe) {
    const FileTable& table = source.files();
    if (sqe.file_slot >= table.size() || !table.occupied(sqe.file_slot)) {
        return nullptr;
    }
    File& file = table.file(sqe.file_slot);
    file.get(cpu);
    return &file;
}

inline std::int32_t begin_data(sim::Cpu& cpu, const Ring& target) {
    cpu.charge(id(Primitive::msg_data_issue));
    if (target.disabled()) {
        return -EBADFD;
    }
    return 0;
}

inline std::int32_t begin_send_fd(sim::Cpu& cpu, MessageIssue& issue) {
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
    return 0;
}

/// What every version of IORING_OP_MSG_RING does before the message travels: the checks, and with
/// SEND_FD the reference on the source file. 0: a policy carries on. Else the request's
/// result: -EBADF: the target is closed; -EBADFD: it is no ring, or is disabled; -EINVAL: SEND_FD
/// to the own ring or with a length; -EBADF: the source slot is empty. Later results: -EOVERFLOW:
/// the target's CQE was lost (a file that was sent stays installed); -EOWNERDEAD: the target's task
/// is gone; else as FileTable::fixed_fd_install. Source: io_msg_ring, io_msg_ring_data,
/// io_msg_send_fd, io_uring/msg_ring.c (6.17).
inline std::int32_t begin_message(sim::Cpu& cpu, MessageIssue& issue) {
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

/// io_msg_grab_file's counterpart at the target: installs the file that the request holds, and with
/// a notice posts its CQE. Under the target's uring_lock. The result of the request.
inline std::int32_t install_sent_file(sim::Cpu& cpu, Ring& target, Request& request) {
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

} // namespace uringsim::models
