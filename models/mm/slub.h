#pragma once

#include "models/mm/slab_pages.h"
#include "sim/sync.h"

#include <vector>

namespace uringsim::models {

/// SLUB as in Linux 6.1 - 6.19, before sheaves: a current slab and a list of partial slabs a CPU,
/// and one list of partial slabs a memory node (one node is modelled).
///
/// Source: mm/slub.c (6.12): ___slab_alloc, get_partial_node, put_cpu_partial, __put_partials,
/// __slab_free, __kmem_cache_alloc_bulk, build_detached_freelist; with the consistency checks on,
/// alloc_single_from_partial and free_to_partial_list.
class Slub final : public KmemCache {
  public:
    Slub(const SlabCacheSpec& spec, const SlabEnvironment& environment);
    ~Slub() override;

    const SlabGeometry& geometry() const override { return geometry_; }
    SlabCensus census() const override;
    std::vector<SlabHolding> holdings() const override;
    void add_resident(sim::Cpu& cpu, std::uint32_t slabs, std::uint32_t live) override;

    /// Slabs on the node's partial list, and on a CPU's.
    std::size_t node_partial() const { return node_partial_.size(); }
    std::size_t cpu_partial(std::uint16_t cpu) const { return cpus_.at(cpu).partial.size(); }

  protected:
    Object& do_alloc(sim::Cpu& cpu) override;
    void do_alloc_bulk(sim::Cpu& cpu, std::span<Object*> out) override;
    void do_free(sim::Cpu& cpu, Object& object) override;
    void do_free_bulk(sim::Cpu& cpu, std::span<Object*> objects) override;
    void do_flush_cpu(sim::Cpu& cpu, std::uint16_t dead) override;

  private:
    struct CpuSlab {
        Object* freelist = nullptr; ///< free objects of `slab` that this CPU has claimed
        Slab* slab = nullptr;
        SlabList partial;
    };

    Object& pop(sim::Cpu& cpu, CpuSlab& local);
    void refill(sim::Cpu& cpu, CpuSlab& local);
    bool refill_from_current(sim::Cpu& cpu, CpuSlab& local);
    bool refill_from_cpu_partial(sim::Cpu& cpu, CpuSlab& local);
    bool refill_from_node(sim::Cpu& cpu, CpuSlab& local);
    void refill_from_new_slab(sim::Cpu& cpu, CpuSlab& local);
    void make_current(sim::Cpu& cpu, CpuSlab& local, Slab& slab);

    void free_slow(sim::Cpu& cpu, Slab& slab, Object& object);
    void free_slow(sim::Cpu& cpu, Slab& slab, Object& object, bool was_full);
    void free_list(sim::Cpu& cpu, Slab& slab, std::span<Object* const> objects);
    Object& alloc_checked(sim::Cpu& cpu);
    void free_checked(sim::Cpu& cpu, Object& object);
    void pointer(sim::Cpu& cpu) const;
    void put_cpu_partial(sim::Cpu& cpu, Slab& slab, bool drain);
    bool cpu_partial_full(const CpuSlab& local) const;
    void charge_bulk_object(sim::Cpu& cpu, std::size_t index) const;
    bool taken_enough(std::uint32_t slabs, std::uint32_t objects) const;
    void put_partials(sim::Cpu& cpu, SlabList& slabs);
    void add_to_node(Slab& slab);

    void count(sim::Cpu& cpu, Counter SlabCounters::*counter) const { slabs_.count(cpu, counter); }

    SlabGeometry geometry_;
    SlabPages slabs_;
    bool checked_;              ///< slub_debug=F
    bool hardened_;             ///< free pointers are encoded
    bool free_each_;            ///< the bulk free of 4.3
    bool rest_singly_;          ///< the bulk allocation before 4.3
    std::uint32_t line_weight_; ///< how much of L1 the first line of an object takes
    std::uint32_t overlapped_;  ///< objects of a bulk whose loads overlap; 0: all
    /// The most free objects on a CPU's partial list; 0: slabs are counted instead.
    std::uint32_t partial_objects_;
    std::vector<CpuSlab> cpus_;
    SlabList node_partial_;
    sim::Lock list_lock_;
    std::vector<Object*> gathered_; ///< scratch of the bulk free
};

} // namespace uringsim::models
