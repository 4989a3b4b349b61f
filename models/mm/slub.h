#pragma once

#include "models/mm/slab.h"
#include "sim/random.h"
#include "sim/sync.h"

#include <optional>
#include <vector>

namespace uringsim::models {

/// SLUB as in Linux 6.1 - 6.18, before sheaves: a current slab and a list of partial slabs a CPU,
/// and one list of partial slabs a memory node (one node is modelled).
///
/// Source: mm/slub.c (6.12): ___slab_alloc, get_partial_node, put_cpu_partial, __put_partials,
/// __slab_free, __kmem_cache_alloc_bulk.
class Slub final : public KmemCache {
  public:
    /// What every cache of a kernel is built with.
    struct Environment {
        std::uint32_t cpus_seen;     ///< CPUs that decide orders
        std::uint16_t cpus_modelled; ///< CPUs that may allocate
        PageAllocator& pages;
        std::uint64_t seed;
        bool freelist_random; ///< CONFIG_SLAB_FREELIST_RANDOM
    };

    Slub(const std::string& name, std::uint32_t object_bytes, bool accounted,
         const Environment& environment, std::optional<SlabCounters> counters);
    ~Slub() override;

    const SlabGeometry& geometry() const override { return geometry_; }
    SlabCensus census() const override;
    void add_resident(sim::Cpu& cpu, std::uint32_t slabs, std::uint32_t live) override;

    /// Slabs on the node's partial list, and on a CPU's.
    std::size_t node_partial() const { return node_partial_.size(); }
    std::size_t cpu_partial(std::uint16_t cpu) const { return cpus_.at(cpu).partial.size(); }

  protected:
    Object& do_alloc(sim::Cpu& cpu) override;
    void do_alloc_bulk(sim::Cpu& cpu, std::span<Object*> out) override;
    void do_free(sim::Cpu& cpu, Object& object) override;

  private:
    struct CpuSlab {
        Object* freelist = nullptr; ///< free objects of `slab` that this CPU has claimed
        Slab* slab = nullptr;
        SlabList partial;
    };

    Object& pop(sim::Cpu& cpu, CpuSlab& local);
    void refill(sim::Cpu& cpu, CpuSlab& local);
    bool refill_from_current(CpuSlab& local);
    bool refill_from_cpu_partial(CpuSlab& local);
    bool refill_from_node(sim::Cpu& cpu, CpuSlab& local);
    void refill_from_new_slab(sim::Cpu& cpu, CpuSlab& local);
    void make_current(CpuSlab& local, Slab& slab);

    void free_slow(sim::Cpu& cpu, Slab& slab, Object& object);
    void put_cpu_partial(sim::Cpu& cpu, Slab& slab, bool drain);
    void put_partials(sim::Cpu& cpu, SlabList& slabs);
    void add_to_node(Slab& slab);

    Slab& new_slab(sim::Cpu& cpu);
    void link_freelist(sim::Cpu& cpu, Slab& slab);
    void discard(sim::Cpu& cpu, Slab& slab);
    void count(sim::Cpu& cpu, Counter SlabCounters::*counter) const;

    SlabGeometry geometry_;
    PageAllocator& pages_;
    std::optional<SlabCounters> counters_;
    sim::RandomStream random_;
    std::vector<std::uint32_t> permutation_; ///< empty without freelist randomisation
    std::vector<CpuSlab> cpus_;
    SlabList node_partial_;
    sim::Lock list_lock_;
    std::vector<std::unique_ptr<Slab>> slabs_; ///< every slab ever made; empty ones are reused
    std::vector<Slab*> spare_;
    std::uint64_t slab_count_ = 0;
    std::uint64_t resident_ = 0;
};

} // namespace uringsim::models
