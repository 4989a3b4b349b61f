#pragma once

#include "models/design.h"
#include "models/mm/kmalloc.h"
#include "models/uring/alloc_cache.h"
#include "models/uring/file.h"
#include "models/uring/rsrc_node.h"
#include "sim/cpu.h"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace uringsim::models {

/// A piece of user memory to register: struct iovec, and what lies behind it.
struct UserBuffer {
    enum class Pages : std::uint8_t { small, huge };

    bool present = true; ///< false: base and length 0, an empty slot
    std::uint64_t bytes = 4096;
    std::uint32_t offset =
        0; ///< of its start in its page: a buffer that is not aligned may need a page more
    Pages pages = Pages::small; ///< huge: backed by 2 MiB pages that it fills from their start
    std::uint64_t tag = 0;
};

class PinnedMemory;

/// struct io_mapped_ubuf: a registered buffer with its pinned pages. Rings that were cloned share
/// it.
class MappedBuffer final : public RsrcResource {
  public:
    explicit MappedBuffer(PinnedMemory& pinned)
        : pinned_(pinned) {}

    /// io_buffer_unmap: the last reference unpins and frees.
    void put(sim::Cpu& cpu) override;

  private:
    friend class BufferTable;
    friend class PinnedMemory;

    PinnedMemory& pinned_;
    std::uint32_t references_ = 0;
    std::uint64_t accounted_pages_ = 0;
    std::uint32_t bvecs_ = 0;       ///< one a page, or one a huge page where those are coalesced
    IoAllocCache* cache_ = nullptr; ///< of the ring that registered it, while that lives
    Object* object_ = nullptr;      ///< of the imu cache's size, or
    Allocation memory_;             ///< too large for that
};

/// The pages that the program's user has pinned in registered buffers.
class PinnedMemory {
  public:
    explicit PinnedMemory(Kmalloc& memory)
        : memory_(memory) {}
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;

    /// RLIMIT_MEMLOCK in pages; without limit for a user with CAP_IPC_LOCK.
    std::uint64_t limit_pages = ~std::uint64_t{0};

    /// Pages of 4 KiB that count against the limit.
    std::uint64_t accounted_pages() const { return accounted_pages_; }

    /// Segments that buffers hold pins on: pages, or huge pages that were coalesced.
    std::uint64_t pins() const { return pins_; }

  private:
    friend class BufferTable;
    friend class MappedBuffer;

    MappedBuffer& take();
    void give_back(sim::Cpu& cpu, MappedBuffer& buffer);

    Kmalloc& memory_;
    std::deque<MappedBuffer> buffers_;
    std::vector<MappedBuffer*> spare_;
    std::uint64_t accounted_pages_ = 0;
    std::uint64_t pins_ = 0;
};

/// The registered buffers of a ring.
/// Source: io_uring/rsrc.c (6.18): io_sqe_buffers_register, io_sqe_buffer_register,
/// io_buffer_account_pin, io_coalesce_buffer, io_buffer_unmap, __io_sqe_buffers_update,
/// io_clone_buffers; and (6.1) where noted.
///
/// All calls return 0 or more on success and a negative errno else.
class BufferTable {
  public:
    /// `imu_cache`: the ring's cache for small buffers' structures.
    BufferTable(const Design& design, Kmalloc& memory, RsrcLifetime& lifetime, PinnedMemory& pinned,
                IoAllocCache& imu_cache)
        : design_(design)
        , memory_(memory)
        , lifetime_(lifetime)
        , pinned_(pinned)
        , imu_cache_(imu_cache) {}

    bool registered() const { return !slots_.empty(); }
    std::uint32_t size() const { return static_cast<std::uint32_t>(slots_.size()); }
    std::uint32_t installed() const { return installed_; }

    /// Registers a table. -EBUSY: there is one; -EINVAL: none or more than 1 << 14 buffers;
    /// -EFAULT: an empty or over-long buffer (1 GiB); -ENOMEM: over RLIMIT_MEMLOCK, or no memory.
    /// An error leaves no table.
    int register_buffers(sim::Cpu& cpu, std::span<const UserBuffer> buffers);

    /// IORING_REGISTER_BUFFERS_UPDATE. Returns the buffers done, or the error where that is 0.
    /// -ENXIO: no table; -EINVAL: off range, or a tag on an empty slot. The new buffer is pinned
    /// before the old one is touched.
    int update(sim::Cpu& cpu, std::uint32_t offset, std::span<const UserBuffer> buffers);

    /// IORING_REGISTER_CLONE_BUFFERS: a table that shares the buffers of another ring.
    /// -EINVAL: this kernel has no such call (before 6.12); -EBUSY: there is a table; -ENXIO: the
    /// other ring has none.
    int clone(sim::Cpu& cpu, BufferTable& source);

    /// What must come to rest before unregister().
    sim::WaitQueue* quiesce(sim::Cpu& cpu) { return lifetime_.quiesce(cpu); }

    /// -ENXIO: no table.
    int unregister(sim::Cpu& cpu);

    /// The ring goes away: empties its imu cache, to which nothing will return.
    void drain_cache(sim::Cpu& cpu);

  private:
    static int validate(const UserBuffer& buffer);
    int map(sim::Cpu& cpu, const UserBuffer& buffer, RsrcSlot& slot);
    MappedBuffer* pin(sim::Cpu& cpu, const UserBuffer& buffer);
    void allocate(sim::Cpu& cpu, MappedBuffer& mapped);
    int replace(sim::Cpu& cpu, std::uint32_t index, const UserBuffer& buffer);
    int alloc_slots(sim::Cpu& cpu, std::uint32_t count);
    void free_slots(sim::Cpu& cpu);

    const Design& design_;
    Kmalloc& memory_;
    RsrcLifetime& lifetime_;
    PinnedMemory& pinned_;
    IoAllocCache& imu_cache_;
    std::vector<RsrcSlot> slots_;
    Allocation slot_array_;
    Allocation tag_array_;
    std::uint32_t installed_ = 0;
};

} // namespace uringsim::models
