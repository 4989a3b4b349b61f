#pragma once

#include "models/mm/slab.h"
#include "models/sched/task_work.h"
#include "models/uring/file_table.h"
#include "sim/cpu.h"
#include "sim/memory.h"

#include <cstdint>
#include <vector>

namespace uringsim::models {

class Ring;

/// What a submission asks for.
enum class Opcode : std::uint8_t {
    nop,
    msg_ring_data,
    msg_ring_send_fd,
    files_update,
    poll_add, ///< on a fixed file; pending until the scenario ends it
    read_fixed ///< IORING_OP_READ_FIXED: into a registered buffer
};

/// How an operation ends.
enum class Completes : std::uint8_t {
    at_once,   ///< while it is submitted
    interrupt, ///< later, by an interrupt on the submitter's CPU
    worker,    ///< punted to an io-wq worker on another CPU
    event      ///< READ_FIXED: once there is something to read, which the scenario says
};

/// struct io_uring_sqe, as far as the modelled opcodes read it.
struct Sqe {
    Opcode opcode = Opcode::nop;
    Completes completes = Completes::at_once; ///< NOP: how it ends
    bool fixed_file = false;       ///< IOSQE_FIXED_FILE: `file_slot` names the file
    bool cqe_skip = false;         ///< IOSQE_CQE_SKIP_SUCCESS
    bool target_cqe_skip = false;  ///< IORING_MSG_RING_CQE_SKIP
    bool target_is_ring = true;    ///< false: the fd of MSG_RING is some other file
    std::uint32_t file_slot = 0;   ///< source slot of SEND_FD, or the fixed file
    std::uint32_t file_index = 0;  ///< destination of SEND_FD: slot + 1, or file_index_alloc
    std::uint32_t delay_us = 0;    ///< NOP that ends by an interrupt: when, after its submission
    std::uint32_t len = 0; ///< DATA: what the target's CQE carries; READ_FIXED: bytes
    std::uint32_t flags = 0;       ///< MSG_RING flags that the kernel does not know
    std::uint32_t offset = 0;        ///< FILES_UPDATE: first slot, or file_index_alloc
    std::uint32_t buffer = 0;        ///< READ_FIXED: slot of the table of buffers
    std::uint64_t buffer_offset = 0; ///< READ_FIXED: bytes from the start of the buffer
    std::uint64_t user_data = 0;
    std::uint64_t target_user_data = 0;
    Ring* target = nullptr;
    const std::vector<FileUpdate>* updates = nullptr; ///< FILES_UPDATE: what goes where
    /// FILES_UPDATE with file_index_alloc: where the slots that it took are written, one after the
    /// other; nullptr: nobody looks.
    std::vector<std::uint32_t>* allocated = nullptr;
};

/// What a request allocator may know of a request before it is made.
struct RequestUse {
    bool interrupt = false; ///< completed from interrupt context (irq_comp of the 2020 patch)
    bool on_stack = false;  ///< the opcode may live on the submitter's stack (stack_req)
};

/// struct io_kiocb: a request from submission to the freeing of its completion.
struct Request {
    sim::LineGroup lines{.weight = 4}; ///< 248 bytes
    Object* memory = nullptr;
    Sqe sqe;
    std::int32_t res = 0;
    Object* node = nullptr; ///< the rsrc node that it holds
    RequestUse use;
    bool fallback = false; ///< the ring's one spare request, of no slab

    // MSG_RING
    Ring* ring = nullptr;             ///< the ring that it was submitted to
    File* sent_file = nullptr;        ///< SEND_FD: the file on its way, held
    Object* message_memory = nullptr; ///< DATA as local work: the message's own memory
    std::uint32_t overflow_before = 0; ///< entries on the target's overflow list before its own
    TaskWork message_work;            ///< msg->tw
    bool returning = false;           ///< done at the target, on the way back to the sender
};

/// What the opcode of an SQE says (io_op_defs).
inline RequestUse request_use(const Sqe& sqe) {
    // irq_comp and stack_req of the 2020 patches: no opcode has both.
    const bool interrupt = sqe.completes == Completes::interrupt;
    return {.interrupt = interrupt, .on_stack = sqe.opcode == Opcode::nop && !interrupt};
}

/// Where the requests of one ring come from: the seam for request caches.
///
/// To add one: a file in models/uring/request/ with a class and a `make` function, a line in
/// request_registry.cpp, and a design that selects it by `request.policy`.
class RequestAllocator {
  public:
    RequestAllocator() = default;
    RequestAllocator(const RequestAllocator&) = delete;
    RequestAllocator& operator=(const RequestAllocator&) = delete;
    virtual ~RequestAllocator() = default;

    /// A submission of `count` SQEs begins, and ends (io_submit_state_start and _end).
    virtual void begin_submit(sim::Cpu& /*cpu*/, std::uint32_t /*count*/) {}
    virtual void end_submit(sim::Cpu& /*cpu*/) {}

    /// A request, or nullptr when memory is out.
    virtual Request* alloc(sim::Cpu& cpu, const RequestUse& use) = 0;

    /// The request does not complete while it is submitted. Returns the request that carries on in
    /// its place, or nullptr, and the request stays with the submitter, when memory is out.
    virtual Request* leave_submitter(sim::Cpu& /*cpu*/, Request& request) { return &request; }

    /// The request is done. `at_once`: the submitter itself completed it, under uring_lock.
    virtual void free(sim::Cpu& cpu, Request& request, bool at_once) = 0;

    /// The ring goes away: frees all that is kept for it.
    virtual void drain(sim::Cpu& cpu) = 0;

    /// Requests in use, and kept for reuse by this ring.
    virtual std::uint64_t live() const = 0;
    virtual std::uint64_t cached() const = 0;
};

} // namespace uringsim::models
