#include "models/mm/slub.h"

#include "models/mechanisms.h"
#include "models/primitives.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace uringsim::models {

namespace {

/// build_detached_freelist: objects of other slabs that end the search for more of the same.
constexpr std::size_t look_ahead = 3;

/// calculate_sizes up to 5.15: cpu_partial, in objects.
std::uint32_t partial_objects_for(std::uint32_t bytes) {
    if (bytes >= 4096) {
        return 2;
    }
    if (bytes >= 1024) {
        return 6;
    }
    return bytes >= 256 ? 13 : 30;
}

/// What one object of a bulk takes of the reorder buffer, in the loop that allocates and the one
/// that frees together. An assumption; the figures of 2015 rise after 4 to 8 objects, as it says.
constexpr std::uint32_t instructions_per_bulk_object = 32;

/// Objects at a stride of several lines use only some of L1's sets.
std::uint32_t room_in_l1(std::uint32_t slot_bytes, std::uint32_t sets) {
    constexpr std::uint32_t line_bytes = 64;
    return sets == 0 || slot_bytes < line_bytes ? 1 : std::gcd(slot_bytes / line_bytes, sets);
}

} // namespace

Slub::Slub(const SlabCacheSpec& spec, const SlabEnvironment& environment)
    : KmemCache(spec, environment)
    , geometry_(SlabGeometry::of(spec.object_bytes, environment.cpus_seen, spec.order))
    , slabs_(*this, spec, environment, geometry_)
    , checked_(environment.design.slab_debug)
    , hardened_(environment.design.slab_freelist_hardened)
    , free_each_(environment.design.slab_bulk_free == SlabBulkFree::each)
    , rest_singly_(environment.design.slab_bulk_alloc == SlabBulkAlloc::rest_singly)
    , line_weight_(room_in_l1(geometry_.slot_bytes, environment.l1_sets))
    , overlapped_(environment.reorder_entries / instructions_per_bulk_object)
    , partial_objects_(environment.design.slab_cpu_partial == SlabCpuPartial::objects
                           ? partial_objects_for(geometry_.slot_bytes)
                           : 0)
    , cpus_(environment.cpus_modelled) {}

Slub::~Slub() {
    // The lists only link slabs that slabs_ owns.
    node_partial_.clear();
    for (CpuSlab& local : cpus_) {
        local.partial.clear();
    }
}

void Slub::pointer(sim::Cpu& cpu) const {
    if (hardened_) {
        cpu.charge(id(Primitive::slub_freelist_pointer));
    }
}

Object& Slub::do_alloc(sim::Cpu& cpu) {
    if (checked_) {
        return alloc_checked(cpu);
    }
    CpuSlab& local = cpus_[cpu.id()];
    cpu.charge(id(Primitive::slub_alloc_fast));
    if (local.freelist == nullptr) {
        refill(cpu, local);
    }
    return pop(cpu, local);
}

void Slub::do_alloc_bulk(sim::Cpu& cpu, std::span<Object*> out) {
    CpuSlab& local = cpus_[cpu.id()];
    cpu.charge(id(Primitive::slub_bulk_call));
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (checked_) {
            out[i] = &alloc_checked(cpu);
            continue;
        }
        if (local.freelist == nullptr) {
            if (rest_singly_) {
                std::ranges::generate(out.subspan(i), [&] { return &do_alloc(cpu); });
                return;
            }
            refill(cpu, local);
        }
        charge_bulk_object(cpu, i);
        out[i] = &pop(cpu, local);
    }
}

void Slub::charge_bulk_object(sim::Cpu& cpu, std::size_t index) const {
    cpu.charge(id(Primitive::slub_bulk_object));
    if (overlapped_ != 0 && index >= overlapped_) {
        cpu.charge(id(Primitive::slub_bulk_latency));
    }
}

