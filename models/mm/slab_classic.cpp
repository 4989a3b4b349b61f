#include "models/mm/slab_classic.h"

#include "models/primitives.h"

#include <algorithm>

namespace uringsim::models {

namespace {

constexpr std::uint32_t page_bytes = 4096;

SlabCacheSpec with_order(SlabCacheSpec spec) {
    spec.order = spec.order.value_or(SlabClassic::order_for(spec.object_bytes));
    return spec;
}

} // namespace

SlabClassic::Tunables SlabClassic::Tunables::of(std::uint32_t bytes, std::uint32_t cpus) {
    constexpr std::uint32_t shared_factor = 8;
    Tunables result;
    if (bytes > 131072) {
        result.limit = 1;
    } else if (bytes > page_bytes) {
        result.limit = 8;
    } else if (bytes > 1024) {
        result.limit = 24;
    } else {
        result.limit = bytes > 256 ? 54 : 120;
    }
    result.batchcount = (result.limit + 1) / 2;
    result.shared = bytes <= page_bytes && cpus > 1 ? shared_factor * result.batchcount : 0;
    return result;
}

unsigned SlabClassic::order_for(std::uint32_t bytes) {
    constexpr unsigned max_order = 1; // slab_max_order on a machine with more than 32 MiB
    constexpr std::uint32_t wasted_at_most = 8;
    unsigned order = 0;
    while ((page_bytes << order) < bytes) {
        ++order;
    }
    for (; order < max_order; ++order) {
        const std::uint32_t slab = page_bytes << order;
        if (slab % bytes * wasted_at_most <= slab) {
            break;
        }
    }
    return order;
}

SlabClassic::SlabClassic(const SlabCacheSpec& spec, const SlabEnvironment& environment)
    : KmemCache(spec, environment)
    , tunables_(Tunables::of(spec.object_bytes, environment.cpus_seen))
    , geometry_(SlabGeometry::of(spec.object_bytes, environment.cpus_seen, with_order(spec).order))
    , cpus_seen_(environment.cpus_seen)
    , slabs_(*this, spec, environment, geometry_)
    , arrays_(environment.cpus_modelled) {}

SlabClassic::~SlabClassic() {
    partial_.clear();
    free_.clear();
}

Object& SlabClassic::do_alloc(sim::Cpu& cpu) {
    Array& array = arrays_[cpu.id()];
    cpu.charge(id(Primitive::slab_array_pop));
    if (array.empty()) {
        refill(cpu, array);
    }
    Object& object = *array.back();
    array.pop_back();
    cpu.touch(object.line());
    return object;
}

void SlabClassic::do_alloc_bulk(sim::Cpu& cpu, std::span<Object*> out) {
    // A loop with interrupts off: no part of the work is shared between the objects.
    for (Object*& slot : out) {
        slot = &do_alloc(cpu);
    }
}

void SlabClassic::refill(sim::Cpu& cpu, Array& array) {
    cpu.charge(id(Primitive::slab_array_refill));
    slabs_.count(cpu, &SlabCounters::alloc_slow);
    {
        const sim::LockGuard guard(list_lock_, cpu);
        const std::size_t moved = std::min<std::size_t>(shared_.size(), tunables_.batchcount);
        if (moved > 0) {
            const auto from = shared_.end() - static_cast<std::ptrdiff_t>(moved);
            array.insert(array.end(), from, shared_.end());
            shared_.erase(from, shared_.end());
            cpu.charge(id(Primitive::slab_array_move), static_cast<std::uint32_t>(moved));
            return;
        }
        while (array.size() < tunables_.batchcount && take_from_slabs(cpu, array)) {
        }
    }
    if (array.empty()) {
        Slab& slab = slabs_.grow(cpu);
        const sim::LockGuard guard(list_lock_, cpu);
        free_.push_back(slab);
        free_objects_ += slab.free;
        while (array.size() < tunables_.batchcount && take_from_slabs(cpu, array)) {
        }
    }
}

bool SlabClassic::take_from_slabs(sim::Cpu& cpu, Array& array) {
    SlabList& list = partial_.empty() ? free_ : partial_;
    if (list.empty()) {
        return false;
    }
    Slab& slab = list.front();
    list.pop_front();
    slabs_.count(cpu, &SlabCounters::get_partial);
    while (slab.freelist != nullptr && array.size() < tunables_.batchcount) {
        array.push_back(&pop_free(slab));
        --free_objects_;
        cpu.charge(id(Primitive::slab_object_get));
    }
    if (slab.freelist != nullptr) {
        partial_.push_front(slab);
    }
    return true;
}

void SlabClassic::do_free(sim::Cpu& cpu, Object& object) {
    Array& array = arrays_[cpu.id()];
    cpu.charge(id(Primitive::slab_array_push));
    if (array.size() >= tunables_.limit) {
        flush(cpu, array);
    }
    array.push_back(&object);
}

void SlabClassic::flush(sim::Cpu& cpu, Array& array) {
    cpu.charge(id(Primitive::slab_array_flush));
    slabs_.count(cpu, &SlabCounters::free_slow);
    const sim::LockGuard guard(list_lock_, cpu);
    std::size_t count = std::min<std::size_t>(tunables_.batchcount, array.size());
    const std::size_t room =
        tunables_.shared - std::min<std::size_t>(shared_.size(), tunables_.shared);
    if (room > 0) {
        // Any room will do: then only so many leave the array.
        count = std::min(count, room);
        shared_.insert(shared_.end(), array.begin(),
                       array.begin() + static_cast<std::ptrdiff_t>(count));
        cpu.charge(id(Primitive::slab_array_move), static_cast<std::uint32_t>(count));
    } else {
        for (std::size_t i = 0; i < count; ++i) {
            free_block(cpu, *array[i]);
        }
    }
    array.erase(array.begin(), array.begin() + static_cast<std::ptrdiff_t>(count));
}

void SlabClassic::free_block(sim::Cpu& cpu, Object& object) {
    Slab& slab = *object.slab;
    cpu.charge(id(Primitive::slab_object_put));
    cpu.touch(object.line());
    if (slab.free > 0) {
        partial_.erase(partial_.iterator_to(slab));
    }
    push_free(slab, object);
    ++free_objects_;
    if (slab.in_use() > 0) {
        partial_.push_back(slab);
    } else {
        free_.push_front(slab);
    }
    while (free_objects_ > free_limit() && !free_.empty()) {
        Slab& last = free_.back();
        free_.pop_back();
        free_objects_ -= last.free;
        slabs_.discard(cpu, last);
    }
}

std::uint64_t SlabClassic::free_limit() const {
    return (std::uint64_t{1} + cpus_seen_) * tunables_.batchcount + geometry_.objects;
}

void SlabClassic::do_flush_cpu(sim::Cpu& cpu, std::uint16_t dead) {
    const sim::LockGuard guard(list_lock_, cpu);
    for (Object* object : arrays_.at(dead)) {
        free_block(cpu, *object);
    }
    arrays_[dead].clear();
}

void SlabClassic::add_resident(sim::Cpu& cpu, std::uint32_t slabs, std::uint32_t live) {
    const std::uint32_t held = std::min(live, geometry_.objects);
    for (std::uint32_t i = 0; i < slabs; ++i) {
        Slab& slab = slabs_.grow(cpu);
        slabs_.hold_resident(slab, held);
        if (slab.free > 0) {
            free_objects_ += slab.free;
            (held > 0 ? partial_ : free_).push_back(slab);
        }
    }
}

SlabCensus SlabClassic::census() const {
    SlabCensus census = slabs_.census();
    for (const Array& array : arrays_) {
        census.free += array.size();
    }
    census.free += shared_.size();
    return census;
}

std::vector<SlabHolding> SlabClassic::holdings() const {
    std::vector<SlabHolding> list;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        list.push_back({"CPU " + std::to_string(i) + " array", arrays_[i].size()});
    }
    list.push_back({"shared array", shared_.size()});
    list.push_back({"slabs", free_objects_});
    std::erase_if(list, [](const SlabHolding& holding) { return holding.objects == 0; });
    return list;
}

} // namespace uringsim::models
