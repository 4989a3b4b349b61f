#pragma once

#include "models/uring/rsrc_node.h"

#include <deque>

namespace uringsim::models {

/// One current node a ring, which every request that uses a registered file references. A removal
/// hangs its file on the current node and installs a fresh one; the nodes are released strictly in
/// order, so one long request holds every file that was removed after it started.
/// Source: io_queue_rsrc_removal, io_rsrc_node_ref_zero, io_uring/rsrc.c (6.4 - 6.12).
class RsrcPerRing final : public RsrcLifetime {
  public:
    explicit RsrcPerRing(RsrcOwner& owner) : owner_(owner) {}

    int table_registered(sim::Cpu& cpu) override;
    int prepare(sim::Cpu& cpu, Object*& node) override;
    void abandon(sim::Cpu& cpu, Object* node) override;
    int release(sim::Cpu& cpu, RsrcSlot& slot) override;
    void drop(sim::Cpu& cpu, RsrcSlot& slot) override;
    Object* get(sim::Cpu& cpu, RsrcSlot& slot) override;
    void put(sim::Cpu& cpu, Object& node) override;
    sim::WaitQueue* quiesce(sim::Cpu& cpu) override;
    void table_unregistered(sim::Cpu& cpu) override;
    std::uint64_t nodes_live() const override {
        return retired_.size() + (current_ != nullptr ? 1 : 0);
    }
    std::uint64_t files_held() const override { return retired_.size() - empty_; }

  private:
    void drain_in_order(sim::Cpu& cpu);

    RsrcOwner& owner_;
    Object* current_ = nullptr;
    std::deque<Object*> retired_; ///< rsrc_ref_list: oldest first
    std::uint64_t empty_ = 0;     ///< of those, closed by quiesce() and without a file
    bool quiescing_ = false;
    sim::WaitQueue quiesced_;     ///< rsrc_quiesce_wq
    std::uint32_t tables_ = 0;
};

} // namespace uringsim::models