Object& Slub::pop(sim::Cpu& cpu, CpuSlab& local) {
    Object& object = *local.freelist;
    cpu.touch(object.line(), line_weight_); // the pointer to the next free object is inside
    pointer(cpu);
    local.freelist = object.next_free;
    if (local.freelist != nullptr) {
        __builtin_prefetch(&local.freelist->line()); // the host's caches will want it next
    }
    return object;
}

void Slub::refill(sim::Cpu& cpu, CpuSlab& local) {
    cpu.charge(id(Primitive::slub_alloc_slow));
    count(cpu, &SlabCounters::alloc_slow);
    if (refill_from_current(cpu, local) || refill_from_cpu_partial(cpu, local) ||
        refill_from_node(cpu, local)) {
        return;
    }
    refill_from_new_slab(cpu, local);
}

bool Slub::refill_from_current(sim::Cpu& cpu, CpuSlab& local) {
    if (local.slab == nullptr) {
        return false;
    }
    local.slab->freelist_changed.change(cpu);
    if (local.slab->freelist != nullptr) {
        // Objects that other CPUs freed into this CPU's slab.
        make_current(cpu, local, *local.slab);
        return true;
    }
    local.slab->on_cpu = false; // full, and on no list until something is freed into it
    local.slab = nullptr;
    return false;
}

bool Slub::refill_from_cpu_partial(sim::Cpu& cpu, CpuSlab& local) {
    if (local.partial.empty()) {
        return false;
    }
    Slab& slab = local.partial.front();
    local.partial.pop_front();
    make_current(cpu, local, slab);
    return true;
}

bool Slub::refill_from_node(sim::Cpu& cpu, CpuSlab& local) {
    if (node_partial_.empty()) {
        return false;
    }
    const sim::LockGuard guard(list_lock_, cpu);
    std::uint32_t taken = 0;
    std::uint32_t objects = 0;
    do {
        Slab& slab = node_partial_.front();
        node_partial_.pop_front();
        slab.on_node = false;
        objects += slab.free;
        cpu.charge(id(Primitive::slub_get_partial));
        count(cpu, &SlabCounters::get_partial);
        if (taken == 0) {
            make_current(cpu, local, slab);
        } else {
            put_cpu_partial(cpu, slab, false);
        }
        ++taken;
    } while (!node_partial_.empty() && !taken_enough(taken, objects));
    return true;
}

void Slub::refill_from_new_slab(sim::Cpu& cpu, CpuSlab& local) {
    make_current(cpu, local, slabs_.grow(cpu));
}

void Slub::make_current(sim::Cpu& cpu, CpuSlab& local, Slab& slab) {
    slab.freelist_changed.change(cpu); // other CPUs free into it without list_lock
    slab.on_cpu = true;
    local.slab = &slab;
    local.freelist = slab.freelist;
    slab.freelist = nullptr;
    slab.free = 0; // as the kernel counts: all of a claimed freelist is in use
}

void Slub::do_free(sim::Cpu& cpu, Object& object) {
    CpuSlab& local = cpus_[cpu.id()];
    Slab& slab = *object.slab;
    cpu.touch(object.line(), line_weight_);
    if (checked_) {
        free_checked(cpu, object);
        return;
    }
    pointer(cpu);
    if (&slab == local.slab) {
        cpu.charge(id(Primitive::slub_free_fast));
        object.next_free = local.freelist;
        local.freelist = &object;
        return;
    }
    free_slow(cpu, slab, object);
}

void Slub::do_free_bulk(sim::Cpu& cpu, std::span<Object*> objects) {
    cpu.charge(id(Primitive::slub_bulk_free_call));
    if (checked_ || free_each_) {
        for (Object* object : objects) {
            if (!checked_ && object->slab == cpus_[cpu.id()].slab) {
                cpu.charge(id(Primitive::slub_bulk_free_object));
                cpu.touch(object->line(), line_weight_);
                pointer(cpu);
                object->next_free = cpus_[cpu.id()].freelist;
                cpus_[cpu.id()].freelist = object;
            } else {
                do_free(cpu, *object);
            }
        }
        return;
    }
    // From the array's end: the objects of the last one's slab make one list. Objects of other
    // slabs are left in the array, at its end; the third of them ends the search.
    std::size_t size = objects.size();
    while (size > 0) {
        Slab& slab = *objects[--size]->slab;
        gathered_.assign(1, objects[size]);
        std::size_t others = 0;
        std::size_t end = size;
        for (std::size_t i = size; i-- > 0 && others < look_ahead;) {
            if (objects[i]->slab == &slab) {
                gathered_.push_back(objects[i]);
                --end;
                std::swap(objects[i], objects[end]);
            } else {
                ++others;
            }
        }
        size = end;
        free_list(cpu, slab, gathered_);
    }
}

