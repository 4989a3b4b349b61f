#pragma once

#include "models/mm/slab.h"
#include "sim/random.h"

#include <memory>
#include <optional>
#include <vector>

namespace uringsim::models {

/// The slabs of one cache: takes pages, cuts them into objects, gives pages back. What all slab
/// allocators have in common.
/// Source: allocate_slab, shuffle_freelist, discard_slab, mm/slub.c (6.12).
class SlabPages {
  public:
    SlabPages(KmemCache& cache, const SlabCacheSpec& spec, const SlabEnvironment& environment,
              const SlabGeometry& geometry);

    /// A new slab with all of its objects on its freelist.
    Slab& grow(sim::Cpu& cpu);

    /// Gives the pages of a slab back; it must be on no list.
    void discard(sim::Cpu& cpu, Slab& slab);

    /// Counts an event of the cache.
    void count(sim::Cpu& cpu, Counter SlabCounters::*counter) const;

    /// Takes `live` objects of a slab for somebody outside the run.
    void hold_resident(Slab& slab, std::uint32_t live);

    /// Slabs, objects, bytes, residents, and the free objects on the slabs' own freelists.
    SlabCensus census() const;

    std::uint64_t slabs() const { return slab_count_; }

  private:
    void link_freelist(sim::Cpu& cpu, Slab& slab);

    KmemCache& cache_;
    PageAllocator& pages_;
    const Design& design_;
    SlabGeometry geometry_;
    std::optional<SlabCounters> counters_;
    sim::RandomStream random_;
    std::vector<std::uint32_t> permutation_;   ///< empty without freelist randomisation
    std::vector<std::unique_ptr<Slab>> slabs_; ///< every slab ever made; empty ones are reused
    std::vector<Slab*> spare_;
    std::uint64_t slab_count_ = 0;
    std::uint64_t resident_ = 0;
};

/// Puts an object on its slab's own freelist, and takes the first one off.
void push_free(Slab& slab, Object& object);
Object& pop_free(Slab& slab);

/// Objects on a freelist.
std::uint64_t freelist_length(const Object* freelist);

} // namespace uringsim::models
