#pragma once

#include "models/mm/slab.h"
#include "sim/task.h"

#include <vector>

namespace uringsim::models {

/// kfree_rcu: objects that are given back some time after a grace period, by a kworker.
///
/// Source: kvfree_call_rcu, schedule_delayed_monitor_work, kernel/rcu/tree.c (6.12): a batch waits
/// 5 s, or a jiffy once a page of pointers is full, and then for a grace period. The length of
/// the grace period (10 ms) and the jiffy (4 ms) are assumed.
class KfreeRcu final : public sim::Task {
  public:
    KfreeRcu(sim::TaskId id, sim::Cpu& cpu, sim::Cycles cycles_per_ms)
        : Task("kfree_rcu", id, cpu)
        , cycles_per_ms_(cycles_per_ms) {}

    /// Leaves an object to be freed. From any CPU.
    void add(sim::Cpu& cpu, Object& object);

    sim::Step step(sim::Cpu& cpu) override;

    std::size_t pending() const { return objects_.size(); }

  private:
    std::vector<Object*> objects_;
    sim::Cycles cycles_per_ms_;
};

} // namespace uringsim::models
