#pragma once

#include "models/counters.h"
#include "models/design.h"
#include "models/mechanisms.h"
#include "models/mm/page_allocator.h"
#include "models/primitives.h"
#include "sim/cpu.h"
#include "sim/sync.h"

#include <boost/intrusive/list.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace uringsim::models {

class KmemCache;
struct Slab;

/// One object of a slab: the simulated memory of a kernel structure. Models keep up to 24 bytes of
/// their own in it; while it is free the link to the next free object lies there, as in the kernel.
/// There are many and they are visited late, so each is kept within one cache line of the host.
struct alignas(32) Object {
    static constexpr std::size_t payload_bytes = 24;

    Slab* slab = nullptr;
    union {
        alignas(8) std::byte payload[payload_bytes]{};
        Object* next_free; ///< of a free object
    };

    /// The object's first cache line.
    inline sim::Line& line() const;

    template <class T> T& emplace() {
        static_assert(sizeof(T) <= payload_bytes && std::is_trivially_destructible_v<T>);
        return *new (payload) T{};
    }
    template <class T> T& as() { return *std::launder(reinterpret_cast<T*>(payload)); }
};

/// A slab: 2^order pages cut into objects.
struct Slab {
    using Hook = boost::intrusive::list_member_hook<>;

    Hook hook;
    KmemCache* cache = nullptr;
    PageBlock* pages = nullptr;
    std::vector<Object> objects;
    sim::Line* lines = nullptr; ///< of its pages
    sim::ChangeTime freelist_changed;
    Object* freelist = nullptr; ///< free objects that no CPU has claimed
    std::uint32_t free = 0;     ///< how many those are
    std::uint32_t slot_bytes = 0; ///< distance between objects
    std::uint32_t listed_objects =
        0;                      ///< free objects of it and those below on a CPU's partial list
    bool on_cpu = false;        ///< it is some CPU's current slab
    bool on_node = false;       ///< it is on the node's partial list

    std::uint32_t in_use() const { return static_cast<std::uint32_t>(objects.size()) - free; }

    /// The cache line in which an object of this slab begins.
    sim::Line& line_of(const Object& object) const {
        constexpr std::size_t line_bytes = 64;
        const auto index = static_cast<std::size_t>(&object - objects.data());
        return lines[index * slot_bytes / line_bytes];
    }
};

inline sim::Line& Object::line() const {
    return slab->line_of(*this);
}

using SlabList =
    boost::intrusive::list<Slab, boost::intrusive::member_hook<Slab, Slab::Hook, &Slab::hook>>;

/// Sizes of a slab cache by the kernel's formulas.
struct SlabGeometry {
    std::uint32_t slot_bytes = 0; ///< distance between objects
    unsigned order = 0;
    std::uint32_t objects = 0; ///< a slab
    std::uint32_t min_partial = 0;
    std::uint32_t cpu_partial_objects = 0;
    std::uint32_t cpu_partial_slabs = 0;

    /// For objects of `bytes` on a machine with `cpus` CPUs and pages of 4 KiB.
    /// Source: calculate_order, calculate_sizes, set_cpu_partial, mm/slub.c (6.12).
    static SlabGeometry of(std::uint32_t bytes, std::uint32_t cpus);

    /// The same with slabs of a given order.
    static SlabGeometry of(std::uint32_t bytes, std::uint32_t cpus, std::optional<unsigned> order);
};

/// Which counters the events of a slab cache go to; nothing is counted for caches without.
struct SlabCounters {
    Counter new_slabs;
    Counter freed_slabs;
    Counter alloc_slow;
    Counter get_partial;
    Counter free_slow;
    Counter put_cpu_partial;
};

/// What a walk over all lists of a cache finds, for conservation.
struct SlabCensus {
    std::uint64_t slabs = 0;
    std::uint64_t objects = 0; ///< in all slabs
    std::uint64_t free = 0;    ///< on any freelist
    std::uint64_t resident = 0; ///< held by nobody in this run
    std::uint64_t bytes = 0;    ///< of pages
};

/// Free objects, and where a slab allocator keeps them: "CPU 3 freelist", "shared array".
struct SlabHolding {
    std::string where;
    std::uint64_t objects = 0;
};

/// What every cache of a kernel is built with.
struct SlabEnvironment {
    std::uint32_t cpus_seen;     ///< CPUs that decide orders
    std::uint16_t cpus_modelled; ///< CPUs that may allocate
    PageAllocator& pages;
    std::uint64_t seed;
    const Design& design; ///< knobs slab.*
    std::uint32_t l1_sets = 0;         ///< as in sim::MemoryGeometry
    std::uint32_t reorder_entries = 0; ///< as in Machine
};

