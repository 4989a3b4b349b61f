#include "models/primitives.h"

#include <array>

namespace uringsim::models {

namespace {

using P = Primitive;

constexpr std::string_view line_source =
    "latencies of a 12th-generation P-core after overlap of neighbouring misses; prototype fit";
constexpr std::string_view split_source =
    "a share of the 96 ns that the prototype fit gave to one SEND_FD install; the split between the "
    "steps is assumed, only the sum is determined";
constexpr std::string_view slub_source =
    "prototype fit to the RFC's figures; order of size from the 2015 bulk-allocation figures "
    "(42 cycles a fast path)";
constexpr std::string_view updates_source =
    "assumed; the 2023 figures determine only the sum of an update's fixed costs";
constexpr std::string_view pair_source =
    "a few cycles each on x86; cli and sti some more, and dearer in some guests; assumed";
constexpr std::string_view kiocb_source =
    "prototype fit to the NOP rates of the 2020 thread: 466 cycles a request in all";
constexpr std::string_view bulk_source = "order of size from the 2015 bulk-free figures";
constexpr std::string_view slab_source =
    "SLAB's fast path of 95 cycles for an allocation and a free (2015, i7-4790K)";
constexpr std::string_view sheaf_source = "order of size from the figures of the sheaves v7 series";
constexpr std::string_view assumed = "assumed; no published figure depends on it";

constexpr std::array<PrimitiveInfo, primitive_count> table{{
    {P::line_l2, "line_l2", 3.6, 1, 15, "a line found in L2, after overlap", line_source},
    {P::line_llc, "line_llc", 23.8, 8, 70, "a line found in the last-level cache, after overlap",
     line_source},
    {P::line_memory, "line_memory", 23.8, 8, 300,
     "a line not touched before by this run, or fallen out of the last level", line_source},
    {P::line_remote, "line_remote", 67, 20, 400, "a line last touched by another CPU", line_source},
    {P::line_aged, "line_aged", 51.5, 10, 200, "a data line after a long idle gap", line_source},
    {P::line_cold_code, "line_cold_code", 44.6, 10, 200,
     "a line of instructions after a long idle gap, or at first use", line_source},
    {P::context_switch, "context_switch", 3600, 1000, 12000,
     "one task gives way to another on the same CPU", assumed},
    {P::waiting, "waiting", 0, 0, 0,
     "time in which a task did not run: asleep, blocked or queued; its length comes from the run",
     "the engine"},
    {P::lock_wait, "lock_wait", 0, 0, 0,
     "time spent spinning on a lock that another CPU holds; its length comes from the run",
     "the engine"},
    {P::sqe_prepare, "sqe_prepare", 18, 5, 60, "user side: fill in one SQE", split_source},
    {P::cqe_reap, "cqe_reap", 9, 3, 40, "user side: read one CQE and advance the head",
     split_source},
    {P::syscall_enter, "syscall_enter", 360, 150, 1500,
     "one io_uring_enter: entry, look-up of the ring, exit", "prototype fit; 167 - 185 ns in a VM"},
    {P::syscall_register, "syscall_register", 400, 150, 1500,
     "one io_uring_register: entry, look-up of the ring, exit", "as syscall_enter"},
    {P::ring_setup, "ring_setup", 36000, 3600, 360000,
     "io_uring_setup without its memory; outside every timed phase", assumed},
    {P::ring_close, "ring_close", 3600, 500, 36000,
     "close of a ring: kills the reference, queues the exit work", assumed},
    {P::sqe_submit, "sqe_submit", 60, 20, 150,
     "io_submit_sqes, one SQE: fetch, request from the free list, io_init_req", split_source},
    {P::request_bulk_refill, "request_bulk_refill", 120, 40, 400,
     "__io_alloc_req_refill: the call that asks for 8 requests", assumed},
    {P::request_complete, "request_complete", 30, 10, 100,
     "__io_submit_flush_completions and io_free_batch_list, one request", split_source},
    {P::nop_issue, "nop_issue", 15, 3, 60, "io_nop", "72 ns a NOP in a batch of 32 in a VM"},
    {P::poll_issue, "poll_issue", 150, 50, 600, "io_poll_add, armed", assumed},
    {P::msg_ring_issue, "msg_ring_issue", 100, 30, 250,
     "io_msg_ring with SEND_FD: checks, the file, the target's uring_lock", split_source},
    {P::msg_data_issue, "msg_data_issue", 60, 20, 250, "io_msg_ring with DATA, posted directly",
     split_source},
    {P::cqe_post, "cqe_post", 22, 8, 80, "fill in one CQE, kernel side", split_source},
    {P::cqe_overflow, "cqe_overflow", 50, 15, 200,
     "io_cqring_event_overflow, without the allocation of the entry", assumed},
    {P::cqe_overflow_flush, "cqe_overflow_flush", 40, 15, 200,
     "__io_cqring_overflow_flush, one entry, without the free", assumed},
    {P::file_get, "file_get", 20, 5, 60, "one atomic increment of a file's reference count",
     "2.0 - 2.4 ns a locked add, measured in a VM; 20 cycles on the i7"},
    {P::file_put, "file_put", 20, 5, 60, "one atomic decrement of a file's reference count",
     "as file_get"},
    {P::bitmap_find, "bitmap_find", 20, 5, 60,
     "io_file_bitmap_get: find the first free slot from the hint on", split_source},
    {P::bitmap_scan_word, "bitmap_scan_word", 2, 1, 8, "one more full word of the bitmap", assumed},
    {P::fixed_file_install, "fixed_file_install", 34, 10, 100,
     "io_install_fixed_file: checks, store of the slot, bitmap bit and hint", split_source},
    {P::install_path_6_15, "install_path_6_15", 13.3, 0, 40,
     "what an install costs more from 6.15 on and no known step explains",
     "the difference between 7029acd8 (114.4 ns) and 6.18-rc4 (119.4 ns) less the cache's miss"},
    {P::files_update_call, "files_update_call", 300, 30, 1500,
     "__io_sqe_files_update: the call, without its slots", "prototype fit: 190 ns with the entry"},
    {P::fixed_file_remove, "fixed_file_remove", 100, 30, 250,
     "remove one installed file: copy the fd, clear slot and bit", "prototype fit: 33 ns a slot"},
    {P::table_walk_slot, "table_walk_slot", 0.8, 0.2, 10, "one slot of a walk over a table", assumed},
    {P::register_files_call, "register_files_call", 500, 100, 4000,
     "io_sqe_files_register, without its memory and slots", assumed},
    {P::node_init, "node_init", 4, 1, 20, "io_rsrc_node_alloc: set type, refs and tag", assumed},
    {P::node_put, "node_put", 8, 2, 30, "io_put_rsrc_node and io_free_rsrc_node", assumed},
    {P::rsrc_removal_queue, "rsrc_removal_queue", 30, 10, 120,
     "io_queue_rsrc_removal (up to 6.12): node switch and the put of the old one", assumed},
    {P::alloc_cache_pop, "alloc_cache_pop", 3.2, 1, 15, "io_alloc_cache_get, hit",
     "prototype fit: 0.9 ns"},
    {P::alloc_cache_push, "alloc_cache_push", 5, 1, 20, "io_alloc_cache_put with room",
     "prototype fit: 1.4 ns"},
    {P::alloc_cache_miss, "alloc_cache_miss", 4.3, 1, 20, "io_alloc_cache_get, empty",
     "prototype fit: 1.2 ns"},
    {P::alloc_cache_grow, "alloc_cache_grow", 200, 50, 2000,
     "grow the cache's pointer array, without its memory", assumed},
    {P::slub_alloc_fast, "slub_alloc_fast", 15.8, 8, 45, "allocation from the CPU's freelist",
     slub_source},
    {P::slub_alloc_slow, "slub_alloc_slow", 140, 50, 400,
     "___slab_alloc: the CPU's freelist is empty", slub_source},
    {P::slub_get_partial, "slub_get_partial", 212, 60, 600,
     "get_partial_node: one slab taken from the node's list", slub_source},
    {P::slub_new_slab, "slub_new_slab", 400, 150, 4000,
     "allocate_slab with the writes to its lines, without the page and the freelist's shuffle",
     slub_source},
    {P::slub_shuffle_object, "slub_shuffle_object", 2, 1, 60,
     "shuffle_freelist: one object put in its place",
     "low end assumed: whether the RFC's kernel shuffled is unknown; about 18,800 instructions a "
     "slab of 128 in all on the instruction clock of 6.18"},
    {P::slub_free_fast, "slub_free_fast", 18, 8, 45, "free into the CPU's current slab",
     slub_source},
    {P::slub_free_slow, "slub_free_slow", 79, 30, 200, "__slab_free: free into another slab",
     slub_source},
    {P::slub_put_partials, "slub_put_partials", 60, 20, 300,
     "one slab moved from the CPU's partial list to the node's", assumed},
    {P::slub_free_slab, "slub_free_slab", 569, 150, 2500, "discard_slab, without the page",
     slub_source},
    {P::slub_bulk_call, "slub_bulk_call", 108, 8, 400, "kmem_cache_alloc_bulk: the call",
     slub_source},
    {P::slub_bulk_object, "slub_bulk_object", 19.8, 4, 60,
     "kmem_cache_alloc_bulk: one object from the freelist", slub_source},
    {P::slub_cache_check, "slub_cache_check", 3, 1, 15,
     "kmem_cache_free: that the object is of the cache it is given back to; kfree need not ask",
     "cache_from_obj with CONFIG_SLAB_FREELIST_HARDENED, mm/slub.c (6.18); chosen after the sign of "
     "rfc-reuse-removal-B against U, which no other step explains"},
    {P::memcg_charge, "memcg_charge", 39, 15, 90, "charge of one object to the memory cgroup",
     "10 - 12 ns derived from the RFC's SLAB_ACCOUNT figures"},
    {P::memcg_uncharge, "memcg_uncharge", 30, 10, 90, "uncharge of one object", assumed},
    {P::page_alloc, "page_alloc", 150, 40, 600, "pages from the CPU's list", assumed},
    {P::page_refill, "page_refill", 30, 10, 200,
     "one block moved from the buddy allocator to the CPU's list", assumed},
    {P::page_free, "page_free", 100, 30, 600, "pages to the CPU's list", assumed},
    {P::page_drain, "page_drain", 30, 10, 200,
     "one block moved from the CPU's list to the buddy allocator", assumed},
    {P::zero_line, "zero_line", 4, 0.5, 16, "clear one line of many in sequence",
     "32 bytes a cycle from L1, less from farther away"},
    {P::ring_exit, "ring_exit", 36000, 3600, 3600000,
     "io_ring_exit_work without its slots; on another CPU", assumed},
    {P::ring_exit_slot, "ring_exit_slot", 20, 5, 100, "ring exit: one installed file dropped",
     assumed},
    {P::percpu_alloc, "percpu_alloc", 400, 80, 2500,
     "pcpu_alloc without its loop: mutex, pcpu_lock, search of the chunk's bitmap", updates_source},
    {P::percpu_zero_cpu, "percpu_zero_cpu", 26, 4, 120,
     "pcpu_alloc: find and clear the copy of one possible CPU",
     "2.8 - 5.8 ns a CPU in a dense loop in a VM; remote lines add to it"},
    {P::percpu_populate_page, "percpu_populate_page", 300, 100, 2000,
     "pcpu_populate_chunk: one page for one possible CPU, allocated and mapped", assumed},
    {P::percpu_free, "percpu_free", 300, 50, 2500,
     "free_percpu: pcpu_lock, bitmap and block hints", updates_source},
    {P::percpu_count, "percpu_count", 8, 2, 30, "percpu_ref_get or _put, percpu mode", assumed},
    {P::percpu_ref_kill, "percpu_ref_kill", 60, 20, 300,
     "percpu_ref_kill_and_confirm, without call_rcu", assumed},
    {P::percpu_sum_cpu, "percpu_sum_cpu", 26, 4, 120,
     "percpu_ref_switch_to_atomic_rcu: find and add the counter of one possible CPU",
     "2.5 - 3.6 ns a CPU in a dense loop in a VM; remote lines add to it"},
    {P::atomic_count, "atomic_count", 20, 5, 60, "one atomic change of a count", "as file_get"},
    {P::spinlock, "spinlock", 40, 15, 150, "take and drop a spinlock, interrupts off", assumed},
    {P::call_rcu, "call_rcu", 80, 20, 400, "call_rcu: queue one callback", assumed},
    {P::rcu_callback, "rcu_callback", 40, 10, 200,
     "rcu_do_batch: take one callback and call it, without what it does", assumed},
    {P::softirq, "softirq", 500, 150, 3000, "enter and leave softirq context with rcu_core",
     assumed},
    {P::work_queue, "work_queue", 250, 60, 1500, "mod_delayed_work: arm or move the timer", assumed},
    {P::work_start, "work_start", 500, 100, 4000, "a kworker takes up a work", assumed},
    {P::put_work_node, "put_work_node", 300, 30, 6000,
     "io_rsrc_put_work: one node, without what is charged elsewhere: the walk over nodes that have "
     "cooled for a second, and a free_percpu that searches long bitmaps",
     "assumed; determined only by the difference between pinned and not on the big box of 2023"},
    {P::buffers_register_call, "buffers_register_call", 500, 100, 4000,
     "io_sqe_buffers_register, without its memory and buffers", assumed},
    {P::buffer_register, "buffer_register", 150, 40, 800,
     "io_sqe_buffer_register: checks and bookkeeping of one buffer", assumed},
    {P::pin_call, "pin_call", 700, 200, 3000, "pin_user_pages: the call, with mmap_lock", assumed},
    {P::pin_page, "pin_page", 60, 20, 300, "pin one page: page-table walk and one atomic", assumed},
    {P::pin_huge_page, "pin_huge_page", 80, 20, 400, "pin one huge page: one atomic for all of it",
     assumed},
    {P::pin_tail_page, "pin_tail_page", 3, 1, 20,
     "enter one page of a huge page into the array, and look at it when coalescing", assumed},
    {P::unpin_page, "unpin_page", 40, 10, 300, "unpin_user_folio", assumed},
    {P::memlock_account, "memlock_account", 40, 10, 200, "charge pages to RLIMIT_MEMLOCK: atomics",
     assumed},
    {P::preempt_disable, "preempt_disable", 4, 1, 20, "preemption off and on again", pair_source},
    {P::irq_disable, "irq_disable", 14, 4, 120, "interrupts off and on again (cli, sti)",
     pair_source},
    {P::irq_entry, "irq_entry", 1200, 300, 12000, "one interrupt: entry, handler's frame, return",
     assumed},
    {P::request_complete_single, "request_complete_single", 90, 20, 300,
     "io_cqring_add_event and __io_free_req: completion_lock with interrupts off, barriers, "
     "io_cqring_ev_posted, percpu_ref_put; without the CQE, the references and the request's memory",
     kiocb_source},
    {P::request_refcount_plain, "request_refcount_plain", 2, 0.5, 6, "drop a reference, not atomic",
     "one add and a test"},
    {P::request_refcount_atomic, "request_refcount_atomic", 20, 15, 60,
     "drop a reference by a locked operation", "as file_get"},
    {P::request_io_kfree, "request_io_kfree", 5, 2, 12, "kfree(req->io) of a null pointer",
     kiocb_source},
    {P::request_cache_pop, "request_cache_pop", 20, 5, 60,
     "io_req_cache_alloc: per-CPU look-up, list_del, counter; without the exclusion", kiocb_source},
    {P::request_cache_push, "request_cache_push", 20, 5, 60,
     "io_req_cache_free: per-CPU look-up, list_add, counter; without the exclusion", kiocb_source},
    {P::request_cache_move, "request_cache_move", 8, 3, 40,
     "one request moved between the lists of a per-CPU cache", assumed},
    {P::request_stack_flag, "request_stack_flag", 2, 1, 10,
     "a request on the stack: the look-up of stack_req and the flag", kiocb_source},
    {P::request_recycle, "request_recycle", 4, 1, 20,
     "take ctx->cache_req, or put it back, under uring_lock", assumed},
    {P::request_copy, "request_copy", 24, 8, 80, "copy a request of 240 bytes", assumed},
    {P::io_wq_punt, "io_wq_punt", 900, 200, 9000,
     "io_queue_async_work: queue the work, wake a worker", assumed},
    {P::io_wq_work, "io_wq_work", 400, 100, 4000, "io_worker_handle_work, one request", assumed},
    {P::shrinker_call, "shrinker_call", 500, 100, 5000, "a call of the shrinker, without the frees",
     assumed},
    {P::slub_bulk_free_call, "slub_bulk_free_call", 30, 0.5, 200, "kmem_cache_free_bulk: the call",
     bulk_source},
    {P::slub_bulk_free_object, "slub_bulk_free_object", 9, 2, 40,
     "kmem_cache_free_bulk: one object put on the CPU's freelist or on a list for its slab",
     bulk_source},
    {P::slub_freelist_pointer, "slub_freelist_pointer", 3, 1, 12,
     "encode or decode one free pointer: two exclusive ors, a byte swap and the load of the key",
     assumed},
    {P::slub_debug_check, "slub_debug_check", 250, 60, 1500,
     "alloc_debug_processing or free_debug_processing: checks of the slab and of one object",
     assumed},
    {P::slab_array_pop, "slab_array_pop", 40, 15, 70,
     "____cache_alloc with interrupts off and on: from the CPU's array", slab_source},
    {P::slab_array_push, "slab_array_push", 50, 15, 90,
     "___cache_free with interrupts off and on: to the CPU's array", slab_source},
    {P::slab_array_refill, "slab_array_refill", 120, 30, 600,
     "cache_alloc_refill: the call, with the node's lock", assumed},
    {P::slab_array_flush, "slab_array_flush", 120, 30, 600,
     "cache_flusharray: the call, with the node's lock", assumed},
    {P::slab_array_move, "slab_array_move", 3, 1, 15,
     "one object moved between an array and the shared one", assumed},
    {P::slab_object_get, "slab_object_get", 12, 4, 60, "slab_get_obj: one object from a slab",
     assumed},
    {P::slab_object_put, "slab_object_put", 25, 8, 90, "free_block: one object back to its slab",
     assumed},
    {P::sheaf_pop, "sheaf_pop", 20, 6, 60, "alloc_from_pcs: from the CPU's main sheaf",
     sheaf_source},
    {P::sheaf_push, "sheaf_push", 22, 6, 60, "free_to_pcs: to the CPU's main sheaf", sheaf_source},
    {P::sheaf_swap, "sheaf_swap", 10, 3, 60, "main and spare sheaf exchanged", assumed},
    {P::barn_exchange, "barn_exchange", 60, 20, 300,
     "a sheaf exchanged with the barn, under its lock", assumed},
    {P::sheaf_refill, "sheaf_refill", 150, 40, 800, "refill_sheaf: the call, with the node's lock",
     assumed},
    {P::sheaf_refill_object, "sheaf_refill_object", 10, 3, 80, "one object from a slab to a sheaf",
     assumed},
    {P::sheaf_flush, "sheaf_flush", 100, 30, 600, "sheaf_flush_unused: the call", assumed},
    {P::sheaf_flush_object, "sheaf_flush_object", 25, 5, 120,
     "one object from a sheaf back to its slab", assumed},
    {P::slab_bench_round, "slab_bench_round", 10, 0, 80,
     "a benchmark of the slab allocator: one round of its loop and its two calls", bulk_source},
}};

} // namespace

std::span<const PrimitiveInfo> primitive_table() {
    return table;
}

const PrimitiveInfo& info(Primitive primitive) {
    return table.at(static_cast<std::size_t>(primitive));
}

std::optional<Primitive> find_primitive(std::string_view name) {
    for (const PrimitiveInfo& row : table) {
        if (row.name == name) {
            return row.id;
        }
    }
    return std::nullopt;
}

} // namespace uringsim::models
