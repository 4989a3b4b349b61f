#pragma once

#include "models/uring/node_cache/io_alloc_cache_policy.h"

namespace uringsim::models {

/// As io_alloc_cache, but after a sparse registration the first miss allocates refill_batch nodes and
/// each later one twice as many as the one before: never more than prefill_cap, nor than the slots
/// of the table that are still empty. The limit grows to what a refill leaves over.
/// A proposal of our own; no kernel has it.
class DoublingPolicy final : public IoAllocCachePolicy {
  public:
    using IoAllocCachePolicy::IoAllocCachePolicy;

    static std::unique_ptr<NodeCache> make(sim::Cpu& cpu, const NodeCacheContext& context);

    Object* get(sim::Cpu& cpu) override;
    void put(sim::Cpu& cpu, Object& node) override;
    void sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool opt_in) override;

  private:
    Object* miss(sim::Cpu& cpu) override;

    std::uint32_t slots_ = 0; ///< of the sparse table; 0: there was none
    std::uint32_t next_ = 1;  ///< nodes of the next refill
    std::uint32_t out_ = 0;   ///< nodes that installs and requests hold
};

} // namespace uringsim::models
