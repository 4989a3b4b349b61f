#include "models/design.h"

#include "models/uring/node_cache.h"
#include "models/uring/request_policy.h"

#include <algorithm>
#include <array>

namespace uringsim::models {

namespace {

using Choices = std::span<const std::string_view>;

constexpr std::array<std::string_view, 3> lifetime_names{"per_ring", "per_node", "per_ring_switched"};
constexpr std::array<std::string_view, 4> code_names{"6.1", "6.12", "6.16", "6.18"};
constexpr std::array<std::string_view, 3> prefill_names{"never", "always", "flag"};
constexpr std::array<std::string_view, 2> slab_names{"kmalloc", "dedicated"};
constexpr std::array<std::string_view, 3> reference_names{"plain", "atomic", "percpu"};
constexpr std::array<std::string_view, 2> completion_names{"batched", "single"};
constexpr std::array<std::string_view, 3> refcount_names{"none", "plain", "atomic"};
constexpr std::array<std::string_view, 2> version_names{"v1", "v2"};
constexpr std::array<std::string_view, 3> slab_policy_names{"slub", "slab", "sheaves"};
constexpr std::array<std::string_view, 2> bulk_free_names{"each", "detached"};
constexpr std::array<std::string_view, 2> bulk_alloc_names{"rest_singly", "refill"};
constexpr std::array<std::string_view, 2> cpu_partial_names{"slabs", "objects"};

constexpr std::array<std::string_view, 4> msg_data_names{"direct", "task_work", "overflow",
                                                         "local_work"};
constexpr std::array<std::string_view, 3> msg_fd_names{"direct", "task_work", "overflow"};
constexpr std::array<std::string_view, 2> msg_plain_names{"direct", "overflow"};
constexpr std::array<std::string_view, 3> msg_cache_names{"none", "target", "mispaired"};
constexpr std::array<std::string_view, 3> msg_wake_names{"always", "batched", "batched_local"};
constexpr std::array<std::string_view, 2> local_order_names{"fifo", "lifo"};

Choices msg_data_choices() {
    return msg_data_names;
}
Choices msg_fd_choices() {
    return msg_fd_names;
}
Choices msg_plain_choices() {
    return msg_plain_names;
}
Choices msg_cache_choices() {
    return msg_cache_names;
}
Choices msg_wake_choices() {
    return msg_wake_names;
}
Choices local_order_choices() {
    return local_order_names;
}
Choices code_choices() {
    return code_names;
}
Choices lifetime_choices() {
    return lifetime_names;
}
Choices prefill_choices() {
    return prefill_names;
}
Choices reference_choices() {
    return reference_names;
}
Choices slab_choices() {
    return slab_names;
}
Choices completion_choices() {
    return completion_names;
}
Choices refcount_choices() {
    return refcount_names;
}
Choices version_choices() {
    return version_names;
}
Choices slab_policy_choices() {
    return slab_policy_names;
}
Choices cpu_partial_choices() {
    return cpu_partial_names;
}
Choices bulk_alloc_choices() {
    return bulk_alloc_names;
}
Choices bulk_free_choices() {
    return bulk_free_names;
}

/// Reads a member of Design as an integer, whatever its type.
template <auto member> std::int64_t get_member(const Design& design) {
    return static_cast<std::int64_t>(design.*member);
}

/// Writes a member of Design from an integer, whatever its type.
template <auto member> void set_member(Design& design, std::int64_t value) {
    using Value = std::remove_cvref_t<decltype(design.*member)>;
    design.*member = static_cast<Value>(value);
}

std::int64_t get_policy(const Design& design) {
    const Choices names = node_cache_policy_names();
    return std::ranges::find(names, std::string_view(design.node_cache_policy)) - names.begin();
}

void set_policy(Design& design, std::int64_t value) {
    design.node_cache_policy = std::string(node_cache_policy_names()[static_cast<std::size_t>(value)]);
}

std::int64_t get_request_policy(const Design& design) {
    const Choices names = request_policy_names();
    return std::ranges::find(names, std::string_view(design.request_policy)) - names.begin();
}

void set_request_policy(Design& design, std::int64_t value) {
    design.request_policy = std::string(request_policy_names()[static_cast<std::size_t>(value)]);
}

template <auto member>
constexpr Knob integer(std::string_view name, std::string_view unit, std::int64_t min,
                       std::int64_t max, std::string_view help, std::string_view source) {
    return {name,   KnobType::integer, unit, min, max, help, source, nullptr, &get_member<member>,
            &set_member<member>};
}

template <auto member>
constexpr Knob boolean(std::string_view name, std::string_view help, std::string_view source) {
    return {name, KnobType::boolean, "", 0, 1, help, source, nullptr, &get_member<member>,
            &set_member<member>};
}

template <auto member>
constexpr Knob choice(std::string_view name, Choices (*choices)(), std::string_view help,
                      std::string_view source) {
    return {name,    KnobType::choice,    "",                  0, 0, help, source,
            choices, &get_member<member>, &set_member<member>};
}

const std::array<Knob, 62> table{{
    choice<&Design::node_lifetime>(
        "node.lifetime", &lifetime_choices,
        "per_ring: installs take no node; removals queue on the ring's current node and are "
        "released in order. per_node: every installed file has a node of its own. "
        "per_ring_switched: as per_ring, but one node a call instead of one a removed slot.",
        "per_ring 6.4 - 6.12; per_node from 7029acd8a950 (6.13) on; per_ring_switched up to 6.3"),
    integer<&Design::node_bytes>("node.bytes", "bytes", 8, 192,
                                 "size of struct io_rsrc_node; decides the slab it comes from",
                                 "48 up to 6.12, 32 at 7029acd8, 24 from 6.15 on (BTF of 6.18)"),
    {"node_cache.policy", KnobType::choice, "", 0, 0,
     "who keeps released nodes and what a miss does; `list policies` explains each",
     "io_uring/alloc_cache.h; models/uring/node_cache_registry.cpp", &node_cache_policy_names,
     &get_policy, &set_policy},
    integer<&Design::node_cache_limit>(
        "node_cache.limit", "nodes", 0, 1 << 20,
        "how many released nodes a ring keeps; 0: no cache, nodes go back to the slab allocator",
        "IO_ALLOC_CACHE_MAX: 128 (6.15+); none in 6.13 - 6.14; 32 nodes up to 6.12"),
    integer<&Design::node_cache_refill_batch>(
        "node_cache.refill_batch", "nodes", 1, 4096,
        "how many nodes a miss allocates: 1 by kmalloc, more by kmem_cache_alloc_bulk",
        "1 in mainline; 32 in RFC patch 0002"),
    choice<&Design::node_cache_prefill>(
        "node_cache.prefill", &prefill_choices,
        "when the registration of a sparse table grows and fills the cache: never, always, or only "
        "when the registration carries the opt-in flag",
        "RFC patch 0003 (always) and the alternative that its cover letter asks about (flag)"),
    integer<&Design::node_cache_prefill_cap>(
        "node_cache.prefill_cap", "nodes", 1, 1 << 20,
        "the most that a registration prefills, whatever the table's size", "RFC patch 0003: 4096"),
    integer<&Design::node_cache_prefill_percent>(
        "node_cache.prefill_percent", "percent", 0, 100,
        "for policy prefill_fraction: how much of the raised limit a sparse registration fills",
        "our own proposal; no kernel has it"),
    integer<&Design::node_cache_trim_us>(
        "node_cache.trim_us", "us", 1, 1'000'000'000,
        "for policy trimmed: how long the cache is left alone before it is trimmed to its limit",
        "our own proposal; no kernel has it"),
    choice<&Design::node_slab_kind>(
        "node_slab.kind", &slab_choices,
        "kmalloc: nodes come from kmalloc-N. dedicated: from a kmem_cache of their own, which SLUB "
        "merges with kmalloc-N unless told not to",
        "kmalloc in mainline; dedicated in RFC patch 0001"),
    boolean<&Design::node_slab_account>("node_slab.account",
                                        "nodes are charged to the memory cgroup (SLAB_ACCOUNT)",
                                        "off from 6.13 on; tried and removed by the RFC"),
    integer<&Design::node_slab_prime>(
        "node_slab.prime", "nodes", 0, 1 << 20,
        "the registration of a sparse table first makes slabs for this many nodes and leaves them "
        "on the partial list, so that a fill needs no new page",
        "the diagnostic patch behind the RFC's row \"slab primed, 0 new pages\""),
    boolean<&Design::slab_nomerge>(
        "slab.nomerge", "boot option slab_nomerge: a dedicated cache keeps its own slabs",
        "mm/slab_common.c"),
    boolean<&Design::slab_freelist_random>(
        "slab.freelist_random", "a new slab's freelist is shuffled (CONFIG_SLAB_FREELIST_RANDOM)",
        "on in Debian's kernels and on the host of the native runs; unknown for the RFC's machine"),
    integer<&Design::slab_resident>(
        "slab.resident", "slabs", 0, 1024,
        "partly filled slabs on the partial list of kmalloc-N when the run starts, left by other "
        "users of that size",
        "an input: 8 reproduces the slab moves seen on a booted 6.18 host"),
    boolean<&Design::install_path_6_15>(
        "install.path_6_15",
        "charge the part of an install from 6.15 on that no known step explains",
        "114.4 ns at 7029acd8 against 119.4 ns at 6.18-rc4"),
    boolean<&Design::file_table_tags>("file_table.tags",
                                      "registration allocates tag tables of 8 bytes a slot",
                                      "io_rsrc_data_alloc, up to 6.12"),
    integer<&Design::ring_exit_delay_us>(
        "ring_exit.delay_us", "us", 0, 10'000'000,
        "from close of a ring to the start of its exit work, on another CPU",
        "up to 27.5 ms from close to the end of exit work seen on 6.17; an input"),
    choice<&Design::node_references>(
        "node.references", &reference_choices,
        "what counts the users of a node that is switched once a call: a plain number under "
        "uring_lock, an atomic, or a percpu_ref, which needs percpu memory and an RCU grace period",
        "percpu up to 6.3; atomic with b8fb5b4fdd67 (patch 01 of the 2023 series), plain with "
        "ef8ae64ffa95 (05)"),
    boolean<&Design::node_list_lock>(
        "node.list_lock", "the list of switched nodes has a spinlock (rsrc_ref_lock)",
        "up to 6.3; removed by 0a4813b1abdf (06)"),
    boolean<&Design::node_inline_item>(
        "node.inline_item",
        "the first thing to put lies in the node itself; off: an allocation for each",
        "off up to 6.3; on with ff7c75ecaa9e (08)"),
    boolean<&Design::node_deferred_free>(
        "node.deferred_free",
        "nodes whose last user is gone are released by a delayed work; off: on the spot",
        "on up to 6.3; off with 36b9818a5a84 (09)"),
    boolean<&Design::node_data_atomic>(
        "node.data_atomic", "a node's reference on its table is an atomic",
        "up to 6.3; plain with 757ef4682b6a (12)"),
    integer<&Design::node_put_delay_us>(
        "node.put_delay_us", "us", 0, 60'000'000,
        "how long the delayed work waits after the first node came to its list",
        "HZ jiffies, io_rsrc_node_ref_zero (6.1)"),
    integer<&Design::kernel_hz>(
        "kernel.hz", "ticks/s", 100, 1000,
        "CONFIG_HZ: the length of a jiffy, and so of RCU grace periods",
        "250 in Debian's and Ubuntu's kernels of that time, 1000 in Arch's and Fedora's"),
    integer<&Design::possible_cpus>(
        "kernel.possible_cpus", "CPUs", 0, 8192,
        "CPUs that percpu memory has a copy for; 0: as the machine says",
        "cpu_possible_mask; firmware often announces more than are there"),
    choice<&Design::kernel_code>(
        "kernel.code", &code_choices,
        "whose code the steps run: how many instructions each takes more or fewer than 6.18's. Counts "
        "only on a machine with an instruction clock",
        "models/code_lengths.cpp: traces of Debian's kernels in guests"),
    boolean<&Design::buffer_imu_cache>(
        "buffers.imu_cache",
        "structures of registered buffers of up to 32 segments come from a cache of the ring (128)",
        "io_alloc_imu, 6.15+"),
    boolean<&Design::buffer_coalesce>(
        "buffers.coalesce", "a buffer of huge pages keeps one segment a huge page, not one a page",
        "io_coalesce_buffer, from a8edbb424b13 (6.12) on"),
    boolean<&Design::buffer_clone>("buffers.clone",
                                   "a ring can take over the registered buffers of another",
                                   "IORING_REGISTER_CLONE_BUFFERS, 6.12+"),
    boolean<&Design::buffer_clone_ranges>(
        "buffers.clone_ranges",
        "that call knows src_off, dst_off, nr and IORING_REGISTER_DST_REPLACE; off: -EINVAL for them",
        "io_clone_buffers, 6.13+"),
    boolean<&Design::buffer_import_at_issue>(
        "buffers.import_at_issue",
        "a request looks its fixed buffer up when it is issued; off: when it is prepared, where an "
        "error ends the submission",
        "io_prep_rw_fixed up to 6.14, io_init_rw_fixed from 6.15 on"),
    {"request.policy", KnobType::choice, "", 0, 0,
     "where requests come from and where they go; models/uring/request_registry.cpp",
     "io_alloc_req and __io_free_req; the thread of May 2020 on an io_kiocb cache",
     &request_policy_names, &get_request_policy, &set_request_policy},
    choice<&Design::request_completion>(
        "request.completion", &completion_choices,
        "batched: the completions of a submission are posted and freed together when it ends. "
        "single: each as soon as it is there",
        "single up to 5.9 (io_cqring_add_event); batched from 5.10 on"),
    choice<&Design::request_refcount>(
        "request.refcount", &refcount_choices,
        "how a request's two references are dropped: not counted, by plain or by atomic operations",
        "atomic up to 5.14 (refcount_t); plain in the second on-stack patch of 2020; none from "
        "5.15 on unless a request is shared (REQ_F_REFCOUNT)"),
    boolean<&Design::request_account>("request.account",
                                      "requests are charged to the memory cgroup (SLAB_ACCOUNT)",
                                      "from 5.13 on"),
    boolean<&Design::request_merge>(
        "request.merge", "requests come from kmalloc-256, which all of the kernel shares",
        "seen in the thread of 2020: SLUB merged io_kiocb with kmalloc-256 and five others"),
    integer<&Design::request_slab_order>(
        "request.slab_order", "order", -1, 5,
        "order of the slabs of requests; -1: by the kernel's formula. A cache with an order of its "
        "own is never merged",
        "SLAB_LARGE_ORDER of the thread of 2020: 3"),
    choice<&Design::request_cache_version>("request.cache_version", &version_choices,
                                           "of the per-CPU caches: v1 moves all requests away when "
                                           "it is over its limit, v2 a few, and "
                                           "steals them back",
                                           "mails of 2020-05-13 (v1) and 2020-05-14 (v2)"),
    integer<&Design::request_cache_limit>("request.cache_limit", "requests", 0, 1 << 20,
                                          "what a per-CPU cache keeps ready",
                                          "IO_KIOCB_CACHE_MAX: 256"),
    integer<&Design::request_cache_reclaim>(
        "request.cache_reclaim", "requests", 1, 1 << 20,
        "how many requests v2 moves away or steals back at once", "IO_KIOCB_CACHE_RECLAIM: 16"),
    choice<&Design::slab_policy>(
        "slab.policy", &slab_policy_choices,
        "the slab allocator: slub (2.6.23 - 6.19), slab (array caches, up to 6.7), sheaves (7.0)",
        "mm/slub.c, mm/slab.c (6.1), mm/slub.c (7.0)"),
    boolean<&Design::slab_debug>(
        "slab.debug",
        "SLUB's consistency checks are on for all caches (boot option slub_debug=F): every "
        "allocation and free takes the slow path",
        "mm/slub.c, alloc_single_from_partial, free_to_partial_list"),
    boolean<&Design::slab_freelist_hardened>(
        "slab.freelist_hardened",
        "charge the encoding of free pointers (CONFIG_SLAB_FREELIST_HARDENED) on top of SLUB's "
        "costs",
        "mm/slub.c, freelist_ptr_encode"),
    boolean<&Design::slab_init_on_alloc>("slab.init_on_alloc",
                                         "every slab object is cleared when it is allocated",
                                         "boot option init_on_alloc, on in Debian's kernels"),
    choice<&Design::slab_bulk_free>("slab.bulk_free", &bulk_free_choices,
                                    "how SLUB's bulk free gives back objects that are not of the "
                                    "CPU's slab: each by itself, or "
                                    "those of one slab as a list",
                                    "each in 4.3; detached from 4.4 on (build_detached_freelist)"),
    choice<&Design::slab_cpu_partial>(
        "slab.cpu_partial", &cpu_partial_choices,
        "what bounds a CPU's list of partial slabs in SLUB: the number of slabs, or the free "
        "objects "
        "that they had when they were put there",
        "objects up to 5.15 (pobjects); slabs from 5.16 on (set_cpu_partial)"),
    integer<&Design::slab_sheaf_capacity>(
        "slab.sheaf_capacity", "objects", 0, 256,
        "objects a sheaf holds; 0: by the kernel's formula for the object's size",
        "calculate_sheaf_capacity, mm/slub.c (7.0); 32 in the benchmark of the v7 series"),
    integer<&Design::slab_other_users>(
        "slab.other_users", "requests", 0, 1 << 20,
        "after so many submitted requests another user on the same CPU takes an object of "
        "kmalloc-256 and gives its oldest one back; 0: nobody does",
        "assumed; the thread of 2020 names five other users of kmalloc-256"),
    choice<&Design::slab_bulk_alloc>(
        "slab.bulk_alloc", &bulk_alloc_choices,
        "how SLUB's bulk allocation goes on when the CPU's freelist is empty: every further object "
        "is allocated by itself, or the freelist is refilled and the loop goes on",
        "rest_singly: 994eb764ec16, the first patch of 2015; refill from ebe909e0fdb3 (4.3) on"),
    integer<&Design::slab_resident_live>(
        "slab.resident_live", "percent", 0, 100,
        "how much of each slab of slab.resident is in use",
        "an input: half on the machines of the published figures; 70 in a guest that has just booted, by "
        "the new slabs of its first fills (docs/native.md)"),
    choice<&Design::msg_data>(
        "msg_ring.data", &msg_data_choices,
        "how DATA reaches a DEFER_TASKRUN ring. direct: the sender posts the CQE. task_work: generic "
        "task_work at the target, and back at the sender. overflow: an entry on the target's "
        "overflow list. local_work: lazy local work of the target; the sender completes inline",
        "direct 6.1; task_work 6.2 - 6.10; overflow: v3 series of June 2024, patch 4 (never merged); "
        "local_work from 0617bb500bfa (6.11) on"),
    choice<&Design::msg_fd>(
        "msg_ring.send_fd", &msg_fd_choices,
        "how SEND_FD reaches a DEFER_TASKRUN ring: as msg_ring.data",
        "direct 6.1; task_work from 6.2 on; overflow: v3 series, patch 5"),
    choice<&Design::msg_plain>(
        "msg_ring.plain", &msg_plain_choices,
        "how messages reach a ring without DEFER_TASKRUN. direct: posted under its locks. overflow: "
        "an entry on its overflow list",
        "direct in mainline; overflow: v3 series, patch 9"),
    boolean<&Design::msg_own_task_direct>(
        "msg_ring.own_task_direct",
        "a message from the DEFER_TASKRUN target's own task is posted directly",
        "io_msg_need_remote, 6.2 - 6.10; gone with v3 series, patch 1, and from 6.11 on"),
    choice<&Design::msg_cache>(
        "msg_ring.cache", &msg_cache_choices,
        "who keeps the memory of messages to DEFER_TASKRUN rings. target: taken from and given to "
        "the target's cache. mispaired: taken from the sender's, given to the target's",
        "target: v3 series, patch 6, and 6.13 - 6.16; mispaired: 6.11 - 6.12.0; none else"),
    integer<&Design::msg_cache_limit>("msg_ring.cache_limit", "entries", 1, 4096,
                                      "how many such entries a ring keeps",
                                      "IO_ALLOC_CACHE_MAX: 128"),
    choice<&Design::msg_wake>(
        "msg_ring.wake", &msg_wake_choices,
        "when an entry on the overflow list wakes a DEFER_TASKRUN target. always: each one does. "
        "batched: only when as many are there as it waits for. batched_local: local work adds count "
        "the entries before them too, which the posted patch forgot",
        "v3 series, patches 4 and 8, and the thread under patch 8"),
    boolean<&Design::msg_free_rcu>(
        "msg_ring.free_rcu",
        "the memory of a message is given back after an RCU grace period (kfree_rcu)",
        "6.17 on, and 6.12.y"),
    choice<&Design::local_order>("local_work.order", &local_order_choices,
                                 "in which order DEFER_TASKRUN local work runs",
                                 "lifo up to 3af0356c162c (2023), fifo since"),
    boolean<&Design::local_counting>(
        "local_work.counting",
        "adds of local work count towards what the waiter waits for, and wake it only then; off: "
        "every add onto an empty list wakes it",
        "io_req_local_work_add, 6.4 on"),
    integer<&Design::local_cap>(
        "local_work.cap", "items", 0, 1 << 20,
        "how much local work an enter runs at most, or as much as it waits for; 0: all",
        "IO_LOCAL_TW_DEFAULT_MAX, 20 from f46b9cdb22f7 (6.13) on"),
}};

} // namespace

std::string Knob::format(std::int64_t value) const {
    switch (type) {
    case KnobType::boolean:
        return value != 0 ? "true" : "false";
    case KnobType::choice:
        return std::string(choices()[static_cast<std::size_t>(value)]);
    case KnobType::integer:
        break;
    }
    return std::to_string(value);
}

std::string Knob::allowed() const {
    if (type == KnobType::boolean) {
        return "true or false";
    }
    if (type == KnobType::integer) {
        const std::string suffix = unit.empty() ? "" : " (" + std::string(unit) + ")";
        return "a whole number from " + std::to_string(min) + " to " + std::to_string(max) + suffix;
    }
    std::string text = "one of";
    for (const std::string_view choice : choices()) {
        text += text == "one of" ? " " : ", ";
        text += choice;
    }
    return text;
}

std::span<const Knob> knob_table() {
    return table;
}

const Knob* find_knob(std::string_view name) {
    const auto* const found = std::ranges::find(table, name, &Knob::name);
    return found == table.end() ? nullptr : found;
}

std::vector<std::string_view> knob_names() {
    std::vector<std::string_view> names;
    for (const Knob& knob : table) {
        names.push_back(knob.name);
    }
    return names;
}

namespace {

/// The knobs of nodes that are switched once a call.
void add_switched_conflicts(const Design& design, std::vector<std::string>& lines) {
    const bool touched = design.node_references != NodeReferences::plain || design.node_list_lock ||
                         !design.node_inline_item || design.node_deferred_free ||
                         design.node_data_atomic;
    if (touched && design.node_lifetime != NodeLifetime::per_ring_switched) {
        lines.emplace_back("node.references, node.list_lock, node.inline_item, node.deferred_free and "
                           "node.data_atomic need node.lifetime per_ring_switched");
    }
    if (design.node_references == NodeReferences::percpu && !design.node_deferred_free) {
        lines.emplace_back("node.references percpu needs node.deferred_free: the last reference goes "
                           "in a softirq, which must not free files");
    }
    if (design.node_deferred_free && design.node_cache_limit > 0) {
        lines.emplace_back("node.deferred_free needs node_cache.limit 0: the cache is under "
                           "uring_lock, which the delayed work does not hold");
    }
}

} // namespace

std::vector<std::string> conflicts(const Design& design) {
    std::vector<std::string> lines;
    if (design.node_cache_refill_batch > 1 && design.node_cache_limit == 0) {
        lines.emplace_back("node_cache.refill_batch above 1 needs node_cache.limit above 0: a bulk "
                           "refill has to put its nodes somewhere");
    }
    if (design.node_cache_refill_batch > 1 && design.node_slab_kind == NodeSlab::kmalloc) {
        lines.emplace_back("node_cache.refill_batch above 1 needs node_slab.kind dedicated: "
                           "kmem_cache_alloc_bulk needs a kmem_cache");
    }
    if (design.node_lifetime != NodeLifetime::per_node &&
        design.node_cache_prefill != Prefill::never) {
        lines.emplace_back("node_cache.prefill needs node.lifetime per_node: with one node a ring an "
                           "install takes none");
    }
    const std::string_view policy = design.node_cache_policy;
    if (design.node_lifetime != NodeLifetime::per_node && policy != "io_alloc_cache") {
        lines.push_back("node_cache.policy " + std::string(policy) +
                        " needs node.lifetime per_node: with one node a ring an install takes none");
    }
    const bool prefills = policy == "embedded" || policy == "per_cpu" || policy == "prefill_fraction";
    if (prefills && design.node_cache_prefill != Prefill::never) {
        lines.push_back("node_cache.policy " + std::string(policy) +
                        " knows no node_cache.prefill: it must be never");
    }
    if ((policy == "embedded" || policy == "per_cpu") && design.node_cache_refill_batch > 1) {
        lines.push_back("node_cache.policy " + std::string(policy) +
                        " knows no node_cache.refill_batch: it must be 1");
    }
    add_switched_conflicts(design, lines);
    if (design.buffer_clone_ranges && !design.buffer_clone) {
        lines.emplace_back("buffers.clone_ranges needs buffers.clone");
    }
    if (design.request_slab_order >= 0 && design.request_merge) {
        lines.emplace_back("request.slab_order needs request.merge false: a cache with an order of "
                           "its own is never merged");
    }
    if (design.request_policy == "on_stack" &&
        design.request_completion != RequestCompletion::single) {
        lines.emplace_back("request.policy on_stack needs request.completion single: there is one "
                           "request on the stack, and a batch of completions holds many");
    }
    if (design.request_account && design.request_merge) {
        lines.emplace_back(
            "request.merge needs request.account false: kmalloc-256 is not accounted");
    }
    if (design.slab_debug && design.slab_policy != SlabKind::slub) {
        lines.emplace_back("slab.debug needs slab.policy slub: only SLUB's checks are modelled");
    }
    const bool overflow = design.msg_data == MsgData::overflow || design.msg_fd == MsgFd::overflow;
    if (design.msg_wake != MsgWake::always && !overflow) {
        lines.emplace_back("msg_ring.wake other than always needs msg_ring.data or msg_ring.send_fd "
                           "overflow: it says when entries on the overflow list wake the target");
    }
    if (design.msg_cache == MsgCache::mispaired && design.msg_data != MsgData::local_work) {
        lines.emplace_back("msg_ring.cache mispaired needs msg_ring.data local_work: only there the "
                           "sender takes from its own cache");
    }
    if (design.msg_cache == MsgCache::target && !overflow &&
        design.msg_plain != MsgPlain::overflow && design.msg_data != MsgData::local_work) {
        lines.emplace_back("msg_ring.cache target needs messages that take memory: msg_ring.data "
                           "overflow or local_work, or msg_ring.send_fd or msg_ring.plain overflow");
    }
    return lines;
}

} // namespace uringsim::models
