#include "models/uring/buffer_table.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

#include <algorithm>
#include <cerrno>

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
        cpu.charge(id(Primitive::table_walk_slot), static_cast<std::uint32_t>(folios) * installed_);
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
    slot_array_ = memory_.alloc(cpu, count * slot_bytes, {.account = true, .zero = true});
    if (design_.file_table_tags) {
        tag_array_ = memory_.alloc(cpu, count * slot_bytes, {.account = true, .zero = true});
    }
    slots_.assign(count, RsrcSlot{});
    installed_ = 0;
    return 0;
}

void BufferTable::free_slots(sim::Cpu& cpu) {
    lifetime_.table_unregistered(cpu);
    memory_.free(cpu, slot_array_);
    if (tag_array_) {
        memory_.free(cpu, tag_array_);
    }
    slots_.clear();
    installed_ = 0;
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
        if (const int error = map(cpu, buffers[i], slots_[i]); error < 0) {
            for (RsrcSlot& slot : slots_) {
                slot.tag = 0; // a table that never came to be says nothing
            }
            unregister(cpu);
            return error;
        }
        installed_ += slots_[i].resource != nullptr ? 1 : 0;
        cpu.touch(slot_array_.line_at(i * slot_bytes));
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
    RsrcSlot& slot = slots_[index];
    cpu.touch(slot_array_.line_at(index * slot_bytes));
    if (slot.resource != nullptr) {
        if (const int error = lifetime_.release(cpu, slot); error < 0) {
            if (fresh.resource != nullptr) {
                fresh.resource->put(cpu);
            }
            return error;
        }
        --installed_;
        cpu.count(id(Counter::buffers_removed));
    }
    installed_ += fresh.resource != nullptr ? 1 : 0;
    slot = fresh;
    return 0;
}

int BufferTable::clone(sim::Cpu& cpu, BufferTable& source) {
    const sim::MechanismScope scope(cpu, id(Mechanism::buffers));
    cpu.charge(id(Primitive::buffers_register_call));
    if (!design_.buffer_clone) {
        return -EINVAL;
    }
    if (registered()) {
        return -EBUSY;
    }
    if (!source.registered()) {
        return -ENXIO;
    }
    if (const int error = alloc_slots(cpu, source.size()); error < 0) {
        return error;
    }
    for (std::uint32_t i = 0; i < source.size(); ++i) {
        if (source.slots_[i].resource == nullptr) {
            continue;
        }
        Object* node = nullptr;
        if (const int error = lifetime_.prepare(cpu, node); error < 0) {
            unregister(cpu);
            return error;
        }
        auto& mapped = static_cast<MappedBuffer&>(*source.slots_[i].resource);
        ++mapped.references_;
        cpu.charge(id(Primitive::file_get)); // refcount_inc
        slots_[i] = RsrcSlot{&mapped, node, 0};
        ++installed_;
        cpu.count(id(Counter::buffers_registered));
    }
    return 0;
}

int BufferTable::unregister(sim::Cpu& cpu) {
    if (!registered()) {
        return -ENXIO;
    }
    const sim::MechanismScope scope(cpu, id(Mechanism::buffers));
    for (std::size_t i = slots_.size(); i-- > 0;) {
        cpu.charge(id(Primitive::table_walk_slot));
        if (slots_[i].resource != nullptr) {
            lifetime_.drop(cpu, slots_[i]);
            cpu.count(id(Counter::buffers_removed));
        }
    }
    free_slots(cpu);
    return 0;
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
