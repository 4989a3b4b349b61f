// The page allocator's lists: hot blocks first, batches of 63 pages, a limit that drains.

#include "models/mm/page_allocator.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "support.h"

using namespace uringsim;
using models::PageAllocator;
using models::PageBlock;

namespace {

struct Bench {
    models::Kernel kernel{models::Design{}, tests::machine_of(2), 1};
    PageAllocator pages{2};
    sim::Cpu& cpu(std::uint16_t id = 0) { return kernel.engine().cpu(id); }
    std::uint64_t charged(models::Primitive primitive) {
        return tests::charged(kernel.engine(), primitive);
    }
};

} // namespace

TEST_CASE("a block freed last is handed out first, by the same CPU only") {
    Bench bench;
    PageBlock& a = bench.pages.alloc(bench.cpu(), 0);
    PageBlock& b = bench.pages.alloc(bench.cpu(), 0);
    bench.pages.free(bench.cpu(), a);
    bench.pages.free(bench.cpu(), b);
    PageBlock& other = bench.pages.alloc(bench.cpu(1), 0);
    CHECK(&other != &a);
    CHECK(&other != &b);
    CHECK(&bench.pages.alloc(bench.cpu(), 0) == &b);
    CHECK(&bench.pages.alloc(bench.cpu(), 0) == &a);
}

TEST_CASE("an empty list takes 63 pages at once: 63, 31, 15, 7 blocks of order 0 to 3") {
    // Source: nr_pcp_alloc, rmqueue_pcplist (6.12); 63 is pcp->batch of any zone above 1 GiB.
    std::uint64_t before = 0;
    for (const auto& [order, blocks] :
         std::vector<std::pair<unsigned, std::uint64_t>>{{0, 63}, {1, 31}, {2, 15}, {3, 7}}) {
        Bench bench;
        for (std::uint64_t i = 0; i < blocks; ++i) {
            CHECK(bench.pages.alloc(bench.cpu(), order).order == order);
        }
        CHECK(bench.charged(models::Primitive::page_refill) == blocks);
        bench.pages.alloc(bench.cpu(), order);
        CHECK(bench.charged(models::Primitive::page_refill) == 2 * blocks);
        CHECK(bench.charged(models::Primitive::page_alloc) == blocks + 1);
        CHECK(bench.pages.bytes_in_use() == (blocks + 1) * (4096U << order));
        before += blocks;
    }
    CHECK(before == 63 + 31 + 15 + 7);
}

TEST_CASE("blocks in use are distinct, and all of them come back") {
    Bench bench;
    std::vector<PageBlock*> blocks;
    std::set<PageBlock*> distinct;
    for (unsigned i = 0; i < 3000; ++i) {
        blocks.push_back(&bench.pages.alloc(bench.cpu(i % 2), i % 4));
        distinct.insert(blocks.back());
    }
    CHECK(distinct.size() == blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        bench.pages.free(bench.cpu(static_cast<std::uint16_t>(i / 7 % 2)), *blocks[i]);
    }
    CHECK(bench.pages.bytes_in_use() == 0);
    CHECK(bench.charged(models::Primitive::page_drain) > 0);
}

TEST_CASE("what one CPU drains another can have") {
    Bench bench;
    std::vector<PageBlock*> blocks;
    for (std::size_t i = 0; i < 2 * PageAllocator::high_pages; ++i) {
        blocks.push_back(&bench.pages.alloc(bench.cpu(0), 0));
    }
    std::set<PageBlock*> seen(blocks.begin(), blocks.end());
    for (PageBlock* block : blocks) {
        bench.pages.free(bench.cpu(0), *block);
    }
    CHECK(seen.contains(&bench.pages.alloc(bench.cpu(1), 0)));
}
