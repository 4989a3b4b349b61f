#pragma once

#include "analysis/native/kernel_symbols.h"
#include "analysis/native/record.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis::native {

/// A kernel event that is counted.
struct KernelEvent {
    enum class Kind : std::uint8_t { tracepoint, probe } kind = Kind::tracepoint;
    std::string name;   ///< "kmem/kmalloc"; for a probe the function
    std::string filter; ///< of the trace event; empty: all
    /// Where the filter also lets through what the end of a table without files frees: the call
    /// sites to find (by ending one) and to leave out.
    std::vector<AddressRange> shared_with_tables;

    friend bool operator==(const KernelEvent&, const KernelEvent&) = default;
};

/// A counter of models/counters.h and the events whose sum it is.
struct PlannedCounter {
    std::string counter;
    std::vector<KernelEvent> events;
};

/// What can be counted on a kernel, and why the rest cannot.
struct CounterPlan {
    std::vector<PlannedCounter> counted;
    std::vector<Absence> absent;
};

/// What a plan depends on.
struct KernelFacts {
    std::string release;
    std::optional<std::uint64_t> node_bytes;       ///< sizeof(struct io_rsrc_node), from BTF
    std::string node_slab = "kmalloc-32";          ///< the slab cache that holds rsrc nodes
    std::optional<std::uint64_t> slab_name_offset; ///< of `name` in struct kmem_cache, from BTF
    bool probes = false;                           ///< kprobes may be used
};

/// "6.18.44-x" is {6, 18}; {0, 0} where there is no such number.
struct KernelVersion {
    int major = 0;
    int minor = 0;

    friend auto operator<=>(const KernelVersion&, const KernelVersion&) = default;
};
KernelVersion version_of(const std::string& release);

CounterPlan plan_counters(const KernelSymbols& symbols, const KernelFacts& facts);

} // namespace uringsim::analysis::native
