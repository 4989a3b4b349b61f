#pragma once

#include "models/uring/alloc_cache.h"
#include "models/uring/node_cache.h"

#include <map>
#include <memory>

namespace uringsim::models {

/// The stacks of all CPUs, made on a CPU's first use.
class PerCpuNodeCaches final : public NodeCacheShare {
  public:
    explicit PerCpuNodeCaches(Kmalloc& memory) : memory_(memory) {}

    IoAllocCache& of(sim::Cpu& cpu, std::uint32_t limit);

    /// A stack that is not empty; nullptr where all are.
    IoAllocCache* any();
    /// Frees all pointer arrays; the stacks are empty.
    void release(sim::Cpu& cpu);

    std::uint64_t cached() const override;
    std::uint64_t array_bytes() const override;

    std::uint32_t rings = 0; ///< that use them

  private:
    Kmalloc& memory_;
    std::map<std::uint16_t, IoAllocCache> caches_;
};

/// One io_alloc_cache a CPU, of node_cache.limit nodes, shared by all rings: nodes outlive the ring
/// that released them, but a node goes to the CPU that releases it, and the exit of a ring runs on
/// another. Under preempt_disable, which is free here. The last ring to go empties all of them.
/// A proposal of our own; no kernel has it.
class PerCpuPolicy final : public NodeCache {
  public:
    PerCpuPolicy(const NodeCacheContext& context, std::shared_ptr<PerCpuNodeCaches> caches);
    ~PerCpuPolicy() override;

    static std::unique_ptr<NodeCache> make(sim::Cpu& cpu, const NodeCacheContext& context);

    Object* get(sim::Cpu& cpu) override;
    void put(sim::Cpu& cpu, Object& node) override;
    void sparse_table_registered(sim::Cpu& /*cpu*/, std::uint32_t /*slots*/,
                                 bool /*opt_in*/) override {}
    bool drain_one(sim::Cpu& cpu) override;

    /// Nothing is this ring's alone.
    std::uint32_t cached() const override { return 0; }
    std::uint32_t capacity() const override;
    std::uint64_t array_bytes() const override { return 0; }

  private:
    void free_node(sim::Cpu& cpu, Object& node) const;
    void leave();

    const Design& design_;
    KmemCache& nodes_;
    std::shared_ptr<PerCpuNodeCaches> caches_;
    bool left_ = false;
};

} // namespace uringsim::models
