#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::models {

/// How long an rsrc node lives, and who frees it.
enum class NodeLifetime : std::uint8_t { per_ring, per_node, per_ring_switched };

/// Which registrations fill the node cache ahead of use.
enum class Prefill : std::uint8_t { never, always, flag };

/// Where rsrc nodes are allocated.
enum class NodeSlab : std::uint8_t { kmalloc, dedicated };

/// What counts the users of a node that is switched once a call.
enum class NodeReferences : std::uint8_t { plain, atomic, percpu };
/// When completed requests are posted and freed: all of a submission together, or each by itself.
enum class RequestCompletion : std::uint8_t { batched, single };

/// How the two references of a request are dropped.
enum class RequestRefcount : std::uint8_t { none, plain, atomic };

/// Which version of the per-CPU request caches of 2020.
enum class RequestCacheVersion : std::uint8_t { v1, v2 };

/// Which slab allocator the kernel has.
enum class SlabKind : std::uint8_t { slub, slab, sheaves };

/// How kmem_cache_free_bulk gives objects of other slabs back: each by itself, or as lists.
enum class SlabBulkFree : std::uint8_t { each, detached };

/// How kmem_cache_alloc_bulk goes on when the CPU's freelist is empty: each further object is
/// allocated by itself, or the freelist is refilled and the loop goes on.
enum class SlabBulkAlloc : std::uint8_t { rest_singly, refill };

/// What bounds a CPU's list of partial slabs: their number, or their free objects when they came.
enum class SlabCpuPartial : std::uint8_t { slabs, objects };

/// How the target gets the CQE of a DATA message when it uses DEFER_TASKRUN.
enum class MsgData : std::uint8_t { direct, task_work, overflow, local_work };

/// How SEND_FD reaches a target that uses DEFER_TASKRUN.
enum class MsgFd : std::uint8_t { direct, task_work, overflow };

/// How a message reaches a target without DEFER_TASKRUN.
enum class MsgPlain : std::uint8_t { direct, overflow };

/// Where the memory of a message to a DEFER_TASKRUN ring is cached.
enum class MsgCache : std::uint8_t { none, target, mispaired };

/// When a message on the overflow list wakes the target.
enum class MsgWake : std::uint8_t { always, batched, batched_local };

/// In which order local work runs.
enum class LocalOrder : std::uint8_t { fifo, lifo };

/// Whose code the steps run, as far as their lengths were measured.
enum class KernelCode : std::uint8_t { v6_1, v6_12, v6_16, v6_18 };

/// How the kernel is built: every choice that a run may make, with the values of Linux 6.18.
/// Declared once more in knob_table(), which is what users see.
struct Design {
    std::string name = "linux-6.18";
    std::string summary;

    NodeLifetime node_lifetime = NodeLifetime::per_node;
    std::int64_t node_bytes = 24;
    std::string node_cache_policy = "io_alloc_cache";
    std::int64_t node_cache_limit = 128;
    std::int64_t node_cache_refill_batch = 1;
    Prefill node_cache_prefill = Prefill::never;
    std::int64_t node_cache_prefill_cap = 4096;
    std::int64_t node_cache_prefill_percent = 25;
    std::int64_t node_cache_trim_us = 10000;
    NodeSlab node_slab_kind = NodeSlab::kmalloc;
    bool node_slab_account = false;
    std::int64_t node_slab_prime = 0;
    bool slab_nomerge = false;
    bool slab_freelist_random = true;
    std::int64_t slab_resident = 8;
    std::int64_t slab_resident_live = 50;
    bool install_path_6_15 = true;
    bool file_table_tags = false;
    std::int64_t ring_exit_delay_us = 27500;
    NodeReferences node_references = NodeReferences::plain;
    bool node_list_lock = false;
    bool node_inline_item = true;
    bool node_deferred_free = false;
    bool node_data_atomic = false;
    std::int64_t node_put_delay_us = 1'000'000;
    std::int64_t kernel_hz = 250;
    std::int64_t possible_cpus = 0;
    KernelCode kernel_code = KernelCode::v6_18;
    bool buffer_imu_cache = true;
    bool buffer_coalesce = true;
    bool buffer_clone = true;
    bool buffer_clone_ranges = true;
    bool buffer_import_at_issue = true;
    std::string request_policy = "free_list";
    RequestCompletion request_completion = RequestCompletion::batched;
    RequestRefcount request_refcount = RequestRefcount::none;
    bool request_account = true;
    bool request_merge = false;
    std::int64_t request_slab_order = -1;
    RequestCacheVersion request_cache_version = RequestCacheVersion::v2;
    std::int64_t request_cache_limit = 256;
    std::int64_t request_cache_reclaim = 16;
    SlabKind slab_policy = SlabKind::slub;
    bool slab_debug = false;
    bool slab_freelist_hardened = false;
    bool slab_init_on_alloc = false;
    SlabBulkFree slab_bulk_free = SlabBulkFree::detached;
    SlabBulkAlloc slab_bulk_alloc = SlabBulkAlloc::refill;
    SlabCpuPartial slab_cpu_partial = SlabCpuPartial::slabs;
    std::int64_t slab_sheaf_capacity = 0;
    std::int64_t slab_other_users = 0;
    MsgData msg_data = MsgData::local_work;
    MsgFd msg_fd = MsgFd::task_work;
    MsgPlain msg_plain = MsgPlain::direct;
    bool msg_own_task_direct = false;
    MsgCache msg_cache = MsgCache::none;
    std::int64_t msg_cache_limit = 128;
    MsgWake msg_wake = MsgWake::always;
    bool msg_free_rcu = true;
    LocalOrder local_order = LocalOrder::fifo;
    bool local_counting = true;
    std::int64_t local_cap = 20;
};

enum class KnobType : std::uint8_t { integer, boolean, choice };

/// One row of the table that declares the knobs. Values travel as integers: a boolean is 0 or 1, a
/// choice is the index of its name in choices().
struct Knob {
    std::string_view name;
    KnobType type;
    std::string_view unit; ///< empty where the value is a number of nothing
    std::int64_t min;
    std::int64_t max;
    std::string_view help;
    std::string_view source;
    std::span<const std::string_view> (*choices)(); ///< nullptr but for choices
    std::int64_t (*get)(const Design&);
    void (*set)(Design&, std::int64_t);

    std::int64_t default_value() const { return get(Design{}); }

    /// A value as users write it: 128, true, always.
    std::string format(std::int64_t value) const;

    /// What is allowed, for messages: "a whole number from 0 to 65536 (nodes)".
    std::string allowed() const;
};

std::span<const Knob> knob_table();

/// By name; nullptr where there is no such knob.
const Knob* find_knob(std::string_view name);

/// Names of all knobs, for suggestions.
std::vector<std::string_view> knob_names();

/// Says what makes a combination of values senseless, one line each; empty when it is sound.
std::vector<std::string> conflicts(const Design& design);

} // namespace uringsim::models
