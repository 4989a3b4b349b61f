#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis::native {

/// What a measurement depends on and a reader must know.
struct Host {
    std::string release;
    std::string cpu_model;
    std::size_t cpus = 0;
    std::string governor;    ///< empty: the kernel scales no frequency
    std::string mitigations; ///< what is not "Not affected", as the kernel words it
    std::string preemption;  ///< none, voluntary, full, lazy; empty: not known
    std::string clock_source;
    std::string load; ///< of the last minute
    bool x86_64 = true;
};

/// Reads what /proc and /sys under `root` (empty: the running system's) say.
Host read_host(const std::string& root = "");

/// The geometry of a slab cache, from /sys/kernel/slab.
struct SlabGeometry {
    std::string name;
    std::uint64_t object_bytes = 0;
    std::uint64_t slot_bytes = 0;
    std::uint64_t objects_per_slab = 0;
    std::uint64_t order = 0;
    std::uint64_t cpu_partial = 0;
    std::uint64_t min_partial = 0;
};

/// Nothing where the kernel does not show it (CONFIG_SLUB_SYSFS, or not root).
std::optional<SlabGeometry> read_slab_geometry(const std::string& cache,
                                               const std::string& root = "");

/// "0-3,6" as numbers; nothing where it is no such list.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// The CPUs that this process may run on, in ascending order.
std::vector<int> allowed_cpus();

} // namespace uringsim::analysis::native
