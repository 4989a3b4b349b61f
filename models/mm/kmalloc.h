#pragma once

#include "models/mm/page_allocator.h"
#include "models/mm/slab.h"
#include "sim/cpu.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace uringsim::models {

/// A piece of kernel memory larger than one object needs: an array, a ring, a table.
struct Allocation {
    std::uint64_t bytes = 0;
    Object* object = nullptr;      ///< from a kmalloc cache, or
    PageBlock* pages = nullptr;    ///< from the page allocator, or
    std::vector<sim::Line> vmalloc; ///< too large for one block: pages that are not tracked singly

    explicit operator bool() const { return bytes != 0; }

    sim::Line* lines = nullptr;     ///< its cache lines, one after the other

    /// The line that byte `offset` is in.
    sim::Line& line_at(std::uint64_t offset) const { return lines[offset / 64]; }
};

/// How memory is asked for.
struct GfpFlags {
    bool account = false; ///< charged to the memory cgroup: kmalloc-cg-N instead of kmalloc-N
    bool zero = false;
};

/// The kmalloc family: one slab cache a size class, and pages above 8 KiB.
/// Source: mm/slab_common.c, kmalloc_info and kmalloc_slab (6.12).
class Kmalloc {
  public:
    explicit Kmalloc(const SlabEnvironment& environment)
        : environment_(environment) {}

    /// The cache that objects of `bytes` come from. At most 8192 bytes.
    KmemCache& cache(std::uint32_t bytes, bool account);

    /// The cache of a structure of its own, as kmem_cache_create with SLAB_HWCACHE_ALIGN makes it.
    /// With `merge` it shares its slabs with every other mergeable cache of that size; the kmalloc
    /// caches themselves are never merged with (KMALLOC_NORMAL carries SLAB_NO_MERGE when memory
    /// cgroups are configured).
    /// With `order` its slabs have that order, and it is never merged.
    KmemCache& create(const std::string& name, std::uint32_t bytes, bool account, bool merge,
                      std::optional<unsigned> order = std::nullopt);

    /// kvmalloc: an array of `bytes`, at least one.
    Allocation alloc(sim::Cpu& cpu, std::uint64_t bytes, GfpFlags flags);
    void free(sim::Cpu& cpu, Allocation& allocation);

    /// The cache of this name, not made yet, counts its events as those of rsrc nodes.
    void count_as_nodes(std::string name) { node_cache_name_ = std::move(name); }

    /// The same for requests.
    void count_as_requests(std::string name) { request_cache_name_ = std::move(name); }

    /// A CPU has gone offline: what every cache kept for it goes back to the slabs.
    void flush_cpu(sim::Cpu& cpu, std::uint16_t dead);

    /// Bytes held by allocations made with alloc().
    std::uint64_t array_bytes() const { return array_bytes_; }

    /// Every cache made so far, by name.
    const std::map<std::string, std::unique_ptr<KmemCache>>& caches() const { return caches_; }

    /// The name of the cache that objects of `bytes` come from.
    static std::string cache_name(std::uint32_t bytes, bool account);

    /// SLAB_HWCACHE_ALIGN: the slot of objects of `bytes`, aligned to the largest halving of a line
    /// that still holds one.
    static std::uint32_t aligned_slot(std::uint32_t bytes);

    /// The name under which SLUB shows caches of that slot that were merged.
    static std::string merged_name(std::uint32_t slot_bytes, bool account);

    /// The size of the kmalloc class that serves `bytes`.
    static std::uint32_t size_class(std::uint32_t bytes);

  private:
    KmemCache& get_or_make(const std::string& name, std::uint32_t bytes, bool account,
                           std::optional<unsigned> order = std::nullopt);
    std::optional<SlabCounters> counters_of(const std::string& name) const;

    SlabEnvironment environment_;
    std::map<std::string, std::unique_ptr<KmemCache>> caches_;
    std::string node_cache_name_;
    std::string request_cache_name_;
    std::uint64_t array_bytes_ = 0;
};

} // namespace uringsim::models
