#pragma once

#include "models/mm/kmalloc.h"
#include "models/mm/slab.h"
#include "models/sched/task_work.h"
#include "models/uring/file_table.h"
#include "sim/cpu.h"
#include "sim/memory.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace uringsim::models {

class Ring;

/// What a submission asks for.
enum class Opcode : std::uint8_t {
    nop,
    msg_ring_data,
    msg_ring_send_fd,
    files_update,
    poll_add ///< on a fixed file; pending until the scenario ends it
};

/// struct io_uring_sqe, as far as the modelled opcodes read it.
struct Sqe {
    Opcode opcode = Opcode::nop;
    bool fixed_file = false;       ///< IOSQE_FIXED_FILE: `file_slot` names the file
    bool cqe_skip = false;         ///< IOSQE_CQE_SKIP_SUCCESS
    bool target_cqe_skip = false;  ///< IORING_MSG_RING_CQE_SKIP
    bool target_is_ring = true;    ///< false: the fd of MSG_RING is some other file
    std::uint32_t file_slot = 0;   ///< source slot of SEND_FD, or the fixed file
    std::uint32_t file_index = 0;  ///< destination of SEND_FD: slot + 1, or file_index_alloc
    std::uint32_t len = 0;         ///< DATA: what the target's CQE carries
    std::uint32_t flags = 0;       ///< MSG_RING flags that the kernel does not know
    std::uint32_t offset = 0;      ///< FILES_UPDATE: first slot
    std::uint64_t user_data = 0;
    std::uint64_t target_user_data = 0;
    Ring* target = nullptr;
    const std::vector<FileUpdate>* updates = nullptr; ///< FILES_UPDATE: what goes where
};

/// struct io_kiocb: a request from submission to the freeing of its completion.
struct Request {
    sim::LineGroup lines{.weight = 4}; ///< 248 bytes
    Object* memory = nullptr;
    Sqe sqe;
    std::int32_t res = 0;
    Object* node = nullptr; ///< the rsrc node that it holds

    // MSG_RING
    Ring* ring = nullptr;             ///< the ring that it was submitted to
    File* sent_file = nullptr;        ///< SEND_FD: the file on its way, held
    Object* message_memory = nullptr; ///< DATA as local work: the message's own memory
    std::uint32_t overflow_before = 0; ///< entries on the target's overflow list before its own
    TaskWork message_work;            ///< msg->tw
    bool returning = false;           ///< done at the target, on the way back to the sender
};

/// Where requests come from: the seam for request caches.
class RequestAllocator {
  public:
    RequestAllocator() = default;
    RequestAllocator(const RequestAllocator&) = delete;
    RequestAllocator& operator=(const RequestAllocator&) = delete;
    virtual ~RequestAllocator() = default;

    /// A request, or nullptr when memory is out.
    virtual Request* alloc(sim::Cpu& cpu) = 0;
    virtual void free(sim::Cpu& cpu, Request& request) = 0;
    /// The ring goes away: frees all that is kept.
    virtual void drain(sim::Cpu& cpu) = 0;

    virtual std::uint64_t live() const = 0;
    virtual std::uint64_t cached() const = 0;
};

/// Today's form: a free list a ring, refilled by bulks of 8, unlimited, emptied only at exit.
/// Source: io_alloc_req, __io_alloc_req_refill, io_free_batch_list, io_uring/io_uring.c (6.12).
class FreeListRequests final : public RequestAllocator {
  public:
    explicit FreeListRequests(KmemCache& cache) : cache_(cache) {}

    Request* alloc(sim::Cpu& cpu) override;
    void free(sim::Cpu& cpu, Request& request) override;
    void drain(sim::Cpu& cpu) override;
    std::uint64_t live() const override { return requests_.size() - free_.size(); }
    std::uint64_t cached() const override { return free_.size(); }

  private:
    bool refill(sim::Cpu& cpu);

    KmemCache& cache_;
    std::deque<Request> requests_;
    std::vector<Request*> free_;
};

} // namespace uringsim::models
