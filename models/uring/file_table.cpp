#include "models/uring/file_table.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <limits>

namespace uringsim::models {

namespace {

constexpr std::uint32_t max_fixed_files = 1U << 20U; // IORING_MAX_FIXED_FILES
constexpr std::uint64_t slot_bytes = 8;
constexpr std::uint64_t tag_bytes = 8;

/// __GFP_ZERO clears whole blocks of pages (prep_new_page): what lies behind an array of another
/// length than a power of two is cleared as well. Charged for slots and
/// tags only: other zeroed arrays are charged as far as they are used (Kmalloc::alloc).
void clear_rest_of_block(sim::Cpu& cpu, const Allocation& array) {
    constexpr std::uint64_t line_bytes = 64;
    const std::uint64_t lines =
        array.pages != nullptr ? (array.pages->bytes() - array.bytes) / line_bytes : 0;
    if (lines > 0) {
        cpu.charge(id(Primitive::zero_line), static_cast<std::uint32_t>(lines));
    }
}

} // namespace

int FileTable::register_slots(sim::Cpu& cpu, std::uint32_t slots, std::uint64_t rlimit_nofile) {
    const sim::MechanismScope scope(cpu, id(Mechanism::file_table));
    cpu.charge(id(Primitive::register_files_call));
    if (registered()) {
        return -EBUSY;
    }
    if (slots == 0) {
        return -EINVAL;
    }
    if (slots > max_fixed_files || slots > rlimit_nofile) {
        return -EMFILE;
    }
    if (const int error = lifetime_.table_registered(cpu); error < 0) {
        return error;
    }
    const GfpFlags accounted_and_zero{.account = true, .zero = true};
    const std::uint64_t words = (slots + word_bits - 1) / word_bits;
    slot_array_ = memory_.alloc(cpu, slots * slot_bytes, accounted_and_zero);
    bitmap_array_ = memory_.alloc(cpu, words * sizeof(std::uint64_t), accounted_and_zero);
    if (design_.file_table_tags) {
        tag_array_ = memory_.alloc(cpu, slots * tag_bytes, accounted_and_zero);
        clear_rest_of_block(cpu, tag_array_);
    }
    clear_rest_of_block(cpu, slot_array_);
    cpu.charge(id(Primitive::table_walk_slot), slots);
    slots_.assign(slots, RsrcSlot{});
    size_ = slots;
    bitmap_.assign(words, 0);
    range_start_ = 0;
    range_end_ = slots;
    hint_ = 0;
    installed_ = 0;
    return 0;
}

int FileTable::fill_at_registration(sim::Cpu& cpu, std::uint32_t slot, File& file) {
    const sim::MechanismScope scope(cpu, id(Mechanism::file_table));
    if (file.is_ring) {
        return -EBADF;
    }
    Object* node = nullptr;
    if (const int error = lifetime_.prepare(cpu, node); error < 0) {
        return error;
    }
    file.get(cpu);
    set_bit(cpu, slot);
    store(cpu, slot, file, node, 0);
    return 0;
}

/// Releases an occupied slot of a table that goes away from the top down. That is long after it was
/// filled, so the host's caches are asked for what the slots below will need, the nodes first and
/// then their lines.
void FileTable::drop(sim::Cpu& cpu, std::uint32_t slot) {
    constexpr std::uint32_t near_slots = 6;
    constexpr std::uint32_t far_slots = 12;
    if (slot >= far_slots) {
        __builtin_prefetch(slots_[slot - far_slots].node);
        if (const Object* node = slots_[slot - near_slots].node) {
            __builtin_prefetch(&node->line());
        }
    }
    cpu.touch(slot_line(slot));
    lifetime_.drop(cpu, slots_[slot]);
    --installed_;
    cpu.count(id(Counter::files_removed));
}

int FileTable::unregister(sim::Cpu& cpu) {
    if (!registered()) {
        return -ENXIO;
    }
    const sim::MechanismScope scope(cpu, id(Mechanism::file_table));
    std::uint32_t walked = 0;
    for (std::uint32_t slot = size(); slot-- > 0;) {
        ++walked;
        if (used(slot)) {
            cpu.charge(id(Primitive::table_walk_slot), walked);
            walked = 0;
            drop(cpu, slot);
        }
    }
    if (walked > 0) {
        cpu.charge(id(Primitive::table_walk_slot), walked);
    }
    lifetime_.table_unregistered(cpu);
    memory_.free(cpu, slot_array_);
    memory_.free(cpu, bitmap_array_);
    if (tag_array_) {
        memory_.free(cpu, tag_array_);
    }
    slots_.clear();
    size_ = 0;
    bitmap_.clear();
    installed_ = 0;
    return 0;
}

void FileTable::release_at_exit(sim::Cpu& cpu, std::uint32_t slot) {
    cpu.charge(id(Primitive::ring_exit_slot));
    drop(cpu, slot);
}

int FileTable::set_alloc_range(std::uint32_t offset, std::uint32_t length) {
    const std::uint32_t end = offset + length;
    if (end < offset) {
        return -EOVERFLOW;
    }
    if (end > size()) {
        return -EINVAL;
    }
    range_start_ = offset;
    range_end_ = end;
    hint_ = offset;
    return 0;
}

inline int FileTable::find_free(sim::Cpu& cpu) {
    cpu.charge(id(Primitive::bitmap_find));
    if (!registered()) {
        return -ENFILE;
    }
    const std::uint32_t from = hint_;
    if (const int slot = search(cpu, from, range_end_); slot >= 0) {
        return slot;
    }
    if (from == range_start_) {
        return -ENFILE;
    }
    hint_ = range_start_; // kept even where the second search finds nothing
    return search(cpu, range_start_, from);
}

inline int FileTable::search(sim::Cpu& cpu, std::uint32_t from, std::uint32_t to) const {
    // The slot after the last one that was filled is free as a rule.
    const bool at_once =
        from < to && (bitmap_[from / word_bits] >> (from % word_bits) & 1U) == 0;
    return at_once ? static_cast<int>(from) : search_words(cpu, from, to);
}

int FileTable::search_words(sim::Cpu& cpu, std::uint32_t from, std::uint32_t to) const {
    std::uint32_t scanned = 0;
    int found = -ENFILE;
    for (std::uint32_t slot = from; slot < to;) {
        const std::uint32_t word = slot / word_bits;
        const std::uint64_t free = ~bitmap_[word] & (~std::uint64_t{0} << (slot % word_bits));
        if (free != 0) {
            const auto candidate = word * word_bits + static_cast<std::uint32_t>(std::countr_zero(free));
            if (candidate < to) {
                found = static_cast<int>(candidate);
            }
            break;
        }
        slot = (word + 1) * word_bits;
        ++scanned;
    }
    if (scanned > 0) {
        cpu.charge(id(Primitive::bitmap_scan_word), scanned);
    }
    return found;
}

void FileTable::set_bit(sim::Cpu& cpu, std::uint32_t slot) {
    bitmap_[slot / word_bits] |= std::uint64_t{1} << (slot % word_bits);
    hint_ = slot + 1;
    cpu.touch(bitmap_line(slot));
}

void FileTable::clear_bit(sim::Cpu& cpu, std::uint32_t slot) {
    bitmap_[slot / word_bits] &= ~(std::uint64_t{1} << (slot % word_bits));
    hint_ = slot;
    cpu.touch(bitmap_line(slot));
}

void FileTable::store(sim::Cpu& cpu, std::uint32_t slot, File& file, Object* node,
                      std::uint64_t tag) {
    slots_[slot] = RsrcSlot{&file, node, tag};
    cpu.touch(slot_line(slot));
    ++installed_;
    cpu.count(id(Counter::files_installed));
}

int FileTable::fixed_fd_install(sim::Cpu& cpu, File& file, std::uint32_t file_index) {
    const sim::MechanismScope scope(cpu, id(Mechanism::file_table));
    std::uint32_t slot = file_index - 1;
    if (file_index == file_index_alloc) {
        const int found = find_free(cpu);
        if (found < 0) {
            return found;
        }
        slot = static_cast<std::uint32_t>(found);
    }
    cpu.charge(id(Primitive::fixed_file_install));
    if (design_.install_path_6_15) {
        cpu.charge(id(Primitive::install_path_6_15));
    }
    if (file.is_ring) {
        return -EBADF;
    }
    if (!registered()) {
        return -ENXIO;
    }
    if (slot >= size()) {
        return -EINVAL;
    }
    Object* node = nullptr;
    if (const int error = lifetime_.prepare(cpu, node); error < 0) {
        return error;
    }
    if (used(slot)) {
        // A replacement leaves bitmap and hint alone.
        if (const int error = replace_slot(cpu, slot); error < 0) {
            lifetime_.abandon(cpu, node);
            return error;
        }
    } else {
        set_bit(cpu, slot);
    }
    store(cpu, slot, file, node, 0);
    return file_index == file_index_alloc ? static_cast<int>(slot) : 0;
}

/// A removal that is a call of its own.
int FileTable::replace_slot(sim::Cpu& cpu, std::uint32_t slot) {
    if (const int error = lifetime_.begin_update(cpu); error < 0) {
        return error;
    }
    const int error = release_slot(cpu, slot);
    lifetime_.end_update(cpu);
    return error;
}

int FileTable::release_slot(sim::Cpu& cpu, std::uint32_t slot) {
    cpu.touch(slot_line(slot));
    const int error = lifetime_.release(cpu, slots_[slot]);
    if (error == 0) {
        --installed_;
        cpu.count(id(Counter::files_removed));
    }
    return error;
}

int FileTable::update(sim::Cpu& cpu, std::uint32_t offset, std::span<const FileUpdate> entries) {
    const sim::MechanismScope scope(cpu, id(Mechanism::file_table));
    cpu.charge(id(Primitive::files_update_call));
    if (std::uint64_t{offset} + entries.size() > std::numeric_limits<std::uint32_t>::max()) {
        return -EOVERFLOW;
    }
    if (!registered()) {
        return -ENXIO;
    }
    if (std::uint64_t{offset} + entries.size() > size()) {
        return -EINVAL;
    }
    if (const int error = lifetime_.begin_update(cpu); error < 0) {
        return error;
    }
    const int result = update_slots(cpu, offset, entries);
    lifetime_.end_update(cpu);
    return result;
}

int FileTable::update_slots(sim::Cpu& cpu, std::uint32_t offset,
                            std::span<const FileUpdate> entries) {
    int done = 0;
    for (const FileUpdate& entry : entries) {
        const int error = update_one(cpu, offset + static_cast<std::uint32_t>(done), entry);
        if (error < 0) {
            return done > 0 ? done : error;
        }
        ++done;
    }
    return done;
}

int FileTable::update_one(sim::Cpu& cpu, std::uint32_t slot, const FileUpdate& entry) {
    if (entry.kind != FileUpdate::Kind::install && entry.kind != FileUpdate::Kind::bad_fd &&
        entry.tag != 0) {
        return -EINVAL;
    }
    cpu.charge(id(Primitive::fixed_file_remove));
    if (entry.kind == FileUpdate::Kind::skip) {
        return 0;
    }
    if (occupied(slot)) {
        if (const int error = release_slot(cpu, slot); error < 0) {
            return error;
        }
        clear_bit(cpu, slot);
    }
    if (entry.kind == FileUpdate::Kind::remove) {
        return 0;
    }
    if (entry.kind == FileUpdate::Kind::bad_fd || entry.file->is_ring) {
        return -EBADF;
    }
    entry.file->get(cpu);
    Object* node = nullptr;
    if (const int error = lifetime_.prepare(cpu, node); error < 0) {
        entry.file->put(cpu);
        return error;
    }
    store(cpu, slot, *entry.file, node, entry.tag);
    set_bit(cpu, slot);
    return 0;
}

int FileTable::update_alloc(sim::Cpu& cpu, std::span<const FileUpdate> entries,
                            std::vector<std::uint32_t>* slots) {
    const sim::MechanismScope scope(cpu, id(Mechanism::file_table));
    cpu.charge(id(Primitive::files_update_call));
    if (!registered()) {
        return -ENXIO;
    }
    int done = 0;
    for (const FileUpdate& entry : entries) {
        int slot = -EBADF; // -1 and -2 are no files here
        if (entry.kind == FileUpdate::Kind::install) {
            entry.file->get(cpu);
            slot = fixed_fd_install(cpu, *entry.file, file_index_alloc);
            if (slot < 0) {
                entry.file->put(cpu);
            }
        }
        if (slot < 0) {
            return done > 0 ? done : slot;
        }
        if (slots != nullptr) {
            slots->push_back(static_cast<std::uint32_t>(slot));
        }
        ++done;
    }
    return done;
}

int FileTable::remove(sim::Cpu& cpu, std::uint32_t slot) {
    const sim::MechanismScope scope(cpu, id(Mechanism::file_table));
    cpu.charge(id(Primitive::fixed_file_remove));
    if (!registered()) {
        return -ENXIO;
    }
    if (slot >= size()) {
        return -EINVAL;
    }
    if (!occupied(slot)) {
        return -EBADF;
    }
    if (const int error = replace_slot(cpu, slot); error < 0) {
        return error;
    }
    clear_bit(cpu, slot);
    return 0;
}

File* FileTable::use(sim::Cpu& cpu, std::uint32_t slot, Object*& node) {
    if (slot >= size()) {
        return nullptr;
    }
    cpu.touch(slot_line(slot));
    if (!occupied(slot)) {
        return nullptr;
    }
    node = lifetime_.get(cpu, slots_[slot]);
    return &file(slot);
}

sim::Line& FileTable::slot_line(std::uint32_t slot) {
    return slot_array_.line_at(slot * slot_bytes);
}

sim::Line& FileTable::bitmap_line(std::uint32_t slot) {
    return bitmap_array_.line_at(slot / 8);
}

std::uint64_t FileTable::table_bytes() const {
    return slot_array_.bytes + bitmap_array_.bytes + tag_array_.bytes;
}

} // namespace uringsim::models
