#pragma once

#include "models/uring/alloc_cache.h"
#include "models/uring/node_cache.h"

#include <memory>
#include <vector>

namespace uringsim::models {

/// The kernel's policy and the RFC's: an io_alloc_cache with a limit; a miss allocates one node or
/// refills a batch (RFC 0002); a sparse registration may grow and fill the cache (RFC 0003).
/// Source: io_cache_alloc, io_cache_free, io_uring/alloc_cache.h (6.15+); RFC 0002 and 0003.
class IoAllocCachePolicy : public NodeCache {
  public:
    IoAllocCachePolicy(sim::Cpu& cpu, const NodeCacheContext& context);

    static std::unique_ptr<NodeCache> make(sim::Cpu& cpu, const NodeCacheContext& context);

    Object* get(sim::Cpu& cpu) override;
    void put(sim::Cpu& cpu, Object& node) override;
    void sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool opt_in) override;
    bool drain_one(sim::Cpu& cpu) override;

    std::uint32_t cached() const override { return cache_.cached(); }
    std::uint32_t capacity() const override { return cache_.capacity(); }
    std::uint64_t array_bytes() const override { return cache_.array_bytes(); }

  protected:
    /// Grows the cache to `capacity` and fills it. Where the allocation fails, the larger capacity
    /// and the entries that were there stay.
    void prefill(sim::Cpu& cpu, std::uint32_t capacity);

    const Design& design() const { return design_; }
    IoAllocCache& cache() { return cache_; }

  private:
    /// kfree, or kmem_cache_free of a cache of its own.
    void free_node(sim::Cpu& cpu, Object& node) const;
    Object* refill(sim::Cpu& cpu);
    std::uint32_t allocate(sim::Cpu& cpu, std::uint32_t wanted);
    bool alloc_bulk(sim::Cpu& cpu); ///< fills batch_, or nothing of it

    const Design& design_;
    KmemCache& nodes_;
    std::span<CodePaths> code_; ///< by CPU
    IoAllocCache cache_;
    std::vector<Object*> batch_;
};

} // namespace uringsim::models
