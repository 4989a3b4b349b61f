#pragma once

#include "models/mm/kmalloc.h"
#include "models/mm/page_allocator.h"
#include "models/mm/slab.h"
#include "models/uring/node_cache.h"

#include <deque>
#include <memory>
#include <vector>

namespace uringsim::models {

/// The nodes of a sparse table are part of the table: a registration of N slots commits N x
/// node.bytes, zeroed and charged to the memory cgroup like the slots, and an install finds its node
/// there, with no allocation and no cache to pop from. Nodes of other tables come from the slab
/// allocator one at a time.
///
/// Free nodes are handed out in the order of their release, so a program that fills and empties its
/// table in order finds a slot's own node. The memory goes with the table, or with the last request
/// that holds one of its nodes. A proposal of our own; no kernel has it.
class EmbeddedPolicy final : public NodeCache {
  public:
    explicit EmbeddedPolicy(const NodeCacheContext& context)
        : design_(context.design), memory_(context.memory), nodes_(context.nodes) {}

    static std::unique_ptr<NodeCache> make(sim::Cpu& cpu, const NodeCacheContext& context);

    Object* get(sim::Cpu& cpu) override;
    void put(sim::Cpu& cpu, Object& node) override;
    void sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool opt_in) override;
    void table_unregistered(sim::Cpu& cpu) override;
    bool drain_one(sim::Cpu& cpu) override;

    /// No node is cached: all are part of a table.
    std::uint32_t cached() const override { return 0; }
    std::uint32_t capacity() const override;
    /// Bytes committed for nodes that no install uses.
    std::uint64_t array_bytes() const override;

  private:
    /// The nodes of one table, laid out as a slab that belongs to no cache.
    struct Table : Slab {
        Allocation memory;
        std::unique_ptr<PageBlock> block; ///< where `memory` is no block of pages
        std::deque<Object*> unused;
        bool retired = false; ///< the table is gone
    };

    void release_if_unused(sim::Cpu& cpu, Table& table);

    const Design& design_;
    Kmalloc& memory_;
    KmemCache& nodes_;
    std::vector<std::unique_ptr<Table>> tables_; ///< the current one is last
};

} // namespace uringsim::models
