#pragma once

#include "models/uring/node_cache/io_alloc_cache_policy.h"

namespace uringsim::models {

/// As io_alloc_cache, but a sparse registration of N slots grows the cache to min(N, prefill_cap)
/// and fills prefill_percent of that, rounded down: a bet on a table that is partly used.
/// A proposal of our own; no kernel has it.
class PrefillFractionPolicy final : public IoAllocCachePolicy {
  public:
    using IoAllocCachePolicy::IoAllocCachePolicy;

    static std::unique_ptr<NodeCache> make(sim::Cpu& cpu, const NodeCacheContext& context);

    void sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool opt_in) override;
};

} // namespace uringsim::models
