#pragma once

#include "sim/cost.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace uringsim::models {

/// The smallest steps that have a cost. Names follow the kernel's functions where there is one.
/// The order is that of primitive_table().
enum class Primitive : std::uint16_t {
    // memory: where a line that is not in L1 is found
    line_l2,
    line_llc,
    line_memory,
    line_remote,
    line_aged,
    line_cold_code,
    // scheduler
    context_switch,
    waiting,
    lock_wait,
    // user side
    sqe_prepare,
    cqe_reap,
    // system calls
    syscall_enter,
    syscall_register,
    ring_setup,
    ring_close,
    // requests
    sqe_submit,
    request_bulk_refill,
    request_complete,
    nop_issue,
    poll_issue,
    msg_ring_issue,
    msg_data_issue,
    // completion queue
    cqe_post,
    cqe_overflow,
    cqe_overflow_flush,
    // files and the fixed-file table
    file_get,
    file_put,
    bitmap_find,
    bitmap_scan_word,
    fixed_file_install,
    install_path_6_15,
    files_update_call,
    fixed_file_remove,
    table_walk_slot,
    register_files_call,
    // rsrc nodes and their cache
    node_init,
    node_put,
    rsrc_removal_queue,
    alloc_cache_pop,
    alloc_cache_push,
    alloc_cache_miss,
    alloc_cache_grow,
    // SLUB
    slub_alloc_fast,
    slub_alloc_slow,
    slub_get_partial,
    slub_new_slab,
    slub_shuffle_object,
    slub_free_fast,
    slub_free_slow,
    slub_put_partials,
    slub_free_slab,
    slub_bulk_call,
    slub_bulk_object,
    slub_cache_check,
    memcg_charge,
    memcg_uncharge,
    // pages
    page_alloc,
    page_refill,
    page_free,
    page_drain,
    zero_line,
    // ring exit
    ring_exit,
    ring_exit_slot,
    // percpu memory and percpu_ref
    percpu_alloc,
    percpu_zero_cpu,
    percpu_populate_page,
    percpu_free,
    percpu_count,
    percpu_ref_kill,
    percpu_sum_cpu,
    atomic_count,
    spinlock,
    // RCU, softirqs, workqueues
    call_rcu,
    rcu_callback,
    softirq,
    work_queue,
    work_start,
    put_work_node,
    // registered buffers
    buffers_register_call,
    buffer_register,
    pin_call,
    pin_page,
    pin_huge_page,
    pin_tail_page,
    unpin_page,
    memlock_account,
    // request designs of 2020
    preempt_disable,
    irq_disable,
    irq_entry,
    request_complete_single,
    request_refcount_plain,
    request_refcount_atomic,
    request_io_kfree,
    request_cache_pop,
    request_cache_push,
    request_cache_move,
    request_stack_flag,
    request_recycle,
    request_copy,
    io_wq_punt,
    io_wq_work,
    shrinker_call,
    // slab variants
    slub_bulk_free_call,
    slub_bulk_free_object,
    slub_freelist_pointer,
    slub_debug_check,
    slab_array_pop,
    slab_array_push,
    slab_array_refill,
    slab_array_flush,
    slab_array_move,
    slab_object_get,
    slab_object_put,
    sheaf_pop,
    sheaf_push,
    sheaf_swap,
    barn_exchange,
    sheaf_refill,
    sheaf_refill_object,
    sheaf_flush,
    sheaf_flush_object,
    slab_bench_round,
    // two CPUs and more: scheduling, task_work, messages
    schedule_out,
    idle_exit,
    wake_check,
    wake_task,
    wake_ipi,
    signal_interrupt,
    cold_entry,
    cold_wake,
    noise,
    user_pause,
    cqring_wait,
    task_work_add,
    task_work_run,
    local_work_add,
    local_work_run,
    msg_task_work,
    msg_overflow_add,
    msg_local_work,
    // slab allocators again: a primitive's number is part of every fingerprint, so new ones come last
    slub_bulk_latency,
    // requests that use registered buffers
    buffer_import,
    read_issue,
    count_
};

inline constexpr std::size_t primitive_count = static_cast<std::size_t>(Primitive::count_);

/// One row of the table that declares the primitives.
struct PrimitiveInfo {
    Primitive id;
    std::string_view name;
    double default_cycles; ///< on a 3.6 GHz P-core, for machines that do not say
    double min_cycles;     ///< the physical range: a fit must stay inside
    double max_cycles;
    std::string_view help;
    std::string_view source; ///< where the range and the default come from
};

std::span<const PrimitiveInfo> primitive_table();

const PrimitiveInfo& info(Primitive primitive);

/// By name; nothing where there is no such primitive.
std::optional<Primitive> find_primitive(std::string_view name);

constexpr sim::PrimitiveId id(Primitive primitive) {
    return static_cast<sim::PrimitiveId>(primitive);
}

} // namespace uringsim::models
