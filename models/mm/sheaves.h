#pragma once

#include "models/mm/slab_pages.h"
#include "sim/sync.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace uringsim::models {

/// SLUB with sheaves: every CPU has a main sheaf of free objects and a spare one, every memory node
/// a barn of full and of empty sheaves. There is no CPU slab any more; what sheaves do not hold is
/// on the node's list of partial slabs.
///
/// Not modelled: sheaves for kfree_rcu, prefilled sheaves, remote memory nodes, the memory of the
/// sheaves themselves but in sheaf_bytes().
/// Source: mm/slub.c (7.0): alloc_from_pcs, free_to_pcs, __pcs_replace_empty_main,
/// __pcs_replace_full_main, barn_replace_empty_sheaf, refill_objects, calculate_sheaf_capacity.
class Sheaves final : public KmemCache {
  public:
    static constexpr std::size_t barn_sheaves = 10; ///< of full ones, and of empty ones

    Sheaves(const SlabCacheSpec& spec, const SlabEnvironment& environment);
    ~Sheaves() override;

    /// Objects a sheaf holds, by object size.
    static std::uint32_t capacity_for(std::uint32_t bytes);

    std::uint32_t capacity() const { return capacity_; }
    std::size_t barn_full() const { return full_.size(); }
    std::size_t barn_empty() const { return empty_; }
    std::size_t node_partial() const { return node_partial_.size(); }
    /// Memory of all sheaves: a header of 32 bytes and 8 an object each.
    std::uint64_t sheaf_bytes() const;

    const SlabGeometry& geometry() const override { return geometry_; }
    SlabCensus census() const override;
    std::vector<SlabHolding> holdings() const override;
    void add_resident(sim::Cpu& cpu, std::uint32_t slabs, std::uint32_t live) override;

  protected:
    Object& do_alloc(sim::Cpu& cpu) override;
    void do_alloc_bulk(sim::Cpu& cpu, std::span<Object*> out) override;
    void do_free(sim::Cpu& cpu, Object& object) override;
    void do_flush_cpu(sim::Cpu& cpu, std::uint16_t dead) override;

  private:
    using Sheaf = std::vector<Object*>; ///< the back is the newest entry

    struct CpuSheaves {
        Sheaf main;
        std::optional<Sheaf> spare;
    };

    Object& pop(sim::Cpu& cpu, CpuSheaves& local);
    void push(CpuSheaves& local, Object& object);
    void replace_empty_main(sim::Cpu& cpu, CpuSheaves& local);
    void replace_full_main(sim::Cpu& cpu, CpuSheaves& local);
    /// barn_get_empty_sheaf, or alloc_empty_sheaf where the barn has none.
    Sheaf empty_sheaf(sim::Cpu& cpu);
    bool barn_takes_no_more(sim::Cpu& cpu);
    void refill(sim::Cpu& cpu, Sheaf& sheaf);
    void refill_from_new_slab(sim::Cpu& cpu, Sheaf& sheaf);
    void take(sim::Cpu& cpu, Slab& slab, Sheaf& sheaf);
    void flush(sim::Cpu& cpu, Sheaf& sheaf);
    void free_to_slab(sim::Cpu& cpu, Object& object);

    SlabGeometry geometry_;
    std::uint32_t capacity_;
    SlabPages slabs_;
    std::vector<CpuSheaves> cpus_;
    std::vector<Sheaf> full_; ///< the barn's full sheaves; the back is the newest
    std::size_t empty_ = 0;   ///< the barn's empty sheaves
    std::uint64_t sheaves_;   ///< all of them
    SlabList node_partial_;
    sim::Lock barn_lock_;
    sim::Lock list_lock_;
};

} // namespace uringsim::models