/// What a cache is made from.
struct SlabCacheSpec {
    std::string name;
    std::uint32_t object_bytes;
    bool accounted = false;
    std::optional<SlabCounters> counters{};
    std::optional<unsigned> order{}; ///< nothing: by the kernel's formula
};

/// A cache of equal objects: the seam at which slab allocators are exchanged.
class KmemCache {
  public:
    KmemCache(const SlabCacheSpec& spec, const SlabEnvironment& environment)
        : name_(spec.name)
        , object_bytes_(spec.object_bytes)
        , accounted_(spec.accounted)
        , init_on_alloc_(environment.design.slab_init_on_alloc) {}
    KmemCache(const KmemCache&) = delete;
    KmemCache& operator=(const KmemCache&) = delete;
    virtual ~KmemCache() = default;

    const std::string& name() const { return name_; }
    std::uint32_t object_bytes() const { return object_bytes_; }
    bool accounted() const { return accounted_; }

    /// One object, or nullptr where an injected failure strikes.
    Object* alloc(sim::Cpu& cpu);

    /// One object always: injected failures pass it by. For memory whose failure is not modelled.
    Object& alloc_nofail(sim::Cpu& cpu);

    /// Fills `out`, or leaves it untouched and returns false: all or nothing.
    bool alloc_bulk(sim::Cpu& cpu, std::span<Object*> out);

    void free(sim::Cpu& cpu, Object& object);

    /// kmem_cache_free_bulk. May reorder `objects`, as the kernel does.
    void free_bulk(sim::Cpu& cpu, std::span<Object*> objects);

    /// CPU `dead` has gone offline: what is kept for it goes back to the slabs, on `cpu`.
    void flush_cpu(sim::Cpu& cpu, std::uint16_t dead);

    /// The allocations after the next `after` ones fail, `times` times.
    void inject_failure(std::uint64_t after, std::uint64_t times);

    /// Objects handed out and not given back, as this run asked for them.
    std::uint64_t live() const { return live_; }

    /// The most that were out at once.
    std::uint64_t live_peak() const { return live_peak_; }

    virtual const SlabGeometry& geometry() const = 0;
    virtual SlabCensus census() const = 0;

    /// Every free object by the place where it is kept; the sum is census().free.
    virtual std::vector<SlabHolding> holdings() const = 0;

    /// Adds slabs to the node's partial list, each with `live` objects held by nobody in this run.
    virtual void add_resident(sim::Cpu& cpu, std::uint32_t slabs, std::uint32_t live) = 0;

  protected:
    virtual Object& do_alloc(sim::Cpu& cpu) = 0;
    virtual void do_alloc_bulk(sim::Cpu& cpu, std::span<Object*> out) = 0;
    virtual void do_free(sim::Cpu& cpu, Object& object) = 0;
    virtual void do_free_bulk(sim::Cpu& cpu, std::span<Object*> objects);
    virtual void do_flush_cpu(sim::Cpu& cpu, std::uint16_t dead) = 0;

  private:
    void clear(sim::Cpu& cpu, Object& object) const;
    bool failure_strikes(std::uint64_t objects);
    void charge_memcg(sim::Cpu& cpu, std::uint32_t objects) const;
    void uncharge_memcg(sim::Cpu& cpu, std::uint32_t objects) const;

    std::string name_;
    std::uint32_t object_bytes_;
    bool accounted_;
    bool init_on_alloc_;
    std::uint64_t live_ = 0;
    std::uint64_t live_peak_ = 0;
    std::uint64_t fail_after_ = 0;
    std::uint64_t fail_times_ = 0;
};

inline Object* KmemCache::alloc(sim::Cpu& cpu) {
    return fail_times_ != 0 && failure_strikes(1) ? nullptr : &alloc_nofail(cpu);
}

inline Object& KmemCache::alloc_nofail(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::slab));
    Object& object = do_alloc(cpu);
    live_peak_ = std::max(live_peak_, ++live_);
    if (init_on_alloc_) {
        clear(cpu, object);
    }
    if (accounted_) {
        charge_memcg(cpu, 1);
    }
    return object;
}

inline void KmemCache::free(sim::Cpu& cpu, Object& object) {
    const sim::MechanismScope scope(cpu, id(Mechanism::slab));
    if (accounted_) {
        uncharge_memcg(cpu, 1);
    }
    do_free(cpu, object);
    --live_;
}

/// Gives an object back to the cache that it came from.
inline void kfree(sim::Cpu& cpu, Object& object) {
    object.slab->cache->free(cpu, object);
}

} // namespace uringsim::models
