#include "models/uring/buffer_table.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

namespace uringsim::models {

namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20U;
constexpr std::uint64_t largest_buffer = std::uint64_t{1} << 30U;
constexpr std::size_t most_buffers = std::size_t{1} << 14U; // IORING_MAX_REG_BUFFERS
constexpr std::uint32_t cached_bvecs = 32;                  // IO_CACHED_BVECS_SEGS
constexpr std::uint64_t imu_header_bytes = 56;
constexpr std::uint64_t bvec_bytes = 16;
constexpr std::uint64_t slot_bytes = 8;

std::uint64_t pages_of(const UserBuffer& buffer, std::uint64_t size) {
    return (buffer.offset % size + buffer.bytes + size - 1) / size;
}

} // namespace

// --- Buffers ---

MappedBuffer& PinnedMemory::take() {
    if (spare_.empty()) {
        spare_.push_back(&buffers_.emplace_back(*this));
    }
    MappedBuffer& buffer = *spare_.back();
    spare_.pop_back();
    return buffer;
}

void PinnedMemory::give_back(sim::Cpu& cpu, MappedBuffer& buffer) {
    if (buffer.object_ != nullptr) {
        if (buffer.cache_ == nullptr || !buffer.cache_->put(cpu, *buffer.object_)) {
            kfree(cpu, *buffer.object_);
        }
        buffer.object_ = nullptr;
    } else {
        memory_.free(cpu, buffer.memory_);
    }
    buffer.cache_ = nullptr;
    spare_.push_back(&buffer);
}

void MappedBuffer::put(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::buffers));
    cpu.charge(id(Primitive::file_put)); // refcount_dec_and_test
    if (--references_ > 0) {
        return;
    }
    cpu.charge(id(Primitive::unpin_page), bvecs_);
    cpu.charge(id(Primitive::memlock_account));
    pinned_.pins_ -= bvecs_;
    pinned_.accounted_pages_ -= accounted_pages_;
    pinned_.give_back(cpu, *this);
}

int BufferTable::validate(const UserBuffer& buffer) {
    if (!buffer.present) {
        return 0;
    }
    return buffer.bytes == 0 || buffer.bytes > largest_buffer ? -EFAULT : 0;
}

/// io_pin_pages, io_coalesce_buffer, io_buffer_account_pin. Nothing where RLIMIT_MEMLOCK forbids
/// it.
MappedBuffer* BufferTable::pin(sim::Cpu& cpu, const UserBuffer& buffer) {
    const bool huge = buffer.pages == UserBuffer::Pages::huge;
    const std::uint64_t pages = pages_of(buffer, page_bytes);
    const std::uint64_t folios = huge ? pages_of(buffer, huge_page_bytes) : pages;
    Allocation array = memory_.alloc(cpu, pages * slot_bytes, {});
    cpu.charge(id(Primitive::pin_call));
    cpu.count(id(Counter::pages_pinned), pages);
    if (huge) {
        cpu.charge(id(Primitive::pin_huge_page), static_cast<std::uint32_t>(folios));
        cpu.charge(id(Primitive::pin_tail_page), static_cast<std::uint32_t>(pages));
        // Whether a huge page is accounted already is looked up among all that is registered.
        cpu.charge(id(Primitive::table_walk_slot), static_cast<std::uint32_t>(folios) * table_.installed);
    } else {
        cpu.charge(id(Primitive::pin_page), static_cast<std::uint32_t>(pages));
    }
    const bool coalesced = huge && design_.buffer_coalesce && pages > 1;
    const std::uint64_t accounted = huge ? folios * (huge_page_bytes / page_bytes) : pages;
    const auto bvecs = static_cast<std::uint32_t>(coalesced ? folios : pages);
    cpu.charge(id(Primitive::memlock_account));
    MappedBuffer* mapped = nullptr;
    if (pinned_.accounted_pages_ + accounted > pinned_.limit_pages) {
        cpu.charge(id(Primitive::unpin_page), bvecs);
    } else {
        mapped = &pinned_.take();
        mapped->references_ = 1;
        mapped->bytes_ = buffer.bytes;
        mapped->bvecs_ = bvecs;
        mapped->accounted_pages_ = accounted;
        pinned_.accounted_pages_ += accounted;
        pinned_.pins_ += bvecs;
        allocate(cpu, *mapped);
    }
    memory_.free(cpu, array);
    return mapped;
}

/// io_alloc_imu.
void BufferTable::allocate(sim::Cpu& cpu, MappedBuffer& mapped) {
    constexpr auto cached_bytes =
        static_cast<std::uint32_t>(imu_header_bytes + cached_bvecs * bvec_bytes);
    if (!design_.buffer_imu_cache || mapped.bvecs_ > cached_bvecs) {
        mapped.memory_ = memory_.alloc(cpu, imu_header_bytes + mapped.bvecs_ * bvec_bytes, {});
        return;
    }
    mapped.cache_ = &imu_cache_;
    mapped.object_ = imu_cache_.get(cpu);
    if (mapped.object_ == nullptr) {
        mapped.object_ = memory_.cache(cached_bytes, false).alloc(cpu);
    }
    cpu.touch(mapped.object_->line());
}

