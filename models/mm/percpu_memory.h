#pragma once

#include "sim/cpu.h"
#include "sim/sync.h"

#include <cstdint>
#include <set>
#include <vector>

namespace uringsim::models {

/// A piece of percpu memory: one copy a possible CPU.
struct PercpuArea {
    std::uint32_t chunk = 0;
    std::uint32_t offset = 0; ///< in units of PercpuMemory::unit_bytes
};

/// The percpu allocator for areas of one unit (8 bytes), the size of a percpu_ref's counter.
///
/// What an area costs grows with the machine: alloc_percpu() clears the copy of **every possible
/// CPU** in a loop, and each page of a chunk must be populated once for every possible CPU before
/// its first use. Areas come from chunks of 256 KiB a CPU; a chunk that is empty while another
/// empty one exists is given back (the balance work does that on whatever CPU; its time is not
/// modelled). Source: pcpu_alloc, pcpu_populate_chunk, pcpu_balance_free, mm/percpu.c (6.1).
class PercpuMemory {
  public:
    static constexpr std::uint64_t unit_bytes = 8;

    explicit PercpuMemory(std::uint32_t possible_cpus)
        : possible_cpus_(possible_cpus) {}
    PercpuMemory(const PercpuMemory&) = delete;
    PercpuMemory& operator=(const PercpuMemory&) = delete;

    /// CPUs that the kernel keeps copies for, whether they exist or not.
    std::uint32_t possible_cpus() const { return possible_cpus_; }

    /// A cleared area.
    PercpuArea alloc(sim::Cpu& cpu);
    void free(sim::Cpu& cpu, const PercpuArea& area);

    /// Bytes of all copies of the areas in use, now and at most.
    std::uint64_t bytes_in_use() const { return areas_ * unit_bytes * possible_cpus_; }
    std::uint64_t peak_bytes() const { return peak_areas_ * unit_bytes * possible_cpus_; }

    /// Bytes of pages that chunks hold.
    std::uint64_t populated_bytes() const;

  private:
    static constexpr std::uint32_t page_bytes = 4096;
    static constexpr std::uint32_t areas_a_page = page_bytes / unit_bytes;
    static constexpr std::uint32_t areas_a_chunk = 64 * areas_a_page;

    struct Chunk {
        std::uint32_t used = 0;
        std::uint32_t untouched = 0;      ///< offsets from here on were never handed out
        std::uint32_t pages = 0;          ///< populated
        std::vector<std::uint32_t> freed; ///< handed out before and free again
    };

    std::uint32_t chunk_with_room();
    std::uint32_t take(sim::Cpu& cpu, Chunk& chunk);

    std::uint32_t possible_cpus_;
    std::vector<Chunk> chunks_;
    std::set<std::uint32_t> with_room_;
    std::uint64_t areas_ = 0;
    std::uint64_t peak_areas_ = 0;
    std::uint32_t empty_chunks_ = 0;
    sim::Lock lock_; ///< pcpu_lock
};

} // namespace uringsim::models
