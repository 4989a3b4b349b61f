#pragma once

#include "models/design.h"
#include "models/mm/kmalloc.h"
#include "models/uring/file.h"
#include "models/uring/rsrc_node.h"
#include "sim/cpu.h"

#include <cstdint>
#include <span>
#include <vector>

namespace uringsim::models {

/// IORING_FILE_INDEX_ALLOC: let the kernel pick a free slot.
inline constexpr std::uint32_t file_index_alloc = 0xffffffff;

/// What stands for no file (-1) in an update, and what says "leave this slot as it is"
/// (IORING_REGISTER_FILES_SKIP, -2), is told apart from real files by these.
struct FileUpdate {
    enum class Kind : std::uint8_t { install, remove, skip, bad_fd } kind = Kind::remove;
    File* file = nullptr; ///< for install
    std::uint64_t tag = 0;
};

/// The fixed-file table of a ring, with its allocation bitmap.
/// Source: io_uring/rsrc.c, io_uring/filetable.c and .h (6.13 - 6.18), as noted.
///
/// All calls return 0 or more on success and a negative errno else.
class FileTable {
  public:
    FileTable(const Design& design, Kmalloc& memory, RsrcLifetime& lifetime)
        : design_(design), memory_(memory), lifetime_(lifetime) {}

    bool registered() const { return size_ > 0; }
    std::uint32_t size() const { return size_; }
    std::uint32_t installed() const { return installed_; }
    /// Throws std::out_of_range off the table, as slot() and file() do.
    bool occupied(std::uint32_t index) const { return slot(index).resource != nullptr; }
    const RsrcSlot& slot(std::uint32_t index) const {
        return index < size_ ? slots_[index] : slots_.at(index);
    }
    /// The file of an occupied slot.
    File& file(std::uint32_t index) const { return static_cast<File&>(*slot(index).resource); }

    /// io_sqe_files_register: the checks and the empty table.
    /// -EBUSY: there is a table; -EINVAL: no slots; -EMFILE: more than 1 << 20, or than the soft
    /// RLIMIT_NOFILE.
    int register_slots(sim::Cpu& cpu, std::uint32_t slots, std::uint64_t rlimit_nofile);

    /// Fills a slot of a table that is being registered; set_alloc_range() over all of it comes last.
    int fill_at_registration(sim::Cpu& cpu, std::uint32_t slot, File& file);

    /// io_sqe_files_unregister: -ENXIO without a table. Walks down from the highest slot.
    int unregister(sim::Cpu& cpu);

    /// What must come to rest before unregister(), as RsrcLifetime::quiesce().
    sim::WaitQueue* quiesce(sim::Cpu& cpu) { return lifetime_.quiesce(cpu); }

    /// Ring exit: drops the file of an occupied slot.
    void release_at_exit(sim::Cpu& cpu, std::uint32_t slot);

    /// io_register_file_alloc_range: slots that ALLOC may hand out.
    /// -EOVERFLOW: offset + length wraps; -EINVAL: it ends after the table.
    int set_alloc_range(std::uint32_t offset, std::uint32_t length);

    /// __io_fixed_fd_install: `file_index` is a slot + 1, or file_index_alloc. Takes over the
    /// caller's reference on success. Returns the slot for ALLOC, else 0.
    /// -ENFILE: no free slot; -EBADF: a ring's file; -ENXIO: no table; -EINVAL: off range;
    /// -ENOMEM: no node, and the slot is as it was.
    int fixed_fd_install(sim::Cpu& cpu, File& file, std::uint32_t file_index);

    /// __io_sqe_files_update. Returns the entries done, or the error where that is 0.
    /// -EOVERFLOW: offset + entries wraps; -ENXIO: no table; -EINVAL: off range, or a tag without a
    /// file; -EBADF: a bad fd or a ring's; -ENOMEM: no node. A failing slot is empty already.
    int update(sim::Cpu& cpu, std::uint32_t offset, std::span<const FileUpdate> entries);

    /// io_files_update_with_index_alloc: FILES_UPDATE with file_index_alloc for its offset. Each
    /// file goes into a free slot, whose number is appended to `slots` (copy_to_user; nullptr: nobody
    /// looks). Returns the entries done, or the error where that is 0.
    /// -ENXIO: no table; -EBADF: no file, or a ring's; -ENFILE: no free slot; -ENOMEM: no node.
    int update_alloc(sim::Cpu& cpu, std::span<const FileUpdate> entries,
                     std::vector<std::uint32_t>* slots);

    /// io_fixed_fd_remove (direct close). -ENXIO, -EINVAL, or -EBADF for an empty slot.
    int remove(sim::Cpu& cpu, std::uint32_t slot);

    /// The file of a slot for a request, with a reference on its node in `node`; nullptr where the
    /// slot is empty or off range.
    File* use(sim::Cpu& cpu, std::uint32_t slot, Object*& node);

    /// Bytes of the slot array, the bitmap and the tag table.
    std::uint64_t table_bytes() const;

  private:
    static constexpr std::uint32_t word_bits = 64;

    bool used(std::uint32_t slot) const { return slots_[slot].resource != nullptr; }
    void drop(sim::Cpu& cpu, std::uint32_t slot);

    int find_free(sim::Cpu& cpu);
    int search_words(sim::Cpu& cpu, std::uint32_t from, std::uint32_t to) const;
    int search(sim::Cpu& cpu, std::uint32_t from, std::uint32_t to) const;
    void set_bit(sim::Cpu& cpu, std::uint32_t slot);
    void clear_bit(sim::Cpu& cpu, std::uint32_t slot);
    void store(sim::Cpu& cpu, std::uint32_t slot, File& file, Object* node, std::uint64_t tag);
    int update_one(sim::Cpu& cpu, std::uint32_t slot, const FileUpdate& entry);
    int update_slots(sim::Cpu& cpu, std::uint32_t offset, std::span<const FileUpdate> entries);
    int replace_slot(sim::Cpu& cpu, std::uint32_t slot);
    int release_slot(sim::Cpu& cpu, std::uint32_t slot);
    sim::Line& slot_line(std::uint32_t slot);
    sim::Line& bitmap_line(std::uint32_t slot);

    const Design& design_;
    Kmalloc& memory_;
    RsrcLifetime& lifetime_;
    std::vector<RsrcSlot> slots_;
    std::uint32_t size_ = 0; ///< of slots_
    std::vector<std::uint64_t> bitmap_;
    std::uint32_t range_start_ = 0;
    std::uint32_t range_end_ = 0;
    std::uint32_t hint_ = 0;
    std::uint32_t installed_ = 0;
    Allocation slot_array_;
    Allocation bitmap_array_;
    Allocation tag_array_;
};

} // namespace uringsim::models
