#pragma once

#include "analysis/native/slot_map.h"
#include "models/uring/ring.h"

#include <liburing.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace uringsim::analysis::native {

/// A ring of the running kernel. Results are the kernel's: negative errors, never errno.
class KernelRing {
  public:
    /// Null where io_uring_setup failed; `error` is its result.
    static std::unique_ptr<KernelRing> create(const std::string& name,
                                              const models::RingParams& params, int& error);
    KernelRing(const KernelRing&) = delete;
    KernelRing& operator=(const KernelRing&) = delete;
    ~KernelRing();

    const std::string& name() const { return name_; }
    int fd() const { return ring_.ring_fd; }
    std::uint32_t prepared() { return io_uring_sq_ready(&ring_); }
    std::uint32_t ready() const { return io_uring_cq_ready(&ring_); }
    std::uint32_t dropped() const { return *ring_.cq.koverflow; }
    bool overflowed() const { return io_uring_cq_has_overflow(&ring_); }

    /// The next SQE, cleared; there must be room.
    io_uring_sqe& next_sqe() {
        io_uring_sqe& sqe = ring_.sq.sqes[ring_.sq.sqe_tail++ & sq_mask_];
        sqe = io_uring_sqe{};
        return sqe;
    }
    std::uint32_t room() { return io_uring_sq_space_left(&ring_); }

    /// One io_uring_enter, always a system call: submits what is prepared, waits for `wait` CQEs
    /// if `get_events`.
    int enter(std::uint32_t wait, bool get_events);

    /// The oldest CQE, null where there is none. Stays valid until pop().
    const io_uring_cqe* front() {
        io_uring_cqe* cqe = nullptr;
        unsigned head = 0;
        io_uring_for_each_cqe(&ring_, head, cqe) {
            return cqe;
        }
        return nullptr;
    }
    void pop() { io_uring_cq_advance(&ring_, 1); }

    /// Hands up to `count` CQEs that are there to `read`, oldest first, and frees them together.
    /// Returns how many there were. Where `read` throws, none is freed.
    template <class Read>
    std::uint32_t drain(std::uint32_t count, const Read& read) {
        const unsigned head = *ring_.cq.khead;
        const std::uint32_t found =
            std::min(count, io_uring_smp_load_acquire(ring_.cq.ktail) - head);
        for (unsigned at = head; at != head + found; ++at) {
            read(ring_.cq.cqes[(at & cq_mask_) << cqe_shift_]);
        }
        io_uring_cq_advance(&ring_, found);
        return found;
    }

    int enable();
    int register_files(std::span<const int> fds);
    int register_files_sparse(std::uint32_t count);
    int register_alloc_range(std::uint32_t offset, std::uint32_t length);
    int unregister_files();
    int update_files(std::uint32_t offset, std::span<const int> fds, std::uint64_t tag);

    /// Slots with a file, as the results said. Kept by the program, since the kernel does not tell.
    SlotMap slots;

    std::uint64_t next_user_data = 0;            ///< of the ring's own requests
    std::atomic<std::uint64_t> next_message = 0; ///< of messages to the ring

  private:
    KernelRing() = default;
    unsigned submit_queue();

    io_uring ring_{};
    std::string name_;
    unsigned sq_mask_ = 0;
    unsigned cq_mask_ = 0;
    unsigned cqe_shift_ = 0;
};

} // namespace uringsim::analysis::native
