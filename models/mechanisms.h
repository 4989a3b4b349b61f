#pragma once

#include "sim/cost.h"

#include <cstdint>
#include <string_view>

namespace uringsim::models {

/// On whose behalf a primitive is charged: the lines of "what moved". A nested mechanism takes over
/// while it runs: the page of a new slab under a node allocation is the page allocator's.
enum class Mechanism : std::uint16_t {
    scheduler,
    user,
    system_call,
    request,
    msg_ring,
    completion,
    overflow,
    file_table,
    file_reference,
    node,
    node_cache,
    node_prefill,
    slab,
    slab_growth,
    memcg,
    pages,
    ring_setup,
    ring_exit,
    percpu,
    rcu,
    workqueue,
    buffers,
    request_cache,
    request_shrink,
    interrupt,
    wakeup,
    task_work,
    io_wq,
    count_
};

inline constexpr std::size_t mechanism_count = static_cast<std::size_t>(Mechanism::count_);

/// The name as results print it.
std::string_view name(Mechanism mechanism);

constexpr sim::MechanismId id(Mechanism mechanism) {
    return static_cast<sim::MechanismId>(mechanism);
}

} // namespace uringsim::models
