#include "models/uring/syscalls.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

#include <cerrno>
#include <optional>
#include <stdexcept>

namespace uringsim::models {

namespace {

/// What every io_uring_register call costs before it does its work.
void enter_register(sim::Cpu& cpu, Kernel& kernel) {
    cpu.charge(id(Primitive::syscall_register));
    cpu.touch(kernel.code(cpu).registration);
    kernel.run_exit_task_work(cpu);
}

} // namespace

int register_files(sim::Cpu& cpu, Kernel& kernel, Ring& ring, std::span<File* const> files) {
    const sim::MechanismScope scope(cpu, id(Mechanism::system_call));
    enter_register(cpu, kernel);
    const sim::LockGuard guard(ring.uring_lock(), cpu);
    const auto slots = static_cast<std::uint32_t>(files.size());
    if (const int error = ring.files().register_slots(cpu, slots, kernel.rlimit_nofile); error < 0) {
        return error;
    }
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
        if (const int error = ring.files().fill_at_registration(cpu, slot, *files[slot]);
            error < 0) {
            ring.files().unregister(cpu);
            return error;
        }
    }
    ring.files().set_alloc_range(0, slots);
    kernel.note_memory();
    return 0;
}

int register_files_sparse(sim::Cpu& cpu, Kernel& kernel, Ring& ring, std::uint32_t slots,
                          bool opt_in) {
    const sim::MechanismScope scope(cpu, id(Mechanism::system_call));
    enter_register(cpu, kernel);
    const sim::LockGuard guard(ring.uring_lock(), cpu);
    if (slots == 0) {
        return -EINVAL; // io_register_rsrc looks at the number before it looks for a table
    }
    if (const int error = ring.files().register_slots(cpu, slots, kernel.rlimit_nofile); error < 0) {
        return error;
    }
    if (const auto primed = static_cast<std::uint32_t>(kernel.design().node_slab_prime); primed > 0) {
        const std::uint32_t objects = kernel.node_slab().geometry().objects;
        kernel.node_slab().add_resident(cpu, (primed + objects - 1) / objects, 0);
    }
    ring.node_cache().sparse_table_registered(cpu, slots, opt_in);
    kernel.note_memory();
    return 0;
}

void UnregisterCall::begin(Ring& ring, Table table) {
    *this = UnregisterCall{};
    ring_ = &ring;
    table_ = table;
}

bool UnregisterCall::registered() const {
    return table_ == Table::files ? ring_->files().registered() : ring_->buffers().registered();
}

sim::WaitQueue* UnregisterCall::quiesce(sim::Cpu& cpu) {
    return table_ == Table::files ? ring_->files().quiesce(cpu) : ring_->buffers().quiesce(cpu);
}

EnterCall::Progress UnregisterCall::step(sim::Cpu& cpu, Kernel& kernel, sim::Task& task) {
    const sim::MechanismScope scope(cpu, id(Mechanism::system_call));
    if (!entered_) {
        entered_ = true;
        enter_register(cpu, kernel);
        kernel.note_memory();
    }
    const sim::LockGuard guard(ring_->uring_lock(), cpu);
    if (registered()) {
        if (sim::WaitQueue* queue = quiesce(cpu)) {
            queue->add(task);
            return EnterCall::Progress::blocked;
        }
    }
    result_ = table_ == Table::files ? ring_->files().unregister(cpu)
                                     : ring_->buffers().unregister(cpu);
    if (table_ == Table::files && result_ == 0) {
        ring_->node_cache().table_unregistered(cpu);
    }
    kernel.note_memory();
    return EnterCall::Progress::done;
}

int register_buffers(sim::Cpu& cpu, Kernel& kernel, Ring& ring,
                     std::span<const UserBuffer> buffers) {
    const sim::MechanismScope scope(cpu, id(Mechanism::system_call));
    enter_register(cpu, kernel);
    const sim::LockGuard guard(ring.uring_lock(), cpu);
    const int result = ring.buffers().register_buffers(cpu, buffers);
    kernel.note_memory();
    return result;
}

int register_buffers_update(sim::Cpu& cpu, Kernel& kernel, Ring& ring, std::uint32_t offset,
                            std::span<const UserBuffer> buffers) {
    const sim::MechanismScope scope(cpu, id(Mechanism::system_call));
    enter_register(cpu, kernel);
    kernel.note_memory();
    const sim::LockGuard guard(ring.uring_lock(), cpu);
    const int result = ring.buffers().update(cpu, offset, buffers);
    kernel.note_memory();
    return result;
}

int register_clone_buffers(sim::Cpu& cpu, Kernel& kernel, Ring& ring, Ring& source,
                           const BufferTable::CloneRange& range) {
    const sim::MechanismScope scope(cpu, id(Mechanism::system_call));
    enter_register(cpu, kernel);
    const sim::LockGuard guard(ring.uring_lock(), cpu);
    std::optional<sim::LockGuard> other;
    if (&ring != &source) {
        other.emplace(source.uring_lock(), cpu);
    }
    const int result = ring.buffers().clone(cpu, source.buffers(), range);
    kernel.note_memory();
    return result;
}

int unregister_files(sim::Cpu& cpu, Kernel& kernel, Ring& ring) {
    const sim::MechanismScope scope(cpu, id(Mechanism::system_call));
    enter_register(cpu, kernel);
    kernel.note_memory();
    const sim::LockGuard guard(ring.uring_lock(), cpu);
    if (ring.files().registered() && ring.files().quiesce(cpu) != nullptr) {
        throw std::logic_error("unregister_files would sleep: use an UnregisterCall");
    }
    const int result = ring.files().unregister(cpu);
    if (result == 0) {
        ring.node_cache().table_unregistered(cpu);
    }
    kernel.note_memory();
    return result;
}

int register_file_alloc_range(sim::Cpu& cpu, Kernel& kernel, Ring& ring, std::uint32_t offset,
                              std::uint32_t length) {
    const sim::MechanismScope scope(cpu, id(Mechanism::system_call));
    enter_register(cpu, kernel);
    const sim::LockGuard guard(ring.uring_lock(), cpu);
    return ring.files().set_alloc_range(offset, length);
}

int register_files_update(sim::Cpu& cpu, Kernel& kernel, Ring& ring, std::uint32_t offset,
                          std::span<const FileUpdate> entries) {
    const sim::MechanismScope scope(cpu, id(Mechanism::system_call));
    enter_register(cpu, kernel);
    kernel.note_memory();
    const sim::LockGuard guard(ring.uring_lock(), cpu);
    const int result = ring.files().update(cpu, offset, entries);
    kernel.note_memory();
    return result;
}

} // namespace uringsim::models
