#include "analysis/native/counter_plan.h"

#include <fmt/format.h>

#include <charconv>

namespace uringsim::analysis::native {

namespace {

constexpr KernelVersion per_node_from{6, 13};
constexpr KernelVersion node_cache_from{6, 15};

class Planner {
  public:
    Planner(const KernelSymbols& symbols, const KernelFacts& facts)
        : symbols_(symbols)
        , facts_(facts)
        , version_(version_of(facts.release)) {}

    CounterPlan plan() {
        requests();
        nodes();
        slabs();
        unknowable();
        return std::move(plan_);
    }

  private:
    void tracepoint(const std::string& counter, const std::string& name) {
        plan_.counted.push_back({counter, {{KernelEvent::Kind::tracepoint, name, "", {}}}});
    }

    void absent(const std::string& counter, std::string reason) {
        plan_.absent.push_back({counter, std::move(reason)});
    }

    void requests() {
        // The tracepoint was renamed in 6.3 (io_uring_submit_sqe before).
        tracepoint("sqe_submitted", version_ >= KernelVersion{6, 3}
                                        ? "io_uring/io_uring_submit_req"
                                        : "io_uring/io_uring_submit_sqe");
        tracepoint("cqe_posted", "io_uring/io_uring_complete");
        tracepoint("cqe_overflowed", "io_uring/io_uring_cqe_overflow");
    }

    /// An event of the slab allocator, from within these functions only.
    void allocator_event(const std::string& counter, const std::string& name,
                         const std::vector<std::string>& callers, const std::string& condition,
                         bool shared_with_tables = false) {
        if (symbols_.empty()) {
            absent(counter,
                   "the kernel hides its addresses (sysctl kernel.kptr_restrict, not root)");
            return;
        }
        std::vector<AddressRange> ranges;
        for (const std::string& caller : callers) {
            const auto found = symbols_.ranges(caller);
            ranges.insert(ranges.end(), found.begin(), found.end());
        }
        if (ranges.empty()) {
            absent(counter, fmt::format("this kernel has no function {}", callers.front()));
            return;
        }
        std::string filter = call_site_filter(ranges);
        if (!condition.empty() || shared_with_tables) {
            filter = fmt::format("({})", filter);
        }
        if (!condition.empty()) {
            filter += " && " + condition;
        }
        plan_.counted.push_back({counter,
                                 {{KernelEvent::Kind::tracepoint, name, filter,
                                   shared_with_tables ? ranges : std::vector<AddressRange>{}}}});
    }

    void nodes() {
        if (version_ < per_node_from) {
            absent("node_cache_miss", "up to 6.12 nodes belong to the ring, not to the file");
            absent("node_free", "up to 6.12 nodes belong to the ring, not to the file");
            return;
        }
        const std::string bytes =
            facts_.node_bytes ? fmt::format("bytes_req == {}", *facts_.node_bytes) : "";
        // io_cache_alloc_new came with the node cache in 6.15.
        allocator_event("node_cache_miss", "kmem/kmalloc",
                        version_ >= node_cache_from
                            ? std::vector<std::string>{"io_cache_alloc_new"}
                            : std::vector<std::string>{"io_rsrc_node_alloc"},
                        bytes);
        // io_free_rsrc_node ends in a jump to kfree: the call site is the function that called it.
        allocator_event("node_free", "kmem/kfree",
                        {"io_free_rsrc_node", "__io_sqe_files_update", "io_fixed_fd_install",
                         "io_fixed_fd_remove", "io_rsrc_data_free", "io_free_file_tables"},
                        "", true);
    }

    void probe(const std::string& counter, const std::string& function,
               const std::string& condition = "") {
        const std::string filter =
            fmt::format("(slab == \"{}\" || slab ~ \"kmalloc-rnd-*-{}\")", facts_.node_slab,
                        facts_.node_slab.substr(facts_.node_slab.find('-') + 1)) +
            condition;
        plan_.counted.push_back({counter, {{KernelEvent::Kind::probe, function, filter, {}}}});
    }

    void slabs() {
        if (!facts_.probes || !facts_.slab_name_offset) {
            for (const char* counter :
                 {"new_slabs", "freed_slabs", "slab_free_slow", "slab_put_cpu_partial"}) {
                absent(counter, "no tracepoint; needs kprobes, which only guests use");
            }
            return;
        }
        probe("new_slabs", "allocate_slab");
        probe("freed_slabs", "free_slab");
        probe("slab_free_slow", "__slab_free");
        probe("slab_put_cpu_partial", "put_cpu_partial", " && third == 1");
    }

    void unknowable() {
        absent("node_alloc", "an allocation from the node cache is inlined: no event");
        absent("node_cache_hit", "inlined: no event");
        absent("node_cache_put", "inlined: no event");
        absent("request_alloc", "kmem_cache_alloc_bulk has no tracepoint");
        absent("request_bulk_calls", "kmem_cache_alloc_bulk has no tracepoint");
        absent("freed_at_ring_exit", "freed by a kworker, not by the program's tasks");
        absent("slab_alloc_slow", "no tracepoint, and ___slab_alloc cannot be probed");
        absent("slab_get_partial", "no tracepoint, and the success of get_partial_node is inlined");
        absent("page_alloc", "depends on what the page lists of the CPU hold");
        absent("page_free", "depends on what the page lists of the CPU hold");
        absent("memcg_charges", "no tracepoint");
        absent("cqe_flushed", "no tracepoint");
        absent("rings_exited", "done by a kworker, not by the program's tasks");
    }

    const KernelSymbols& symbols_;
    const KernelFacts& facts_;
    KernelVersion version_;
    CounterPlan plan_;
};

} // namespace

KernelVersion version_of(const std::string& release) {
    KernelVersion version;
    const char* end = release.data() + release.size();
    const auto [dot, error] = std::from_chars(release.data(), end, version.major);
    if (error != std::errc() || dot == end || *dot != '.') {
        return {};
    }
    const auto [rest, minor_error] = std::from_chars(dot + 1, end, version.minor);
    return minor_error == std::errc() ? version : KernelVersion{};
}

CounterPlan plan_counters(const KernelSymbols& symbols, const KernelFacts& facts) {
    return Planner(symbols, facts).plan();
}

} // namespace uringsim::analysis::native