/// io_sqe_buffer_register: fills a slot that is not in the table yet.
int BufferTable::map(sim::Cpu& cpu, const UserBuffer& buffer, RsrcSlot& slot) {
    cpu.charge(id(Primitive::buffer_register));
    if (const int error = validate(buffer); error < 0) {
        return error;
    }
    if (!buffer.present) {
        return buffer.tag != 0 ? -EINVAL : 0;
    }
    Object* node = nullptr;
    if (const int error = lifetime_.prepare(cpu, node); error < 0) {
        return error;
    }
    MappedBuffer* mapped = pin(cpu, buffer);
    if (mapped == nullptr) {
        if (node != nullptr) {
            lifetime_.abandon(cpu, node);
        }
        return -ENOMEM;
    }
    slot = RsrcSlot{mapped, node, buffer.tag};
    cpu.count(id(Counter::buffers_registered));
    return 0;
}

// --- The table ---

int BufferTable::alloc_slots(sim::Cpu& cpu, std::uint32_t count) {
    if (const int error = lifetime_.table_registered(cpu); error < 0) {
        return error;
    }
    table_.slot_array = memory_.alloc(cpu, count * slot_bytes, {.account = true, .zero = true});
    if (design_.file_table_tags) {
        table_.tag_array = memory_.alloc(cpu, count * slot_bytes, {.account = true, .zero = true});
    }
    table_.slots.assign(count, RsrcSlot{});
    return 0;
}

BufferTable::Table BufferTable::take_table() {
    return std::exchange(table_, Table{});
}

void BufferTable::free_table(sim::Cpu& cpu, Table& table) {
    lifetime_.table_unregistered(cpu);
    memory_.free(cpu, table.slot_array);
    if (table.tag_array) {
        memory_.free(cpu, table.tag_array);
    }
    table = Table{};
}

int BufferTable::register_buffers(sim::Cpu& cpu, std::span<const UserBuffer> buffers) {
    const sim::MechanismScope scope(cpu, id(Mechanism::buffers));
    cpu.charge(id(Primitive::buffers_register_call));
    if (registered()) {
        return -EBUSY;
    }
    if (buffers.empty() || buffers.size() > most_buffers) {
        return -EINVAL;
    }
    if (const int error = alloc_slots(cpu, static_cast<std::uint32_t>(buffers.size())); error < 0) {
        return error;
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        if (const int error = map(cpu, buffers[i], table_.slots[i]); error < 0) {
            for (RsrcSlot& slot : table_.slots) {
                slot.tag = 0; // a table that never came to be says nothing
            }
            unregister(cpu);
            return error;
        }
        table_.installed += table_.slots[i].resource != nullptr ? 1 : 0;
        cpu.touch(table_.slot_array.line_at(i * slot_bytes));
    }
    return 0;
}

int BufferTable::update(sim::Cpu& cpu, std::uint32_t offset, std::span<const UserBuffer> buffers) {
    const sim::MechanismScope scope(cpu, id(Mechanism::buffers));
    cpu.charge(id(Primitive::files_update_call));
    if (!registered()) {
        return -ENXIO;
    }
    if (std::uint64_t{offset} + buffers.size() > size()) {
        return -EINVAL;
    }
    if (const int error = lifetime_.begin_update(cpu); error < 0) {
        return error;
    }
    int result = 0;
    for (const UserBuffer& buffer : buffers) {
        const int error = replace(cpu, offset + static_cast<std::uint32_t>(result), buffer);
        if (error < 0) {
            result = result > 0 ? result : error;
            break;
        }
        ++result;
    }
    lifetime_.end_update(cpu);
    return result;
}

int BufferTable::replace(sim::Cpu& cpu, std::uint32_t index, const UserBuffer& buffer) {
    RsrcSlot fresh;
    if (const int error = map(cpu, buffer, fresh); error < 0) {
        return error;
    }
    RsrcSlot& slot = table_.slots[index];
    cpu.touch(table_.slot_array.line_at(index * slot_bytes));
    if (slot.resource != nullptr) {
        if (const int error = lifetime_.release(cpu, slot); error < 0) {
            if (fresh.resource != nullptr) {
                fresh.resource->put(cpu);
            }
            return error;
        }
        --table_.installed;
        cpu.count(id(Counter::buffers_removed));
    }
    table_.installed += fresh.resource != nullptr ? 1 : 0;
    slot = fresh;
    return 0;
}

// --- Clones ---

