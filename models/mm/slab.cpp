#include "models/mm/slab.h"

#include "models/mechanisms.h"
#include "models/primitives.h"

#include <algorithm>
#include <bit>

namespace uringsim::models {

namespace {

constexpr std::uint32_t page_bytes = 4096;
constexpr unsigned slab_max_order = 3; // PAGE_ALLOC_COSTLY_ORDER

constexpr std::uint32_t fls(std::uint32_t value) {
    return static_cast<std::uint32_t>(std::bit_width(value));
}

/// The smallest order that holds `min_objects` and wastes at most 1/fraction of the slab.
std::optional<unsigned> order_that_fits(std::uint32_t bytes, std::uint32_t min_objects,
                                        std::uint32_t fraction) {
    const std::uint32_t pages = (min_objects * bytes + page_bytes - 1) / page_bytes;
    const unsigned first = static_cast<unsigned>(std::bit_width(pages - 1));
    for (unsigned order = first; order <= slab_max_order; ++order) {
        const std::uint32_t slab = page_bytes << order;
        if (slab % bytes <= slab / fraction) {
            return order;
        }
    }
    return std::nullopt;
}

unsigned slab_order(std::uint32_t bytes, std::uint32_t cpus) {
    const std::uint32_t largest = (page_bytes << slab_max_order) / bytes;
    const std::uint32_t wanted = std::min(4 * (fls(cpus) + 1), std::max(largest, 1U));
    for (std::uint32_t fraction = 16; fraction > 1; fraction /= 2) {
        if (const auto order = order_that_fits(bytes, wanted, fraction)) {
            return *order;
        }
    }
    return static_cast<unsigned>(std::bit_width((bytes - 1) / page_bytes));
}

std::uint32_t cpu_partial_for(std::uint32_t bytes) {
    if (bytes >= page_bytes) {
        return 6;
    }
    if (bytes >= 1024) {
        return 24;
    }
    return bytes >= 256 ? 52 : 120;
}

} // namespace

SlabGeometry SlabGeometry::of(std::uint32_t bytes, std::uint32_t cpus) {
    return of(bytes, cpus, std::nullopt);
}

SlabGeometry SlabGeometry::of(std::uint32_t bytes, std::uint32_t cpus,
                              std::optional<unsigned> order) {
    constexpr std::uint32_t alignment = 8;
    SlabGeometry geometry;
    geometry.slot_bytes = (bytes + alignment - 1) / alignment * alignment;
    geometry.order = order.value_or(slab_order(geometry.slot_bytes, cpus));
    geometry.objects = (page_bytes << geometry.order) / geometry.slot_bytes;
    geometry.min_partial = std::clamp((fls(geometry.slot_bytes) - 1) / 2, 5U, 10U);
    geometry.cpu_partial_objects = cpu_partial_for(geometry.slot_bytes);
    geometry.cpu_partial_slabs =
        (2 * geometry.cpu_partial_objects + geometry.objects - 1) / geometry.objects;
    return geometry;
}

bool KmemCache::alloc_bulk(sim::Cpu& cpu, std::span<Object*> out) {
    if (failure_strikes(out.size())) {
        return false;
    }
    const sim::MechanismScope scope(cpu, id(Mechanism::slab));
    do_alloc_bulk(cpu, out);
    live_ += out.size();
    live_peak_ = std::max(live_peak_, live_);
    if (init_on_alloc_) {
        for (Object* object : out) {
            clear(cpu, *object);
        }
    }
    if (accounted_) {
        charge_memcg(cpu, static_cast<std::uint32_t>(out.size()));
    }
    return true;
}

void KmemCache::free_bulk(sim::Cpu& cpu, std::span<Object*> objects) {
    const sim::MechanismScope scope(cpu, id(Mechanism::slab));
    if (accounted_) {
        uncharge_memcg(cpu, static_cast<std::uint32_t>(objects.size()));
    }
    do_free_bulk(cpu, objects);
    live_ -= objects.size();
}

void KmemCache::do_free_bulk(sim::Cpu& cpu, std::span<Object*> objects) {
    for (Object* object : objects) {
        do_free(cpu, *object);
    }
}

void KmemCache::flush_cpu(sim::Cpu& cpu, std::uint16_t dead) {
    const sim::MechanismScope scope(cpu, id(Mechanism::slab));
    do_flush_cpu(cpu, dead);
}

void KmemCache::clear(sim::Cpu& cpu, Object& object) const {
    constexpr std::uint32_t line_bytes = 64;
    const std::uint32_t lines = std::max(object_bytes_ / line_bytes, 1U);
    // From the last line to the first: stamps in the other order are those of a new slab, by which
    // RequestPool knows memory that nobody has written.
    for (std::uint32_t i = lines; i-- > 0;) {
        cpu.stream((&object.line())[i]);
    }
    cpu.charge(id(Primitive::zero_line), lines);
}

void KmemCache::inject_failure(std::uint64_t after, std::uint64_t times) {
    fail_after_ = after;
    fail_times_ = times;
}

bool KmemCache::failure_strikes(std::uint64_t objects) {
    if (fail_times_ == 0) {
        return false;
    }
    if (fail_after_ >= objects) {
        fail_after_ -= objects;
        return false;
    }
    --fail_times_;
    return true;
}

void KmemCache::charge_memcg(sim::Cpu& cpu, std::uint32_t objects) const {
    const sim::MechanismScope memcg(cpu, id(Mechanism::memcg));
    cpu.charge(id(Primitive::memcg_charge), objects);
    cpu.count(id(Counter::memcg_charges), objects);
}

void KmemCache::uncharge_memcg(sim::Cpu& cpu, std::uint32_t objects) const {
    const sim::MechanismScope memcg(cpu, id(Mechanism::memcg));
    cpu.charge(id(Primitive::memcg_uncharge), objects);
}

} // namespace uringsim::models