void Slub::free_list(sim::Cpu& cpu, Slab& slab, std::span<Object* const> objects) {
    CpuSlab& local = cpus_[cpu.id()];
    cpu.charge(id(Primitive::slub_bulk_free_object), static_cast<std::uint32_t>(objects.size()));
    for (Object* object : objects) {
        cpu.touch(object->line(), line_weight_);
        pointer(cpu);
    }
    if (&slab == local.slab) {
        cpu.charge(id(Primitive::slub_free_fast));
        for (Object* object : objects) {
            object->next_free = local.freelist;
            local.freelist = object;
        }
        return;
    }
    // The first one decides what happens to the slab; the others only join it, but for the case
    // that the last one leaves it empty, which is judged with all of them in place.
    const bool was_full = slab.freelist == nullptr;
    for (Object* object : objects.first(objects.size() - 1)) {
        push_free(slab, *object);
    }
    free_slow(cpu, slab, *objects.back(), was_full);
}

Object& Slub::alloc_checked(sim::Cpu& cpu) {
    cpu.charge(id(Primitive::slub_alloc_slow));
    count(cpu, &SlabCounters::alloc_slow);
    if (node_partial_.empty()) {
        add_to_node(slabs_.grow(cpu));
    }
    const sim::LockGuard guard(list_lock_, cpu);
    Slab& slab = node_partial_.front();
    Object& object = pop_free(slab);
    cpu.touch(object.line());
    cpu.charge(id(Primitive::slub_debug_check));
    pointer(cpu);
    if (slab.freelist == nullptr) {
        node_partial_.pop_front();
        slab.on_node = false;
    }
    return object;
}

void Slub::free_checked(sim::Cpu& cpu, Object& object) {
    Slab& slab = *object.slab;
    cpu.charge(id(Primitive::slub_free_slow));
    count(cpu, &SlabCounters::free_slow);
    cpu.charge(id(Primitive::slub_debug_check));
    pointer(cpu);
    const sim::LockGuard guard(list_lock_, cpu);
    push_free(slab, object);
    if (!slab.on_node) {
        add_to_node(slab);
    }
    if (slab.in_use() == 0 && node_partial_.size() >= geometry_.min_partial) {
        node_partial_.erase(node_partial_.iterator_to(slab));
        slab.on_node = false;
        slabs_.discard(cpu, slab);
    }
}

void Slub::do_flush_cpu(sim::Cpu& cpu, std::uint16_t dead) {
    CpuSlab& local = cpus_.at(dead);
    if (local.slab != nullptr) {
        // deactivate_slab: the CPU's freelist goes back to its slab.
        Slab& slab = *std::exchange(local.slab, nullptr);
        slab.on_cpu = false;
        while (local.freelist != nullptr) {
            Object& object = *local.freelist;
            local.freelist = object.next_free;
            push_free(slab, object);
        }
        if (slab.free > 0) {
            SlabList one;
            one.push_back(slab);
            put_partials(cpu, one);
        }
    }
    put_partials(cpu, local.partial);
}

inline void Slub::free_slow(sim::Cpu& cpu, Slab& slab, Object& object) {
    free_slow(cpu, slab, object, slab.freelist == nullptr);
}

