#pragma once

#include "sim/cost.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace uringsim::models {

/// Events that a run counts. The order is that of counter_table().
enum class Counter : std::uint16_t {
    node_alloc,
    node_cache_hit,
    node_cache_miss,
    bulk_calls,
    bulk_objects,
    prefill_objects,
    new_slabs,
    freed_slabs,
    node_free,
    node_cache_put,
    freed_at_ring_exit,
    sqe_submitted,
    cqe_posted,
    cqe_overflowed,
    cqe_flushed,
    cqe_dropped,
    cqe_reaped,
    request_alloc,
    request_bulk_calls,
    files_installed,
    files_removed,
    enters,
    errors_counted,
    slab_alloc_slow,
    slab_get_partial,
    slab_free_slow,
    slab_put_cpu_partial,
    page_alloc,
    page_free,
    memcg_charges,
    rings_created,
    rings_exited,
    percpu_allocs,
    percpu_pages,
    rcu_calls,
    rcu_callbacks,
    works_run,
    removals_held_back,
    buffers_registered,
    buffers_removed,
    pages_pinned,
    request_free,
    request_cache_hit,
    request_cache_miss,
    request_cache_moved,
    request_cache_stolen,
    request_shrunk,
    request_reaped,
    request_fallback,
    request_on_stack,
    request_copied,
    request_irq_completions,
    request_punts,
    request_new_slabs,
    request_freed_slabs,
    request_slab_alloc_slow,
    request_slab_get_partial,
    request_slab_free_slow,
    request_slab_put_cpu_partial,
    wakeups,
    wakeups_ipi,
    wakeups_skipped,
    wakeups_spurious,
    task_work_run,
    local_work_run,
    msg_sent,
    msg_cache_hit,
    msg_cache_miss,
    msg_punted,
    count_
};

inline constexpr std::size_t counter_count = static_cast<std::size_t>(Counter::count_);

/// One row of the table that declares the counters.
struct CounterInfo {
    Counter id;
    std::string_view name;
    std::string_view unit;
    std::string_view help;
    std::string_view source;
};

std::span<const CounterInfo> counter_table();
const CounterInfo& info(Counter counter);
std::optional<Counter> find_counter(std::string_view name);

constexpr sim::CounterId id(Counter counter) {
    return static_cast<sim::CounterId>(counter);
}

} // namespace uringsim::models
