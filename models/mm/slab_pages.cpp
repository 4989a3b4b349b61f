#include "models/mm/slab_pages.h"

#include "models/mechanisms.h"
#include "models/primitives.h"

#include <numeric>

namespace uringsim::models {

namespace {

/// Fisher and Yates.
std::vector<std::uint32_t> random_permutation(sim::RandomStream& random, std::uint32_t size) {
    std::vector<std::uint32_t> order(size);
    std::iota(order.begin(), order.end(), 0U);
    for (std::uint32_t i = size - 1; i > 0; --i) {
        std::swap(order[i], order[random.below(i + 1)]);
    }
    return order;
}

} // namespace

void push_free(Slab& slab, Object& object) {
    object.next_free = slab.freelist;
    slab.freelist = &object;
    ++slab.free;
}

Object& pop_free(Slab& slab) {
    Object& object = *slab.freelist;
    slab.freelist = object.next_free;
    --slab.free;
    return object;
}

std::uint64_t freelist_length(const Object* freelist) {
    std::uint64_t objects = 0;
    for (; freelist != nullptr; freelist = freelist->next_free) {
        ++objects;
    }
    return objects;
}

SlabPages::SlabPages(KmemCache& cache, const SlabCacheSpec& spec,
                     const SlabEnvironment& environment, const SlabGeometry& geometry)
    : cache_(cache)
    , pages_(environment.pages)
    , design_(environment.design)
    , geometry_(geometry)
    , counters_(spec.counters)
    , random_(environment.seed, "freelist of " + spec.name) {
    if (design_.slab_freelist_random && geometry_.objects > 1) {
        permutation_ = random_permutation(random_, geometry_.objects);
    }
}

void SlabPages::count(sim::Cpu& cpu, Counter SlabCounters::*counter) const {
    if (counters_) {
        cpu.count(id((*counters_).*counter));
    }
}

Slab& SlabPages::grow(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::slab_growth));
    if (spare_.empty()) {
        slabs_.push_back(std::make_unique<Slab>());
        spare_.push_back(slabs_.back().get());
    }
    Slab& slab = *spare_.back();
    spare_.pop_back();
    slab.cache = &cache_;
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
    if (design_.slab_init_on_alloc) {
        cpu.charge(id(Primitive::zero_line), static_cast<std::uint32_t>(slab.pages->lines.size()));
    }
    ++slab_count_;
    count(cpu, &SlabCounters::new_slabs);
    return slab;
}

void SlabPages::link_freelist(sim::Cpu& cpu, Slab& slab) {
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
    if (design_.slab_freelist_hardened) {
        cpu.charge(id(Primitive::slub_freelist_pointer), geometry_.objects);
    }
}

void SlabPages::discard(sim::Cpu& cpu, Slab& slab) {
    const sim::MechanismScope scope(cpu, id(Mechanism::slab_growth));
    cpu.charge(id(Primitive::slub_free_slab));
    pages_.free(cpu, *slab.pages);
    slab.pages = nullptr;
    spare_.push_back(&slab);
    --slab_count_;
    count(cpu, &SlabCounters::freed_slabs);
}

void SlabPages::hold_resident(Slab& slab, std::uint32_t live) {
    for (std::uint32_t taken = 0; taken < live; ++taken) {
        slab.freelist = slab.freelist->next_free;
        --slab.free;
    }
    resident_ += live;
}

SlabCensus SlabPages::census() const {
    SlabCensus census;
    census.slabs = slab_count_;
    census.objects = slab_count_ * geometry_.objects;
    census.bytes = slab_count_ * (std::uint64_t{4096} << geometry_.order);
    census.resident = resident_;
    for (const auto& slab : slabs_) {
        if (slab->pages != nullptr) {
            census.free += freelist_length(slab->freelist);
        }
    }
    return census;
}

} // namespace uringsim::models
