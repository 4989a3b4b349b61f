#include "analysis/native/uring/kernel_ring.h"

#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

namespace uringsim::analysis::native {

namespace {

/// io_uring_register, with the error as the kernel returns it.
int do_register(int fd, unsigned opcode, const void* arg, unsigned count) {
    const long result = ::syscall(__NR_io_uring_register, fd, opcode, arg, count);
    return result < 0 ? -errno : static_cast<int>(result);
}

} // namespace

std::unique_ptr<KernelRing> KernelRing::create(const std::string& name,
                                               const models::RingParams& params, int& error) {
    std::unique_ptr<KernelRing> ring(new KernelRing);
    ring->name_ = name;
    io_uring_params setup{};
    if (params.cq_entries != 0) {
        setup.flags |= IORING_SETUP_CQSIZE;
        setup.cq_entries = params.cq_entries;
    }
    setup.flags |= params.cqe32 ? IORING_SETUP_CQE32 : 0U;
    setup.flags |= params.disabled ? IORING_SETUP_R_DISABLED : 0U;
    setup.flags |= params.single_issuer ? IORING_SETUP_SINGLE_ISSUER : 0U;
    setup.flags |= params.defer_taskrun ? IORING_SETUP_DEFER_TASKRUN : 0U;
    error = io_uring_queue_init_params(params.sq_entries, &ring->ring_, &setup);
    if (error < 0) {
        ring->ring_.ring_fd = -1;
        return nullptr;
    }
    for (unsigned at = 0; at < ring->ring_.sq.ring_entries; ++at) {
        ring->ring_.sq.array[at] = at; // as liburing does from 2.3 on: entry n is SQE n
    }
    ring->sq_mask_ = ring->ring_.sq.ring_mask;
    ring->cq_mask_ = ring->ring_.cq.ring_mask;
    ring->cqe_shift_ = params.cqe32 ? 1 : 0;
    return ring;
}

KernelRing::~KernelRing() {
    if (ring_.ring_fd >= 0) {
        io_uring_queue_exit(&ring_);
    }
}

unsigned KernelRing::submit_queue() {
    // What liburing does within io_uring_submit and does not export.
    io_uring_sq& sq = ring_.sq;
    const unsigned count = sq.sqe_tail - sq.sqe_head;
    sq.sqe_head = sq.sqe_tail;
    io_uring_smp_store_release(sq.ktail, sq.sqe_tail);
    return count;
}

int KernelRing::enter(std::uint32_t wait, bool get_events) {
    const unsigned count = submit_queue();
    return io_uring_enter(static_cast<unsigned>(ring_.ring_fd), count, wait,
                          get_events ? IORING_ENTER_GETEVENTS : 0U, nullptr);
}

int KernelRing::enable() {
    return do_register(fd(), IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
}

int KernelRing::register_files(std::span<const int> fds) {
    return do_register(fd(), IORING_REGISTER_FILES, fds.data(), static_cast<unsigned>(fds.size()));
}

int KernelRing::register_files_sparse(std::uint32_t count) {
    // Not liburing's function, which raises the file limit and tries again where the kernel
    // refuses.
    io_uring_rsrc_register arg{};
    arg.flags = IORING_RSRC_REGISTER_SPARSE;
    arg.nr = count;
    return do_register(fd(), IORING_REGISTER_FILES2, &arg, sizeof arg);
}

int KernelRing::register_alloc_range(std::uint32_t offset, std::uint32_t length) {
    io_uring_file_index_range range{};
    range.off = offset;
    range.len = length;
    return do_register(fd(), IORING_REGISTER_FILE_ALLOC_RANGE, &range, 0);
}

int KernelRing::unregister_files() {
    return do_register(fd(), IORING_UNREGISTER_FILES, nullptr, 0);
}

int KernelRing::update_files(std::uint32_t offset, std::span<const int> fds, std::uint64_t tag) {
    const auto count = static_cast<unsigned>(fds.size());
    if (tag == 0) {
        io_uring_files_update update{};
        update.offset = offset;
        update.fds = reinterpret_cast<std::uint64_t>(fds.data());
        return do_register(fd(), IORING_REGISTER_FILES_UPDATE, &update, count);
    }
    const std::vector<std::uint64_t> tags(count, tag);
    io_uring_rsrc_update2 update{};
    update.offset = offset;
    update.data = reinterpret_cast<std::uint64_t>(fds.data());
    update.tags = reinterpret_cast<std::uint64_t>(tags.data());
    update.nr = count;
    return do_register(fd(), IORING_REGISTER_FILES_UPDATE2, &update, sizeof update);
}

} // namespace uringsim::analysis::native