/// What io_clone_buffers says of the range before it allocates anything. Sets nr where it is 0.
int BufferTable::check_clone(const BufferTable& source, CloneRange& range) const {
    const bool ranged = range.src_off != 0 || range.dst_off != 0 || range.nr != 0;
    if (!design_.buffer_clone) {
        return -EINVAL;
    }
    if (registered() && !(range.dst_replace && design_.buffer_clone_ranges)) {
        return -EBUSY;
    }
    if (!design_.buffer_clone_ranges && (ranged || range.dst_replace)) {
        return -EINVAL;
    }
    if ((range.nr == 0 && ranged) || range.nr > source.size()) {
        return -EINVAL;
    }
    if (range.nr == 0) {
        range.nr = source.size();
    }
    const std::uint64_t end = std::uint64_t{range.dst_off} + range.nr;
    if (end > std::numeric_limits<std::uint32_t>::max()) {
        return -EOVERFLOW;
    }
    return end > most_buffers ? -EINVAL : 0;
}

int BufferTable::clone(sim::Cpu& cpu, BufferTable& source, const CloneRange& wanted) {
    const sim::MechanismScope scope(cpu, id(Mechanism::buffers));
    cpu.charge(id(Primitive::buffers_register_call));
    CloneRange range = wanted;
    if (const int error = check_clone(source, range); error < 0) {
        return error;
    }
    if (!source.registered()) {
        return -ENXIO;
    }
    if (std::uint64_t{range.src_off} + range.nr > source.size()) {
        return -EOVERFLOW;
    }
    const std::uint32_t slots = std::max(range.dst_off + range.nr, size());
    Table old = take_table();
    int error = alloc_slots(cpu, slots);
    if (error == 0) {
        error = copy_slots(cpu, &source == this ? old.slots : source.table_.slots, range);
        if (error < 0) {
            unregister(cpu);
        }
    }
    if (error < 0) {
        table_ = std::move(old);
    } else if (!old.slots.empty()) {
        keep_slots(cpu, std::min<std::size_t>(range.dst_off, old.slots.size()), old.slots);
        drop_slots(cpu, old.slots);
        free_table(cpu, old);
    }
    return error;
}

/// Fills the table from dst_off on. The node of each slot is the table's own.
int BufferTable::copy_slots(sim::Cpu& cpu, const std::vector<RsrcSlot>& source,
                            const CloneRange& range) {
    for (std::uint32_t i = 0; i < range.nr; ++i) {
        const RsrcSlot& from = source[range.src_off + i];
        if (from.resource == nullptr) {
            continue;
        }
        Object* node = nullptr;
        if (const int error = lifetime_.prepare(cpu, node); error < 0) {
            return error;
        }
        auto& mapped = static_cast<MappedBuffer&>(*from.resource);
        ++mapped.references_;
        cpu.charge(id(Primitive::file_get)); // refcount_inc
        table_.slots[range.dst_off + i] = RsrcSlot{&mapped, node, 0};
        ++table_.installed;
        cpu.count(id(Counter::buffers_registered));
    }
    return 0;
}

/// The first slots of the table that is replaced stay, with their nodes and tags. For a moment both
/// tables hold them.
void BufferTable::keep_slots(sim::Cpu& cpu, std::size_t count, std::vector<RsrcSlot>& old) {
    for (std::size_t i = 0; i < count; ++i) {
        if (old[i].resource == nullptr) {
            continue;
        }
        if (old[i].node != nullptr) {
            cpu.touch(old[i].node->line());
        }
        cpu.charge(id(Primitive::node_put));
        table_.slots[i] = std::exchange(old[i], RsrcSlot{});
        ++table_.installed;
    }
}

int BufferTable::unregister(sim::Cpu& cpu) {
    if (!registered()) {
        return -ENXIO;
    }
    const sim::MechanismScope scope(cpu, id(Mechanism::buffers));
    drop_slots(cpu, table_.slots);
    free_table(cpu, table_);
    return 0;
}

/// io_rsrc_data_free: from the last slot to the first.
void BufferTable::drop_slots(sim::Cpu& cpu, std::vector<RsrcSlot>& slots) {
    for (std::size_t i = slots.size(); i-- > 0;) {
        cpu.charge(id(Primitive::table_walk_slot));
        if (slots[i].resource != nullptr) {
            lifetime_.drop(cpu, slots[i]);
            cpu.count(id(Counter::buffers_removed));
        }
    }
}

// --- Requests ---

int BufferTable::use(sim::Cpu& cpu, std::uint32_t index, std::uint64_t offset, std::uint64_t bytes,
                     Object*& node) {
    if (index >= size()) {
        return -EFAULT;
    }
    cpu.touch(table_.slot_array.line_at(index * slot_bytes));
    RsrcSlot& slot = table_.slots[index];
    if (slot.resource == nullptr) {
        return -EFAULT;
    }
    node = lifetime_.get(cpu, slot);
    cpu.charge(id(Primitive::buffer_import));
    return offset + bytes > static_cast<MappedBuffer&>(*slot.resource).bytes_ ? -EFAULT : 0;
}

void BufferTable::drain_cache(sim::Cpu& cpu) {
    for (MappedBuffer& buffer : pinned_.buffers_) {
        if (buffer.cache_ == &imu_cache_) {
            buffer.cache_ =
                nullptr; // shared with another ring: goes to the slab when it is unmapped
        }
    }
    while (imu_cache_.cached() > 0) {
        kfree(cpu, *imu_cache_.get(cpu));
    }
}

} // namespace uringsim::models
