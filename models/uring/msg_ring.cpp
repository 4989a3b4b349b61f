#include "models/uring/msg_ring.h"

#include "models/mechanisms.h"
#include "models/primitives.h"
#include "models/uring/ring.h"

#include <cerrno>

namespace uringsim::models {

namespace {

std::int32_t send_data(sim::Cpu& cpu, Ring& target, const Sqe& sqe) {
    cpu.charge(id(Primitive::msg_data_issue));
    if (target.disabled()) {
        return -EBADFD;
    }
    const sim::LockGuard guard(target.completion_lock(), cpu);
    const bool posted =
        target.post(cpu, Cqe{sqe.target_user_data, static_cast<std::int32_t>(sqe.len), 0});
    return posted ? 0 : -EOVERFLOW;
}

/// io_msg_grab_file: a reference on the file of a source slot.
File* grab_file(sim::Cpu& cpu, Ring& source, const Sqe& sqe) {
    if (sqe.file_slot >= source.files().size() || !source.files().occupied(sqe.file_slot)) {
        return nullptr;
    }
    File* file = &source.files().file(sqe.file_slot);
    file->get(cpu);
    return file;
}

std::int32_t install_and_post(sim::Cpu& cpu, Ring& target, File& file, const Sqe& sqe) {
    const std::int32_t slot = target.files().fixed_fd_install(cpu, file, sqe.file_index);
    if (slot < 0) {
        file.put(cpu);
        return slot;
    }
    if (sqe.target_cqe_skip) {
        return slot;
    }
    const sim::LockGuard guard(target.completion_lock(), cpu);
    return target.post(cpu, Cqe{sqe.target_user_data, slot, 0}) ? slot : -EOVERFLOW;
}

std::int32_t send_fd(sim::Cpu& cpu, Ring& source, Ring& target, const Sqe& sqe) {
    cpu.charge(id(Primitive::msg_ring_issue));
    if (sqe.len != 0 || &target == &source) {
        return -EINVAL;
    }
    if (target.disabled()) {
        return -EBADFD;
    }
    File* file = grab_file(cpu, source, sqe);
    if (file == nullptr) {
        return -EBADF;
    }
    const sim::LockGuard guard(target.uring_lock(), cpu);
    return install_and_post(cpu, target, *file, sqe);
}

} // namespace

std::int32_t issue_msg_ring(sim::Cpu& cpu, Ring& source, Request& request) {
    const sim::MechanismScope scope(cpu, id(Mechanism::msg_ring));
    const Sqe& sqe = request.sqe;
    if (!sqe.target_is_ring) {
        return -EBADFD;
    }
    if (sqe.target == nullptr) {
        return -EBADF;
    }
    if (sqe.opcode == Opcode::msg_ring_send_fd) {
        return send_fd(cpu, source, *sqe.target, sqe);
    }
    return send_data(cpu, *sqe.target, sqe);
}

} // namespace uringsim::models
