#include "models/mm/slub.h"

#include "models/mechanisms.h"
#include "models/primitives.h"

#include <algorithm>
#include <numeric>

namespace uringsim::models {

namespace {

void push_free(Slab& slab, Object& object) {
    object.next_free = slab.freelist;
    slab.freelist = &object;
    ++slab.free;
}

/// Fisher and Yates.
std::vector<std::uint32_t> random_permutation(sim::RandomStream& random, std::uint32_t size) {
    std::vector<std::uint32_t> order(size);
    std::iota(order.begin(), order.end(), 0U);
    for (std::uint32_t i = size - 1; i > 0; --i) {
        std::swap(order[i], order[random.below(i + 1)]);
    }
    return order;
}

std::uint64_t length(const Object* freelist) {
    std::uint64_t objects = 0;
    for (; freelist != nullptr; freelist = freelist->next_free) {
        ++objects;
    }
    return objects;
}

} // namespace

Slub::Slub(const std::string& name, std::uint32_t object_bytes, bool accounted,
           const Environment& environment, std::optional<SlabCounters> counters)
    : KmemCache(name, object_bytes, accounted)
    , geometry_(SlabGeometry::of(object_bytes, environment.cpus_seen))
    , pages_(environment.pages)
    , counters_(counters)
    , random_(environment.seed, "freelist of " + name)
    , cpus_(environment.cpus_modelled) {
    if (environment.freelist_random && geometry_.objects > 1) {
        permutation_ = random_permutation(random_, geometry_.objects);
    }
}

Slub::~Slub() {
    // The lists only link slabs that slabs_ owns.
    node_partial_.clear();
    for (CpuSlab& local : cpus_) {
        local.partial.clear();
    }
}

void Slub::count(sim::Cpu& cpu, Counter SlabCounters::*counter) const {
    if (counters_) {
        cpu.count(id((*counters_).*counter));
    }
}

Object& Slub::do_alloc(sim::Cpu& cpu) {
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
    for (Object*& slot : out) {
        if (local.freelist == nullptr) {
            refill(cpu, local);
        }
        cpu.charge(id(Primitive::slub_bulk_object));
        slot = &pop(cpu, local);
    }
}

Object& Slub::pop(sim::Cpu& cpu, CpuSlab& local) {
    Object& object = *local.freelist;
    cpu.touch(object.line()); // the pointer to the next free object is inside
    local.freelist = object.next_free;
    return object;
}

void Slub::refill(sim::Cpu& cpu, CpuSlab& local) {
    cpu.charge(id(Primitive::slub_alloc_slow));
    count(cpu, &SlabCounters::alloc_slow);
    if (refill_from_current(local) || refill_from_cpu_partial(local) ||
        refill_from_node(cpu, local)) {
        return;
    }
    refill_from_new_slab(cpu, local);
}

bool Slub::refill_from_current(CpuSlab& local) {
    if (local.slab == nullptr) {
        return false;
    }
    if (local.slab->freelist != nullptr) {
        // Objects that other CPUs freed into this CPU's slab.
        make_current(local, *local.slab);
        return true;
    }
    local.slab->on_cpu = false; // full, and on no list until something is freed into it
    local.slab = nullptr;
    return false;
}

bool Slub::refill_from_cpu_partial(CpuSlab& local) {
    if (local.partial.empty()) {
        return false;
    }
    Slab& slab = local.partial.front();
    local.partial.pop_front();
    make_current(local, slab);
    return true;
}

bool Slub::refill_from_node(sim::Cpu& cpu, CpuSlab& local) {
    if (node_partial_.empty()) {
        return false;
    }
    const sim::LockGuard guard(list_lock_, cpu);
    // One slab to allocate from, then more for the CPU's own list while those are at most half of
    // what that list may hold.
    const std::uint32_t more = geometry_.cpu_partial_slabs / 2 + 1;
    for (std::uint32_t taken = 0; taken <= more && !node_partial_.empty(); ++taken) {
        Slab& slab = node_partial_.front();
        node_partial_.pop_front();
        slab.on_node = false;
        cpu.charge(id(Primitive::slub_get_partial));
        count(cpu, &SlabCounters::get_partial);
        if (taken == 0) {
            make_current(local, slab);
        } else {
            put_cpu_partial(cpu, slab, false);
        }
    }
    return true;
}

void Slub::refill_from_new_slab(sim::Cpu& cpu, CpuSlab& local) {
    Slab& slab = new_slab(cpu);
    make_current(local, slab);
}

void Slub::make_current(CpuSlab& local, Slab& slab) {
    slab.on_cpu = true;
    local.slab = &slab;
    local.freelist = slab.freelist;
    slab.freelist = nullptr;
    slab.free = 0; // as the kernel counts: all of a claimed freelist is in use
}

void Slub::do_free(sim::Cpu& cpu, Object& object) {
    CpuSlab& local = cpus_[cpu.id()];
    Slab& slab = *object.slab;
    cpu.touch(object.line());
    if (&slab == local.slab) {
        cpu.charge(id(Primitive::slub_free_fast));
        object.next_free = local.freelist;
        local.freelist = &object;
        return;
    }
    free_slow(cpu, slab, object);
}

void Slub::free_slow(sim::Cpu& cpu, Slab& slab, Object& object) {
    cpu.charge(id(Primitive::slub_free_slow));
    count(cpu, &SlabCounters::free_slow);
    const bool was_full = slab.freelist == nullptr;
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
            discard(cpu, slab);
        }
    }
}

