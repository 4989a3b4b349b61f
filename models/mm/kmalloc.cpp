#include "models/mm/kmalloc.h"

#include "models/mechanisms.h"
#include "models/mm/slab_policy.h"
#include "models/primitives.h"

#include <array>
#include <bit>
#include <stdexcept>

namespace uringsim::models {

namespace {

constexpr std::uint32_t line_bytes = 64;
constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint32_t largest_class = 8192;

constexpr SlabCounters node_counters{Counter::new_slabs,        Counter::freed_slabs,
                                     Counter::slab_alloc_slow,  Counter::slab_get_partial,
                                     Counter::slab_free_slow,   Counter::slab_put_cpu_partial};

constexpr SlabCounters request_counters{
    Counter::request_new_slabs,       Counter::request_freed_slabs,
    Counter::request_slab_alloc_slow, Counter::request_slab_get_partial,
    Counter::request_slab_free_slow,  Counter::request_slab_put_cpu_partial};

std::string class_name(std::uint32_t size, bool account) {
    constexpr std::uint32_t kib = 1024;
    const std::string number =
        size >= kib ? std::to_string(size / kib) + "k" : std::to_string(size);
    return (account ? "kmalloc-cg-" : "kmalloc-") + number;
}

void zero(sim::Cpu& cpu, Allocation& allocation) {
    for (std::uint64_t offset = 0; offset < allocation.bytes; offset += line_bytes) {
        cpu.stream(allocation.line_at(offset));
    }
    const std::uint64_t lines = (allocation.bytes + line_bytes - 1) / line_bytes;
    cpu.charge(id(Primitive::zero_line), static_cast<std::uint32_t>(lines));
}

} // namespace

std::uint32_t Kmalloc::size_class(std::uint32_t bytes) {
    if (bytes > largest_class) {
        throw std::logic_error("kmalloc cache asked for more than 8192 bytes");
    }
    if (bytes > 64 && bytes <= 96) {
        return 96;
    }
    if (bytes > 128 && bytes <= 192) {
        return 192;
    }
    return std::max(std::bit_ceil(bytes), 8U);
}

KmemCache& Kmalloc::cache(std::uint32_t bytes, bool account) {
    const std::uint32_t size = size_class(bytes);
    return get_or_make(class_name(size, account), size, account);
}

std::string Kmalloc::cache_name(std::uint32_t bytes, bool account) {
    return class_name(size_class(bytes), account);
}

KmemCache& Kmalloc::create(const std::string& name, std::uint32_t bytes, bool account, bool merge,
                           std::optional<unsigned> order) {
    const std::uint32_t slot = aligned_slot(bytes);
    const bool shared = merge && !order;
    return get_or_make(shared ? merged_name(slot, account) : name, slot, account, order);
}

std::uint32_t Kmalloc::aligned_slot(std::uint32_t bytes) {
    std::uint32_t align = line_bytes;
    while (bytes <= align / 2) {
        align /= 2;
    }
    return (bytes + align - 1) / align * align;
}

std::string Kmalloc::merged_name(std::uint32_t slot_bytes, bool account) {
    std::string digits = std::to_string(slot_bytes);
    digits.insert(0, digits.size() < 7 ? 7 - digits.size() : 0, '0');
    return (account ? ":A-" : ":") + digits;
}

KmemCache& Kmalloc::get_or_make(const std::string& name, std::uint32_t bytes, bool account,
                                std::optional<unsigned> order) {
    auto& entry = caches_[name];
    if (!entry) {
        entry = make_slab_cache({name, bytes, account, counters_of(name), order}, environment_);
    }
    return *entry;
}

std::optional<SlabCounters> Kmalloc::counters_of(const std::string& name) const {
    if (name == node_cache_name_) {
        return node_counters;
    }
    return name == request_cache_name_ ? std::optional(request_counters) : std::nullopt;
}

void Kmalloc::flush_cpu(sim::Cpu& cpu, std::uint16_t dead) {
    for (const auto& [name, cache] : caches_) {
        cache->flush_cpu(cpu, dead);
    }
}

Allocation Kmalloc::alloc(sim::Cpu& cpu, std::uint64_t bytes, GfpFlags flags) {
    Allocation allocation;
    allocation.bytes = bytes;
    array_bytes_ += bytes;
    const std::uint64_t pages = (bytes + page_bytes - 1) / page_bytes;
    if (bytes <= largest_class) {
        allocation.object =
            &cache(static_cast<std::uint32_t>(bytes), flags.account).alloc_nofail(cpu);
        allocation.lines = &allocation.object->line();
    } else if (pages <= (std::uint64_t{1} << PageAllocator::max_order)) {
        const auto order = static_cast<unsigned>(std::bit_width(pages - 1));
        allocation.pages = &environment_.pages.alloc(cpu, order);
        allocation.lines = allocation.pages->lines.data();
    } else {
        allocation.vmalloc.resize(pages * PageBlock::lines_per_page);
        allocation.lines = allocation.vmalloc.data();
        cpu.charge(id(Primitive::page_alloc), static_cast<std::uint32_t>(pages));
    }
    if (flags.zero) {
        zero(cpu, allocation);
    }
    return allocation;
}

void Kmalloc::free(sim::Cpu& cpu, Allocation& allocation) {
    if (allocation.object != nullptr) {
        kfree(cpu, *allocation.object);
    } else if (allocation.pages != nullptr) {
        environment_.pages.free(cpu, *allocation.pages);
    } else if (allocation) {
        const std::uint64_t pages = (allocation.bytes + page_bytes - 1) / page_bytes;
        cpu.charge(id(Primitive::page_free), static_cast<std::uint32_t>(pages));
    }
    array_bytes_ -= allocation.bytes;
    allocation = Allocation{};
}

} // namespace uringsim::models
