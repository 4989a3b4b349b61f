#pragma once

#include "models/uring/node_cache/raised_limit_policy.h"
#include "sim/task.h"

namespace uringsim::models {

/// As raised_limit, but once nothing was taken or kept for trim_us, deferred work on the CPU that
/// made the ring frees what is cached beyond node_cache.limit. Memory follows use, at the price of a
/// slow burst after each quiet period. A proposal of our own; no kernel has it.
class TrimmedPolicy final : public RaisedLimitPolicy {
  public:
    TrimmedPolicy(sim::Cpu& cpu, const NodeCacheContext& context);

    static std::unique_ptr<NodeCache> make(sim::Cpu& cpu, const NodeCacheContext& context);

    Object* get(sim::Cpu& cpu) override;
    void put(sim::Cpu& cpu, Object& node) override;
    void sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool opt_in) override;
    bool drain_one(sim::Cpu& cpu) override;

  private:
    class Trim;

    bool above_limit() const;
    void used(sim::Cpu& cpu);

    sim::Cycles quiet_;
    sim::Cycles last_use_ = 0;
    Trim* trim_; ///< the run owns it: it may be on its CPU when the ring goes
};

} // namespace uringsim::models
