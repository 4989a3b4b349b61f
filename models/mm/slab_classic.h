#pragma once

#include "models/mm/slab_pages.h"
#include "sim/sync.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace uringsim::models {

/// SLAB, the allocator that was there before SLUB: an array of free objects a CPU, an array that
/// all CPUs of the node share, and lists of partial and of free slabs. Every call turns interrupts
/// off.
///
/// Not modelled: alien caches of other memory nodes; the reaper that runs every two seconds.
/// Source: mm/slab.c (6.1): cache_alloc_refill, cache_flusharray, free_block, transfer_objects,
/// enable_cpucache, calculate_slab_order.
class SlabClassic final : public KmemCache {
  public:
    SlabClassic(const SlabCacheSpec& spec, const SlabEnvironment& environment);
    ~SlabClassic() override;

    /// Sizes of the arrays by object size, on a machine with more than one CPU.
    struct Tunables {
        std::uint32_t limit = 0;      ///< objects in a CPU's array
        std::uint32_t batchcount = 0; ///< objects moved at once
        std::uint32_t shared = 0;     ///< objects in the shared array
        static Tunables of(std::uint32_t bytes, std::uint32_t cpus);
    };

    const Tunables& tunables() const { return tunables_; }
    const SlabGeometry& geometry() const override { return geometry_; }
    SlabCensus census() const override;
    std::vector<SlabHolding> holdings() const override;
    void add_resident(sim::Cpu& cpu, std::uint32_t slabs, std::uint32_t live) override;

    /// The order that calculate_slab_order picks: at most an eighth is wasted, at most order 1.
    static unsigned order_for(std::uint32_t bytes);

  protected:
    Object& do_alloc(sim::Cpu& cpu) override;
    void do_alloc_bulk(sim::Cpu& cpu, std::span<Object*> out) override;
    void do_free(sim::Cpu& cpu, Object& object) override;
    void do_flush_cpu(sim::Cpu& cpu, std::uint16_t dead) override;

  private:
    using Array = std::deque<Object*>; ///< the back is the newest entry

    void refill(sim::Cpu& cpu, Array& array);
    bool take_from_slabs(sim::Cpu& cpu, Array& array);
    void flush(sim::Cpu& cpu, Array& array);
    void free_block(sim::Cpu& cpu, Object& object);
    std::uint64_t free_limit() const;

    Tunables tunables_;
    SlabGeometry geometry_;
    std::uint32_t cpus_seen_;
    SlabPages slabs_;
    std::vector<Array> arrays_; ///< by CPU
    Array shared_;
    SlabList partial_;
    SlabList free_;
    sim::Lock list_lock_;
    std::uint64_t free_objects_ = 0; ///< on the slabs of both lists
};

} // namespace uringsim::models