void Slub::put_cpu_partial(sim::Cpu& cpu, Slab& slab, bool drain) {
    CpuSlab& local = cpus_[cpu.id()];
    SlabList to_node;
    if (drain && local.partial.size() >= geometry_.cpu_partial_slabs) {
        to_node.swap(local.partial);
    }
    local.partial.push_front(slab);
    if (drain) {
        count(cpu, &SlabCounters::put_cpu_partial);
    }
    put_partials(cpu, to_node);
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
            discard(cpu, slab);
        } else {
            add_to_node(slab);
        }
    }
}

void Slub::add_to_node(Slab& slab) {
    slab.on_node = true;
    node_partial_.push_back(slab);
}

Slab& Slub::new_slab(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::slab_growth));
    if (spare_.empty()) {
        slabs_.push_back(std::make_unique<Slab>());
        spare_.push_back(slabs_.back().get());
    }
    Slab& slab = *spare_.back();
    spare_.pop_back();
    slab.cache = this;
    slab.pages = &pages_.alloc(cpu, geometry_.order);
    slab.objects.resize(geometry_.objects);
    slab.slot_bytes = geometry_.slot_bytes;
    slab.freelist = nullptr;
    slab.free = 0;
    link_freelist(cpu, slab);
    cpu.charge(id(Primitive::slub_new_slab));
    for (sim::Line& line : slab.pages->lines) {
        cpu.stream(line); // the chain of free pointers runs through all of them
    }
    ++slab_count_;
    count(cpu, &SlabCounters::new_slabs);
    return slab;
}

void Slub::link_freelist(sim::Cpu& cpu, Slab& slab) {
    // One permutation a cache, entered at a random place a slab (shuffle_freelist).
    const std::size_t start = permutation_.empty() ? 0 : random_.below(geometry_.objects);
    // Built from the last object to the first, so the freelist starts with the first.
    for (std::size_t i = geometry_.objects; i-- > 0;) {
        const std::size_t index =
            permutation_.empty() ? i : permutation_[(start + i) % geometry_.objects];
        Object& object = slab.objects[index];
        object.slab = &slab;
        push_free(slab, object);
    }
    if (!permutation_.empty()) {
        cpu.charge(id(Primitive::slub_shuffle_object), geometry_.objects);
    }
}

void Slub::discard(sim::Cpu& cpu, Slab& slab) {
    const sim::MechanismScope scope(cpu, id(Mechanism::slab_growth));
    cpu.charge(id(Primitive::slub_free_slab));
    pages_.free(cpu, *slab.pages);
    slab.pages = nullptr;
    spare_.push_back(&slab);
    --slab_count_;
    count(cpu, &SlabCounters::freed_slabs);
}

void Slub::add_resident(sim::Cpu& cpu, std::uint32_t slabs, std::uint32_t live) {
    const std::uint32_t held = std::min(live, geometry_.objects);
    for (std::uint32_t i = 0; i < slabs; ++i) {
        Slab& slab = new_slab(cpu);
        for (std::uint32_t taken = 0; taken < held; ++taken) {
            slab.freelist = slab.freelist->next_free;
            --slab.free;
        }
        resident_ += held;
        if (slab.free > 0) {
            add_to_node(slab);
        }
    }
}

SlabCensus Slub::census() const {
    SlabCensus census;
    census.slabs = slab_count_;
    census.objects = slab_count_ * geometry_.objects;
    census.bytes = slab_count_ * (std::uint64_t{4096} << geometry_.order);
    census.resident = resident_;
    for (const auto& slab : slabs_) {
        if (slab->pages != nullptr) {
            census.free += length(slab->freelist);
        }
    }
    for (const CpuSlab& local : cpus_) {
        census.free += length(local.freelist);
    }
    return census;
}

} // namespace uringsim::models
