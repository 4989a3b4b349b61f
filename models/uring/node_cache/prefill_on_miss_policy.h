#pragma once

#include "models/uring/node_cache/io_alloc_cache_policy.h"

namespace uringsim::models {

/// As io_alloc_cache, but the first miss after a sparse registration of N slots grows the cache to
/// min(N, prefill_cap) and fills it. A table into which nothing is installed costs nothing.
/// A proposal of our own; no kernel has it.
class PrefillOnMissPolicy final : public IoAllocCachePolicy {
  public:
    using IoAllocCachePolicy::IoAllocCachePolicy;

    static std::unique_ptr<NodeCache> make(sim::Cpu& cpu, const NodeCacheContext& context);

    void sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool opt_in) override;

  private:
    Object* miss(sim::Cpu& cpu) override;

    std::uint32_t waiting_ = 0; ///< nodes that the next miss prefills; 0: it was done
};

} // namespace uringsim::models