void Slub::free_slow(sim::Cpu& cpu, Slab& slab, Object& object, bool was_full) {
    cpu.charge(id(Primitive::slub_free_slow));
    count(cpu, &SlabCounters::free_slow);
    slab.freelist_changed.change(cpu);
    push_free(slab, object);
    if (slab.on_cpu) {
        return; // another CPU's current slab: its owner will find the object
    }
    if (was_full) {
        put_cpu_partial(cpu, slab, true);
        return;
    }
    const bool emptied = slab.in_use() == 0;
    if (emptied && slab.on_node) {
        const sim::LockGuard guard(list_lock_, cpu);
        if (node_partial_.size() >= geometry_.min_partial) {
            node_partial_.erase(node_partial_.iterator_to(slab));
            slab.on_node = false;
            slabs_.discard(cpu, slab);
        }
    }
}

void Slub::put_cpu_partial(sim::Cpu& cpu, Slab& slab, bool drain) {
    CpuSlab& local = cpus_[cpu.id()];
    SlabList to_node;
    if (drain && cpu_partial_full(local)) {
        to_node.swap(local.partial);
    }
    slab.listed_objects =
        slab.free + (local.partial.empty() ? 0 : local.partial.front().listed_objects);
    local.partial.push_front(slab);
    if (drain) {
        count(cpu, &SlabCounters::put_cpu_partial);
    }
    put_partials(cpu, to_node);
}

bool Slub::cpu_partial_full(const CpuSlab& local) const {
    if (partial_objects_ == 0) {
        return local.partial.size() >= geometry_.cpu_partial_slabs;
    }
    return !local.partial.empty() && local.partial.front().listed_objects > partial_objects_;
}

bool Slub::taken_enough(std::uint32_t slabs, std::uint32_t objects) const {
    // One slab to allocate from, then more for the CPU's own list while those are at most half of
    // what that list may hold.
    return partial_objects_ == 0 ? slabs > geometry_.cpu_partial_slabs / 2 + 1
                                 : objects > partial_objects_ / 2;
}

void Slub::put_partials(sim::Cpu& cpu, SlabList& slabs) {
    if (slabs.empty()) {
        return;
    }
    const sim::LockGuard guard(list_lock_, cpu);
    while (!slabs.empty()) {
        Slab& slab = slabs.front();
        slabs.pop_front();
        cpu.charge(id(Primitive::slub_put_partials));
        if (slab.in_use() == 0 && node_partial_.size() >= geometry_.min_partial) {
            slabs_.discard(cpu, slab);
        } else {
            add_to_node(slab);
        }
    }
}

void Slub::add_to_node(Slab& slab) {
    slab.on_node = true;
    node_partial_.push_back(slab);
}

void Slub::add_resident(sim::Cpu& cpu, std::uint32_t slabs, std::uint32_t live) {
    const std::uint32_t held = std::min(live, geometry_.objects);
    for (std::uint32_t i = 0; i < slabs; ++i) {
        Slab& slab = slabs_.grow(cpu);
        slabs_.hold_resident(slab, held);
        if (slab.free > 0) {
            add_to_node(slab);
        }
    }
}

SlabCensus Slub::census() const {
    SlabCensus census = slabs_.census();
    for (const CpuSlab& local : cpus_) {
        census.free += freelist_length(local.freelist);
    }
    return census;
}

std::vector<SlabHolding> Slub::holdings() const {
    const auto free_in = [](const SlabList& slabs) {
        std::uint64_t sum = 0;
        for (const Slab& slab : slabs) {
            sum += slab.free;
        }
        return sum;
    };
    std::vector<SlabHolding> list;
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
        const CpuSlab& local = cpus_[i];
        const std::string cpu = "CPU " + std::to_string(i);
        list.push_back({cpu + " freelist", freelist_length(local.freelist)});
        // What other CPUs freed into the current slab is on the slab's own freelist.
        list.push_back({cpu + " partial slabs",
                        free_in(local.partial) + (local.slab != nullptr ? local.slab->free : 0)});
    }
    list.push_back({"partial slabs", free_in(node_partial_)});
    std::erase_if(list, [](const SlabHolding& holding) { return holding.objects == 0; });
    return list;
}

} // namespace uringsim::models
