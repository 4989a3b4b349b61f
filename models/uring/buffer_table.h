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
    std::uint64_t bytes_ = 0;
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

    bool registered() const { return !table_.slots.empty(); }
    std::uint32_t size() const { return static_cast<std::uint32_t>(table_.slots.size()); }
    std::uint32_t installed() const { return table_.installed; }

    /// Registers a table. -EBUSY: there is one; -EINVAL: none or more than 1 << 14 buffers;
    /// -EFAULT: an empty or over-long buffer (1 GiB); -ENOMEM: over RLIMIT_MEMLOCK, or no memory.
    /// An error leaves no table.
    int register_buffers(sim::Cpu& cpu, std::span<const UserBuffer> buffers);

    /// IORING_REGISTER_BUFFERS_UPDATE. Returns the buffers done, or the error where that is 0.
    /// -ENXIO: no table; -EINVAL: off range, or a tag on an empty slot. The new buffer is pinned
    /// before the old one is touched.
    int update(sim::Cpu& cpu, std::uint32_t offset, std::span<const UserBuffer> buffers);

    /// Which buffers of the other ring a clone takes over: struct io_uring_clone_buffers.
    struct CloneRange {
        std::uint32_t src_off = 0;
        std::uint32_t dst_off = 0;
        std::uint32_t nr = 0;     ///< 0: all of them
        bool dst_replace = false; ///< IORING_REGISTER_DST_REPLACE
    };

    /// IORING_REGISTER_CLONE_BUFFERS: a table that shares the buffers of another ring, or of this one.
    /// With dst_replace, what the old table has before dst_off stays; what it has after the copied
    /// range does not.
    ///
    /// -EBUSY: there is a table, and no dst_replace; -EINVAL: this kernel has no such call (before
    /// 6.12) or no ranges (6.12), an offset without a number, more than the other ring has, or a
    /// table of more than 1 << 14; -EOVERFLOW: dst_off + nr wraps, or src_off + nr is beyond the
    /// other ring's table; -ENXIO: the other ring has none; -ENOMEM: no node. An error leaves the
    /// table as it was.
    int clone(sim::Cpu& cpu, BufferTable& source, const CloneRange& range);

    /// A request starts to use `bytes` bytes of a buffer from `offset` on. On success and for a bad
    /// range, with a reference on its node in `node`. 0, or -EFAULT: the slot is empty or off the
    /// table, or the range is not inside the buffer.
    int use(sim::Cpu& cpu, std::uint32_t index, std::uint64_t offset, std::uint64_t bytes,
            Object*& node);

    /// What must come to rest before unregister().
    sim::WaitQueue* quiesce(sim::Cpu& cpu) { return lifetime_.quiesce(cpu); }

    /// -ENXIO: no table.
    int unregister(sim::Cpu& cpu);

    /// The ring goes away: empties its imu cache, to which nothing will return.
    void drain_cache(sim::Cpu& cpu);

  private:
    /// struct io_rsrc_data.
    struct Table {
        std::vector<RsrcSlot> slots;
        Allocation slot_array;
        Allocation tag_array;
        std::uint32_t installed = 0;
    };

    static int validate(const UserBuffer& buffer);
    int map(sim::Cpu& cpu, const UserBuffer& buffer, RsrcSlot& slot);
    MappedBuffer* pin(sim::Cpu& cpu, const UserBuffer& buffer);
    void allocate(sim::Cpu& cpu, MappedBuffer& mapped);
    int replace(sim::Cpu& cpu, std::uint32_t index, const UserBuffer& buffer);
    int alloc_slots(sim::Cpu& cpu, std::uint32_t count);
    Table take_table();
    void free_table(sim::Cpu& cpu, Table& table);
    void drop_slots(sim::Cpu& cpu, std::vector<RsrcSlot>& slots);
    int check_clone(const BufferTable& source, CloneRange& range) const;
    int copy_slots(sim::Cpu& cpu, const std::vector<RsrcSlot>& source, const CloneRange& range);
    void keep_slots(sim::Cpu& cpu, std::size_t count, std::vector<RsrcSlot>& old);

    const Design& design_;
    Kmalloc& memory_;
    RsrcLifetime& lifetime_;
    PinnedMemory& pinned_;
    IoAllocCache& imu_cache_;
    Table table_;
};

} // namespace uringsim::models
