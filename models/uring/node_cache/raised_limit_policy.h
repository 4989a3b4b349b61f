#pragma once

#include "models/uring/node_cache/io_alloc_cache_policy.h"

namespace uringsim::models {

/// As io_alloc_cache, but a sparse registration of N slots raises the limit to min(N, prefill_cap)
/// and allocates no node: costs a pointer array up front, and then keeps all that removals release.
/// A proposal of our own; no kernel has it.
class RaisedLimitPolicy : public IoAllocCachePolicy {
  public:
    using IoAllocCachePolicy::IoAllocCachePolicy;

    static std::unique_ptr<NodeCache> make(sim::Cpu& cpu, const NodeCacheContext& context);

    void sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool opt_in) override;
};

} // namespace uringsim::models
