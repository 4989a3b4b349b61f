#pragma once

#include "models/uring/rsrc_node.h"

namespace uringsim::models {

/// Every installed file has a node of its own, allocated at install and freed with its last
/// reference. Source: commit 7029acd8a950 (6.13), io_uring/rsrc.c.
class RsrcPerNode final : public RsrcLifetime {
  public:
    /// The owner has its node cache by now.
    explicit RsrcPerNode(RsrcOwner& owner) : owner_(owner), cache_(owner.node_cache()) {}

    int table_registered(sim::Cpu& cpu) override;
    int prepare(sim::Cpu& cpu, Object*& node) override;
    void abandon(sim::Cpu& cpu, Object* node) override;
    int release(sim::Cpu& cpu, RsrcSlot& slot) override;
    void drop(sim::Cpu& cpu, RsrcSlot& slot) override;
    Object* get(sim::Cpu& cpu, RsrcSlot& slot) override;
    void put(sim::Cpu& cpu, Object& node) override;
    void table_unregistered(sim::Cpu& cpu) override;
    std::uint64_t nodes_live() const override { return nodes_live_; }
    std::uint64_t files_held() const override { return files_held_; }

  private:
    void drop_reference(sim::Cpu& cpu, Object& object);
    void remove(sim::Cpu& cpu, RsrcSlot& slot);

    RsrcOwner& owner_;
    NodeCache& cache_;
    std::uint64_t nodes_live_ = 0;
    std::uint64_t files_held_ = 0;
};

} // namespace uringsim::models
