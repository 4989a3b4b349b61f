#pragma once

#include "sim/cpu.h"
#include "sim/memory.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace uringsim::models {

/// A block of 2^order contiguous pages of 4 KiB, with the temperature of each of its lines.
struct PageBlock {
    static constexpr std::size_t lines_per_page = 64;

    explicit PageBlock(unsigned block_order)
        : order(block_order), lines(lines_per_page << block_order) {}

    unsigned order;
    std::vector<sim::Line> lines;

    std::uint64_t bytes() const { return std::uint64_t{4096} << order; }
};

/// The page allocator as slab caches see it: a list of free blocks a CPU and order, last in first
/// out, refilled from and drained to a buddy allocator that is shared.
///
/// Not modelled: splitting and merging of buddies, zones, reclaim. Memory never runs out.
/// Source: mm/page_alloc.c (6.12), rmqueue_pcplist, rmqueue_bulk, free_unref_page_commit.
class PageAllocator {
  public:
    static constexpr unsigned max_order = 10;
    /// Pages moved at once between a CPU's list and the buddy allocator (pcp->batch).
    static constexpr std::size_t batch_pages = 63;
    /// Pages on a CPU's list above which a batch goes back (pcp->high of a machine with 16 GiB).
    static constexpr std::size_t high_pages = 1024;

    explicit PageAllocator(std::uint16_t cpus) : lists_(cpus) {}
    PageAllocator(const PageAllocator&) = delete;
    PageAllocator& operator=(const PageAllocator&) = delete;

    /// A block of 2^order pages. `order` is at most max_order.
    PageBlock& alloc(sim::Cpu& cpu, unsigned order);

    /// Gives a block back to this CPU's list.
    void free(sim::Cpu& cpu, PageBlock& block);

    /// Bytes in blocks that are in use.
    std::uint64_t bytes_in_use() const { return bytes_in_use_; }

  private:
    struct CpuLists {
        std::array<std::vector<PageBlock*>, max_order + 1> free;
        std::size_t pages = 0;
    };

    void refill(sim::Cpu& cpu, CpuLists& lists, unsigned order);
    void drain(sim::Cpu& cpu, CpuLists& lists, unsigned order);
    PageBlock& take_from_buddy(unsigned order);

    std::vector<CpuLists> lists_;
    std::array<std::vector<PageBlock*>, max_order + 1> buddy_;
    std::vector<std::unique_ptr<PageBlock>> blocks_;
    std::uint64_t bytes_in_use_ = 0;
};

} // namespace uringsim::models
