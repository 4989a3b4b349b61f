#include "models/counters.h"

#include <array>

namespace uringsim::models {

namespace {

using C = Counter;

constexpr std::string_view alloc_cache_source = "io_uring/alloc_cache.h, io_uring/rsrc.c (6.15+)";
constexpr std::string_view slub_source = "mm/slub.c";

constexpr std::array<CounterInfo, counter_count> table{{
    {C::node_alloc, "node_alloc", "nodes", "rsrc nodes asked for by installs and registrations",
     "io_rsrc_node_alloc, io_uring/rsrc.c"},
    {C::node_cache_hit, "node_cache_hit", "nodes", "of those, served by the ring's cache",
     alloc_cache_source},
    {C::node_cache_miss, "node_cache_miss", "nodes", "of those, not served by the ring's cache",
     alloc_cache_source},
    {C::bulk_calls, "bulk_calls", "calls", "bulk refills of the node cache on a miss",
     "RFC 0002, kmem_cache_alloc_bulk"},
    {C::bulk_objects, "bulk_objects", "nodes", "nodes that those refills brought", "RFC 0002"},
    {C::prefill_objects, "prefill_objects", "nodes", "nodes put into the cache at registration",
     "RFC 0003"},
    {C::new_slabs, "new_slabs", "slabs",
     "slabs that the page allocator gave to the cache that holds rsrc nodes",
     "allocate_slab, mm/slub.c"},
    {C::freed_slabs, "freed_slabs", "slabs", "slabs of that cache given back",
     "discard_slab, mm/slub.c"},
    {C::node_free, "node_free", "nodes", "rsrc nodes given back to the slab allocator",
     "io_free_rsrc_node, io_alloc_cache_free"},
    {C::node_cache_put, "node_cache_put", "nodes", "rsrc nodes put into the ring's cache on release",
     alloc_cache_source},
    {C::freed_at_ring_exit, "freed_at_ring_exit", "nodes",
     "rsrc nodes given back by the exit work of their ring", "io_ring_ctx_free"},
    {C::sqe_submitted, "sqe_submitted", "requests", "requests submitted",
     "tracepoint io_uring_submit_req"},
    {C::cqe_posted, "cqe_posted", "CQEs", "completions posted, to a CQ or to its overflow list",
     "tracepoint io_uring_complete"},
    {C::cqe_overflowed, "cqe_overflowed", "CQEs", "of those, put on the overflow list",
     "io_cqring_event_overflow"},
    {C::cqe_flushed, "cqe_flushed", "CQEs", "moved from an overflow list to its CQ",
     "__io_cqring_overflow_flush"},
    {C::cqe_dropped, "cqe_dropped", "CQEs", "lost: no memory for an overflow entry",
     "rings->cq_overflow"},
    {C::cqe_reaped, "cqe_reaped", "CQEs", "completions read by the program", "user side"},
    {C::request_alloc, "request_alloc", "requests", "requests taken from the slab allocator",
     "__io_alloc_req_refill"},
    {C::request_bulk_calls, "request_bulk_calls", "calls", "bulk allocations of requests",
     "__io_alloc_req_refill"},
    {C::files_installed, "files_installed", "files", "files stored in a fixed-file slot",
     "io_install_fixed_file, __io_sqe_files_update, io_sqe_files_register"},
    {C::files_removed, "files_removed", "files", "files taken from a fixed-file slot",
     "io_reset_rsrc_node, io_rsrc_data_free"},
    {C::enters, "enters", "calls", "io_uring_enter system calls", "io_uring_enter"},
    {C::errors_counted, "errors_counted", "operations",
     "failed operations that the scenario said to count", "\"expect\": \"any\""},
    {C::slab_alloc_slow, "slab_alloc_slow", "calls", "node allocations off the fast path",
     slub_source},
    {C::slab_get_partial, "slab_get_partial", "slabs",
     "slabs of the node cache taken from the node's partial list", slub_source},
    {C::slab_free_slow, "slab_free_slow", "calls", "node frees off the fast path (__slab_free)",
     slub_source},
    {C::slab_put_cpu_partial, "slab_put_cpu_partial", "slabs",
     "slabs of the node cache put on a CPU's partial list by a free", slub_source},
    {C::page_alloc, "page_alloc", "blocks", "blocks of pages allocated, for any purpose",
     "mm/page_alloc.c"},
    {C::page_free, "page_free", "blocks", "blocks of pages freed", "mm/page_alloc.c"},
    {C::memcg_charges, "memcg_charges", "objects", "objects charged to a memory cgroup",
     "__memcg_slab_post_alloc_hook"},
    {C::rings_created, "rings_created", "rings", "rings set up", "io_uring_setup"},
    {C::rings_exited, "rings_exited", "rings", "rings whose exit work is done",
     "io_ring_exit_work"},
    {C::percpu_allocs, "percpu_allocs", "areas", "percpu areas allocated, each for every possible CPU",
     "pcpu_alloc, mm/percpu.c"},
    {C::percpu_pages, "percpu_pages", "pages", "pages that percpu chunks were populated with",
     "pcpu_populate_chunk, mm/percpu.c"},
    {C::rcu_calls, "rcu_calls", "callbacks", "callbacks handed to RCU",
     "call_rcu, kernel/rcu/tree.c"},
    {C::rcu_callbacks, "rcu_callbacks", "callbacks", "callbacks run after their grace period",
     "rcu_do_batch, kernel/rcu/tree.c"},
    {C::works_run, "works_run", "works", "executions of works by bound kworkers",
     "process_one_work, kernel/workqueue.c"},
    {C::removals_held_back, "removals_held_back", "resources",
     "files and buffers whose slot was emptied but which were not released on the spot",
     "io_rsrc_node_ref_zero (up to 6.12), io_put_rsrc_node (6.13+)"},
    {C::buffers_registered, "buffers_registered", "buffers", "buffers put into a slot, clones included",
     "io_sqe_buffer_register, io_clone_buffers"},
    {C::buffers_removed, "buffers_removed", "buffers", "buffers taken from a slot",
     "io_reset_rsrc_node, io_rsrc_data_free"},
    {C::pages_pinned, "pages_pinned", "pages", "pages of 4 KiB pinned for buffers",
     "io_pin_pages"},
    {C::request_free, "request_free", "requests", "requests given back to the slab allocator, not counting ring exit",
     "kmem_cache_free of req_cachep"},
    {C::request_cache_hit, "request_cache_hit", "requests", "requests that a request cache had ready",
     "io_req_cache_alloc"},
    {C::request_cache_miss, "request_cache_miss", "requests", "requests that a request cache did not have",
     "io_req_cache_alloc"},
    {C::request_cache_moved, "request_cache_moved", "requests", "requests moved from an alloc_list to its free_list",
     "io_req_cache_reclaim"},
    {C::request_cache_stolen, "request_cache_stolen", "requests", "requests taken back from a free_list",
     "io_req_cache_steal"},
    {C::request_shrunk, "request_shrunk", "requests", "requests given back under memory pressure",
     "io_uring_cache_shrink"},
    {C::request_reaped, "request_reaped", "requests", "requests given back because their CPU went offline",
     "io_uring_notify_dead"},
    {C::request_fallback, "request_fallback", "requests", "times that a ring's one spare request was needed",
     "io_get_fallback_req"},
    {C::request_on_stack, "request_on_stack", "requests", "requests that lived on the stack",
     "on-stack patch of 2020"},
    {C::request_copied, "request_copied", "requests", "of those, copied because they did not complete at once",
     "on-stack patch of 2020"},
    {C::request_irq_completions, "request_irq_completions", "requests", "requests completed from interrupt context",
     "io_complete_rw"},
    {C::request_punts, "request_punts", "requests", "requests handed to an io-wq worker",
     "io_queue_async_work"},
    {C::request_new_slabs, "request_new_slabs", "slabs", "slabs that the page allocator gave to the cache that holds requests",
     "allocate_slab"},
    {C::request_freed_slabs, "request_freed_slabs", "slabs", "slabs of that cache given back",
     "discard_slab"},
    {C::request_slab_alloc_slow, "request_slab_alloc_slow", "calls", "request allocations off the fast path",
     "mm/slub.c"},
    {C::request_slab_get_partial, "request_slab_get_partial", "slabs", "slabs of requests taken from the node's partial list",
     "mm/slub.c"},
    {C::request_slab_free_slow, "request_slab_free_slow", "calls", "request frees off the fast path (__slab_free)",
     "mm/slub.c"},
    {C::request_slab_put_cpu_partial, "request_slab_put_cpu_partial", "slabs", "slabs of requests put on a CPU's partial list by a free",
     "mm/slub.c"},
    {C::wakeups, "wakeups", "wake-ups", "sleeping tasks woken by another task", "try_to_wake_up"},
    {C::wakeups_ipi, "wakeups_ipi", "interrupts",
     "of those, and of signals, how many had to send an interrupt", "ttwu_queue, kick_process"},
    {C::wakeups_skipped, "wakeups_skipped", "adds",
     "work added without a wake-up: nobody waits, too few yet, or woken already", "io_defer_wake"},
    {C::wakeups_spurious, "wakeups_spurious", "wake-ups",
     "a waiter woke up and went back to sleep: fewer completions than it waits for",
     "io_cqring_wait"},
    {C::task_work_run, "task_work_run", "items", "items of generic task_work run", "task_work_run"},
    {C::local_work_run, "local_work_run", "items", "items of DEFER_TASKRUN local work run",
     "__io_run_local_work"},
    {C::msg_sent, "msg_sent", "messages", "MSG_RING requests issued without an error",
     "io_msg_ring"},
    {C::msg_cache_hit, "msg_cache_hit", "messages", "message memory that came from a msg_cache",
     "io_uring/msg_ring.c, 6.11 - 6.16; v3 series, patch 6"},
    {C::msg_cache_miss, "msg_cache_miss", "messages", "message memory that was allocated",
     "as msg_cache_hit"},
    {C::msg_punted, "msg_punted", "requests",
     "messages sent on to io-wq since the target's uring_lock was taken (-EAGAIN)",
     "io_double_lock_ctx, io_queue_async"},
}};

} // namespace

std::span<const CounterInfo> counter_table() {
    return table;
}

const CounterInfo& info(Counter counter) {
    return table.at(static_cast<std::size_t>(counter));
}

std::optional<Counter> find_counter(std::string_view name) {
    for (const CounterInfo& row : table) {
        if (row.name == name) {
            return row.id;
        }
    }
    return std::nullopt;
}

} // namespace uringsim::models
