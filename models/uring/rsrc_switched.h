#pragma once

#include "models/mm/percpu_ref.h"
#include "models/sched/workqueue.h"
#include "models/uring/rsrc_node.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace uringsim::models {

/// One current node a ring, switched once a **call** that removed something: the removed files and
/// buffers hang on the old node as put items, and are released when that node and all before it are
/// no longer referenced.
///
/// With the knobs of linux-6.1 the node's count is a percpu_ref: the switch kills it, an RCU grace
/// period later a softirq adds up its counters and moves the node to a list, and a delayed work
/// empties that list a second after its first entry came. The 2023 series ("optimise registered
/// buffer/file updates") replaced this step by step; each step is a knob:
///
///  - 01 node.references atomic instead of percpu, 05 plain: no percpu memory, no grace period;
///  - 06 node.list_lock off; 08 node.inline_item on; 09 node.deferred_free off;
///  - 10 node_cache.limit 512, 13: 32; 12 node.data_atomic off.
///
/// 02, 03, 04, 07 and 11 change no cost and no outcome on the paths that are modelled.
///
/// Source: io_uring/rsrc.c (6.1): io_rsrc_node_switch_start, io_rsrc_node_switch,
/// io_queue_rsrc_removal, io_rsrc_node_ref_zero, io_rsrc_put_work, io_rsrc_ref_quiesce; commits
/// b8fb5b4fdd67, ef8ae64ffa95, 0a4813b1abdf, ff7c75ecaa9e, 36b9818a5a84, 9eae8655f9cd,
/// 757ef4682b6a, 69bbc6ade9d9.
class RsrcSwitched final : public RsrcLifetime {
  public:
    RsrcSwitched(const Design& design, RsrcOwner& owner);
    ~RsrcSwitched() override;

    int table_registered(sim::Cpu& cpu) override;
    int prepare(sim::Cpu& cpu, Object*& node) override;
    void abandon(sim::Cpu& cpu, Object* node) override;
    int begin_update(sim::Cpu& cpu) override;
    int release(sim::Cpu& cpu, RsrcSlot& slot) override;
    void end_update(sim::Cpu& cpu) override;
    sim::WaitQueue* quiesce(sim::Cpu& cpu) override;
    void drop(sim::Cpu& cpu, RsrcSlot& slot) override;
    Object* get(sim::Cpu& cpu, RsrcSlot& slot) override;
    void put(sim::Cpu& cpu, Object& node) override;
    void table_unregistered(sim::Cpu& cpu) override;
    std::uint64_t nodes_live() const override { return nodes_live_; }
    std::uint64_t files_held() const override { return files_held_; }

  private:
    /// struct io_rsrc_put: one removed file or buffer.
    struct PutItem {
        RsrcResource* resource = nullptr;
        std::uint64_t tag = 0;
        Object* memory = nullptr; ///< nothing where the item lies in its node
        PutItem* next = nullptr;
    };

    /// struct io_rsrc_node.
    class Node final : public PercpuRef {
      public:
        explicit Node(RsrcSwitched& owner)
            : owner_(owner) {}

        Object* memory = nullptr;
        PutItem* items = nullptr;    ///< newest first
        std::int64_t references = 0; ///< where the count is no percpu_ref
        bool done = false;
        Node* next = nullptr; ///< of the put list

      private:
        void released(sim::Cpu& cpu) override { owner_.ref_zero(cpu, *this); }

        RsrcSwitched& owner_;
    };

    /// What the object of a node says about it.
    struct NodeHandle {
        Node* node = nullptr;
    };

    /// ctx->rsrc_put_work.
    class PutWork final : public Workqueue::DelayedWork {
      public:
        PutWork(Workqueue& queue, RsrcSwitched& owner)
            : DelayedWork(queue)
            , owner_(owner) {}
        bool run(sim::Cpu& cpu) override { return owner_.put_next(cpu); }

      private:
        RsrcSwitched& owner_;
    };

    Node* alloc_node(sim::Cpu& cpu);
    void init_references(sim::Cpu& cpu, Node& node);
    void destroy(sim::Cpu& cpu, Node& node);
    PutItem* alloc_item(sim::Cpu& cpu, const Node& node);
    void switch_node(sim::Cpu& cpu);
    void kill(sim::Cpu& cpu, Node& node);
    void get_many(sim::Cpu& cpu, Node& node, std::uint32_t references);
    void put_many(sim::Cpu& cpu, Node& node, std::uint32_t references);
    void ref_zero(sim::Cpu& cpu, Node& node);
    void put_or_defer(sim::Cpu& cpu, bool list_was_empty);
    bool put_next(sim::Cpu& cpu);
    void put_items(sim::Cpu& cpu, Node& node);
    void lock_list(sim::Cpu& cpu);
    void unlock_list(sim::Cpu& cpu);
    void data_reference(sim::Cpu& cpu) const;
    bool at_rest() const { return retired_ == 0; }

    const Design& design_;
    RsrcOwner& owner_;
    PercpuRefContext context_;
    PutWork put_work_;
    std::deque<Node> nodes_;
    std::vector<Node*> spare_nodes_;
    std::deque<PutItem> items_;
    std::vector<PutItem*> spare_items_;
    Node* current_ = nullptr;
    Node* backup_ = nullptr;
    std::uint32_t cached_references_ = 0; ///< of the current node
    std::deque<Node*> ref_list_;          ///< rsrc_ref_list: oldest first
    Node* put_list_ = nullptr;            ///< rsrc_put_llist: newest first
    Node* putting_ = nullptr;             ///< what the work under way has taken of it
    sim::Lock list_lock_;                 ///< rsrc_ref_lock
    sim::WaitQueue quiesced_;
    std::uint32_t removed_ = 0; ///< by the call under way
    bool quiescing_ = false;
    std::uint32_t tables_ = 0;
    std::uint64_t retired_ = 0; ///< nodes that were switched away and are not free yet
    std::uint64_t nodes_live_ = 0;
    std::uint64_t files_held_ = 0;
};

} // namespace uringsim::models
