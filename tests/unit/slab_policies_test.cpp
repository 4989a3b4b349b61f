#include "models/kernel.h"
#include "models/mm/sheaves.h"
#include "models/mm/slab_classic.h"
#include "models/mm/slab_policy.h"
#include "models/mm/slub.h"
#include "sim/random.h"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support.h"

namespace {

using namespace uringsim;
using models::Object;
using models::SlabGeometry;

models::Machine machine_of(std::int64_t cpus) {
    models::Machine machine;
    machine.cpus = cpus;
    return machine;
}

/// A cache of its own on a simulated machine.
struct Bench {
    models::Design design;
    std::unique_ptr<models::Kernel> kernel;
    std::unique_ptr<models::PageAllocator> pages;
    std::unique_ptr<models::KmemCache> cache;

    Bench(models::Design the_design, std::uint32_t bytes, std::int64_t cpus = 2,
          std::uint32_t l1_sets = 0, std::uint32_t reorder_entries = 0)
        : design(std::move(the_design))
        , kernel(std::make_unique<models::Kernel>(design, machine_of(cpus), 1))
        , pages(std::make_unique<models::PageAllocator>(static_cast<std::uint16_t>(cpus)))
        , cache(models::make_slab_cache({"test", bytes}, {static_cast<std::uint32_t>(cpus),
                                                          static_cast<std::uint16_t>(cpus), *pages,
                                                          1, design, l1_sets, reorder_entries})) {}

    sim::Cpu& cpu(std::uint16_t id = 0) { return kernel->engine().cpu(id); }
    std::uint64_t charged(models::Primitive primitive) const {
        return tests::charged(kernel->engine(), primitive);
    }

    std::vector<Object*> alloc(std::size_t count, std::uint16_t on = 0) {
        std::vector<Object*> objects;
        for (std::size_t i = 0; i < count; ++i) {
            objects.push_back(cache->alloc(cpu(on)));
        }
        return objects;
    }
    void free(const std::vector<Object*>& objects, std::uint16_t on = 0) {
        for (Object* object : objects) {
            cache->free(cpu(on), *object);
        }
    }

    void balanced() const {
        const models::SlabCensus census = cache->census();
        CHECK(census.objects == cache->live() + census.free + census.resident);
        CHECK(pages->bytes_in_use() == census.bytes);
        std::uint64_t held = 0;
        for (const models::SlabHolding& holding : cache->holdings()) {
            held += holding.objects;
        }
        CHECK(held == census.free);
    }
};

models::Design with(models::SlabKind kind) {
    models::Design design;
    design.slab_policy = kind;
    return design;
}

struct Row {
    std::uint32_t bytes;
    std::uint32_t cpus;
    unsigned order;
    std::uint32_t objects;
    std::uint32_t cpu_partial_slabs;
    std::uint32_t min_partial;
};

// calculate_order, set_cpu_partial and min_partial of mm/slub.c worked by hand.
constexpr std::array geometry_rows{
    Row{32, 2, 0, 128, 2, 5},  Row{32, 8, 0, 128, 2, 5},  Row{32, 20, 0, 128, 2, 5},
    Row{64, 2, 0, 64, 4, 5},   Row{64, 8, 0, 64, 4, 5},   Row{64, 20, 0, 64, 4, 5},
    Row{96, 2, 0, 42, 6, 5},   Row{96, 8, 0, 42, 6, 5},   Row{96, 20, 0, 42, 6, 5},
    Row{192, 2, 0, 21, 12, 5}, Row{192, 8, 0, 21, 12, 5}, Row{192, 20, 1, 42, 6, 5},
    Row{256, 2, 0, 16, 7, 5},  Row{256, 8, 1, 32, 4, 5},  Row{256, 20, 1, 32, 4, 5},
    Row{512, 2, 1, 16, 7, 5},  Row{512, 8, 2, 32, 4, 5},  Row{512, 20, 2, 32, 4, 5},
    Row{1024, 2, 2, 16, 3, 5}, Row{1024, 8, 3, 32, 2, 5}, Row{1024, 20, 3, 32, 2, 5},
    Row{4096, 2, 3, 8, 2, 6},  Row{4096, 8, 3, 8, 2, 6},  Row{4096, 20, 3, 8, 2, 6},
};

std::optional<std::uint32_t> host_number(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::uint32_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

} // namespace

TEST_SUITE("slab policies") {
    TEST_CASE("SLUB: order, objects, partial lists by the kernel's formulas for 2, 8 and 20 CPUs") {
        for (const Row& row : geometry_rows) {
            CAPTURE(row.bytes);
            CAPTURE(row.cpus);
            const SlabGeometry geometry = SlabGeometry::of(row.bytes, row.cpus);
            CHECK(geometry.order == row.order);
            CHECK(geometry.objects == row.objects);
            CHECK(geometry.cpu_partial_slabs == row.cpu_partial_slabs);
            CHECK(geometry.min_partial == row.min_partial);
        }
        CHECK(SlabGeometry::of(256, 64, 3U).objects == 128); // SLAB_LARGE_ORDER
        CHECK(SlabGeometry::of(256, 64, 3U).cpu_partial_slabs == 1);
    }

    TEST_CASE("SLUB: the same against /sys/kernel/slab of this host, where it can be read") {
        const std::filesystem::path root = "/sys/kernel/slab";
        std::error_code error;
        std::uint32_t cpus = 0;
        while (
            std::filesystem::exists("/sys/devices/system/cpu/cpu" + std::to_string(cpus), error)) {
            ++cpus;
        }
        std::size_t compared = 0;
        for (const char* name :
             {"kmalloc-32", "kmalloc-64", "kmalloc-96", "kmalloc-192", "kmalloc-256", "kmalloc-512",
              "kmalloc-1k", "kmalloc-2k", "kmalloc-4k", "io_kiocb"}) {
            const auto size = host_number(root / name / "slab_size");
            const auto order = host_number(root / name / "order");
            const auto objects = host_number(root / name / "objs_per_slab");
            if (!size || !order || !objects || cpus == 0) {
                continue;
            }
            CAPTURE(name);
            const SlabGeometry geometry = SlabGeometry::of(*size, cpus);
            CHECK(geometry.order == *order);
            CHECK(geometry.objects == *objects);
            if (const auto partial = host_number(root / name / "min_partial")) {
                CHECK(geometry.min_partial == *partial);
            }
            // A kernel whose caches have sheaves has no CPU partial lists.
            const auto on_cpu = host_number(root / name / "cpu_partial");
            if (on_cpu && *on_cpu > 0) {
                CHECK(geometry.cpu_partial_objects == *on_cpu);
            }
            ++compared;
        }
        MESSAGE("caches compared with the host: " << compared);
    }

    TEST_CASE("SLAB: arrays and orders by mm/slab.c") {
        using Tunables = models::SlabClassic::Tunables;
        const auto check = [](std::uint32_t bytes, std::uint32_t limit, std::uint32_t batch,
                              std::uint32_t shared) {
            const Tunables tunables = Tunables::of(bytes, 8);
            CAPTURE(bytes);
            CHECK(tunables.limit == limit);
            CHECK(tunables.batchcount == batch);
            CHECK(tunables.shared == shared);
        };
        check(256, 120, 60, 480);
        check(257, 54, 27, 216);
        check(1024, 54, 27, 216);
        check(1025, 24, 12, 96);
        check(4096, 24, 12, 96);
        check(4097, 8, 4, 0);
        check(200000, 1, 1, 0);
        CHECK(Tunables::of(256, 1).shared == 0);
        CHECK(models::SlabClassic::order_for(256) == 0);
        CHECK(models::SlabClassic::order_for(192) == 0); // 64 of 4096 wasted
        CHECK(models::SlabClassic::order_for(1536) ==
              1); // 1024 of 4096 would be: more than an eighth
        CHECK(models::SlabClassic::order_for(4096) == 0);
        CHECK(models::SlabClassic::order_for(8192) == 1);
    }

    TEST_CASE("SLAB: a refill takes a batch of 60; the 121st free moves the 60 oldest to the "
              "shared array") {
        Bench bench(with(models::SlabKind::slab), 256);
        std::vector<Object*> objects = bench.alloc(1);
        CHECK(bench.cache->census().slabs == 1); // grown one slab at a time: 16 objects
        CHECK(bench.cache->holdings().front().objects == 15);
        for (Object* object : bench.alloc(120)) {
            objects.push_back(object);
        }
        bench.free(objects); // 121: array of at most 120
        bool shared = false;
        for (const models::SlabHolding& holding : bench.cache->holdings()) {
            if (holding.where == "shared array") {
                CHECK(holding.objects == 60);
                shared = true;
            }
        }
        CHECK(shared);
        bench.balanced();
    }

    TEST_CASE("SLAB: free slabs go back to the page allocator above the free limit") {
        Bench bench(with(models::SlabKind::slab), 256);
        bench.free(bench.alloc(2000));
        // CPU array 120 at most, shared 480 at most, slabs (1 + 2) x 60 + 16 = 196 at most.
        const models::SlabCensus census = bench.cache->census();
        CHECK(census.free <= 120 + 480 + 196 + 15);
        CHECK(census.free >= 480);
        bench.balanced();
    }

    TEST_CASE("sheaves: capacities by size") {
        using models::Sheaves;
        CHECK(Sheaves::capacity_for(32) == 60);
        CHECK(Sheaves::capacity_for(255) == 60);
        CHECK(Sheaves::capacity_for(256) == 28);
        CHECK(Sheaves::capacity_for(1023) == 28);
        CHECK(Sheaves::capacity_for(1024) == 12);
        CHECK(Sheaves::capacity_for(4096) == 4);
    }

    TEST_CASE("sheaves: main, spare, then the barn up to ten full ones, then back to the slabs") {
        Bench bench(with(models::SlabKind::sheaves), 256);
        auto& sheaves = dynamic_cast<models::Sheaves&>(*bench.cache);
        constexpr std::size_t capacity = 28;
        std::vector<Object*> objects = bench.alloc(20 * capacity);
        CHECK(sheaves.barn_full() == 0);
        // Everything was refilled sheaf by sheaf: the main is empty, nothing is left over in it.
        std::size_t freed = 0;
        const auto free_sheaves = [&](std::size_t count) {
            for (std::size_t i = 0; i < count * capacity; ++i) {
                sheaves.free(bench.cpu(), *objects[freed++]);
            }
        };
        free_sheaves(2); // main and spare
        CHECK(sheaves.barn_full() == 0);
        free_sheaves(10);
        CHECK(sheaves.barn_full() == 10);
        const std::uint64_t kept = sheaves.census().free;
        free_sheaves(1); // the barn is full: a sheaf is flushed for it
        CHECK(sheaves.barn_full() == 10);
        CHECK(sheaves.census().free + sheaves.live() + 0 == sheaves.census().objects);
        CHECK(sheaves.census().free >= kept);
        bench.balanced();
        std::vector<Object*> rest(objects.begin() + static_cast<std::ptrdiff_t>(freed),
                                  objects.end());
        bench.free(rest);
        bench.balanced();
    }

    TEST_CASE("SLUB: partial lists, slab for slab") {
        models::Design design;
        design.slab_freelist_random = false;
        Bench bench(design, 256); // order 0, 16 objects, 7 CPU partial slabs, min_partial 5
        auto& slub = dynamic_cast<models::Slub&>(*bench.cache);
        const std::vector<Object*> objects = bench.alloc(std::size_t{16} * 10);
        CHECK(slub.census().slabs == 10);
        CHECK(slub.cpu_partial(0) == 0);
        CHECK(slub.node_partial() == 0);
        for (std::size_t slab = 0; slab < 7; ++slab) {
            slub.free(bench.cpu(), *objects[slab * 16]);
            CHECK(slub.cpu_partial(0) == slab + 1);
        }
        slub.free(bench.cpu(), *objects[std::size_t{7} * 16]); // the eighth drains the whole list
        CHECK(slub.cpu_partial(0) == 1);
        CHECK(slub.node_partial() == 7);
        slub.free(bench.cpu(), *objects[std::size_t{9} * 16]); // the current slab: no list
        CHECK(slub.cpu_partial(0) == 1);
        bench.balanced();
    }

    TEST_CASE("SLUB up to 5.15 counts free objects: a 14th drains what 13 may stay") {
        models::Design design;
        design.slab_freelist_random = false;
        design.slab_cpu_partial = models::SlabCpuPartial::objects;
        Bench bench(design, 256);
        auto& slub = dynamic_cast<models::Slub&>(*bench.cache);
        const std::vector<Object*> objects = bench.alloc(std::size_t{16} * 20);
        for (std::size_t slab = 0; slab < 14; ++slab) {
            slub.free(bench.cpu(), *objects[slab * 16]);
            CHECK(slub.cpu_partial(0) == slab + 1);
        }
        slub.free(bench.cpu(), *objects[std::size_t{14} * 16]); // 14 objects are more than 13
        CHECK(slub.cpu_partial(0) == 1);
        CHECK(slub.node_partial() == 14);
    }

    TEST_CASE("bulk allocation before 4.3 takes what the CPU's freelist holds, the rest singly") {
        for (const auto policy :
             {models::SlabBulkAlloc::rest_singly, models::SlabBulkAlloc::refill}) {
            models::Design design;
            design.slab_freelist_random = false;
            design.slab_bulk_alloc = policy;
            Bench bench(design, 256);
            bench.alloc(1); // a slab of 16: 15 are left on the freelist
            std::vector<Object*> objects(20);
            CHECK(bench.cache->alloc_bulk(bench.cpu(), objects));
            const bool singly = policy == models::SlabBulkAlloc::rest_singly;
            CHECK(bench.charged(models::Primitive::slub_bulk_object) == (singly ? 15 : 20));
            CHECK(bench.charged(models::Primitive::slub_alloc_fast) == (singly ? 6 : 1));
            CHECK(bench.charged(models::Primitive::slub_alloc_slow) == 2);
            bench.balanced();
        }
    }

    TEST_CASE("objects at a stride use a part of L1's sets only") {
        // 200 first lines at a stride of 4 lines are 200 of 768 lines, but fill 16 of 64 sets.
        for (const std::uint32_t sets : {0U, 64U}) {
            models::Design design;
            design.slab_freelist_random = false;
            Bench bench(design, 256, 2, sets);
            for (int round = 0; round < 3; ++round) {
                bench.free(bench.alloc(200));
            }
            CHECK((bench.charged(models::Primitive::line_l2) >= 200) == (sets != 0));
        }
    }

    TEST_CASE(
        "a bulk's loads overlap as far as the reorder buffer reaches: 192 entries, 6 objects") {
        for (const std::uint32_t entries : {0U, 192U}) {
            Bench bench({}, 256, 2, 0, entries);
            std::vector<Object*> objects(10);
            CHECK(bench.cache->alloc_bulk(bench.cpu(), objects));
            CHECK(bench.charged(models::Primitive::slub_bulk_latency) == (entries == 0 ? 0 : 4));
        }
    }

    TEST_CASE("resident slabs are taken in their order, with what others left free in them") {
        models::Design design;
        design.slab_freelist_random = false;
        Bench bench(design, 256);
        bench.cache->add_resident(bench.cpu(), 1, 14);
        bench.cache->add_resident(bench.cpu(), 2, 9);
        const std::vector<Object*> objects = bench.alloc(2 + 7 + 7 + 1);
        CHECK(objects[0]->slab == objects[1]->slab);
        CHECK(objects[2]->slab != objects[1]->slab);
        CHECK(objects[2]->slab == objects[8]->slab);
        CHECK(objects[9]->slab == objects[15]->slab);
        CHECK(bench.cache->census().slabs == 4); // the last object needs a new one
        bench.balanced();
    }

    TEST_CASE("bulk free: one list a slab, objects of at most two other slabs are skipped") {
        models::Design design;
        design.slab_freelist_random = false;
        Bench bench(design, 256);
        const std::vector<Object*> objects = bench.alloc(std::size_t{16} * 4);
        const auto slow_frees = [&](std::vector<Object*> array) {
            const sim::Ledger& ledger = bench.kernel->engine().ledger();
            const auto count = [&] {
                std::uint64_t sum = 0;
                for (const auto& [key, account] : ledger.accounts()) {
                    for (std::size_t m = 0; m < models::mechanism_count; ++m) {
                        sum +=
                            account
                                ->cells(static_cast<sim::MechanismId>(
                                    m))[static_cast<std::size_t>(models::Primitive::slub_free_slow)]
                                .count;
                    }
                }
                return sum;
            };
            const std::uint64_t before = count();
            bench.cache->free_bulk(bench.cpu(), array);
            return count() - before;
        };
        // a: slab 0, b: slab 1, c: slab 2. From the end of a b a b a: a's list skips both b's.
        CHECK(slow_frees({objects[0], objects[16], objects[1], objects[17], objects[2]}) == 2);
        // From the end of a b c b a: three objects of others in a row end the search for a's.
        CHECK(slow_frees({objects[3], objects[18], objects[32], objects[19], objects[4]}) == 4);
        bench.balanced();
    }

    TEST_CASE("against a naive reference: every allocator hands out free objects only, and all "
              "come back") {
        for (const models::SlabKind kind :
             {models::SlabKind::slub, models::SlabKind::slab, models::SlabKind::sheaves}) {
            for (const std::uint32_t bytes : {24U, 256U, 1024U, 4096U}) {
                CAPTURE(bytes);
                CAPTURE(static_cast<int>(kind));
                Bench bench(with(kind), bytes, 3);
                sim::RandomStream random(7, "slab test");
                std::set<Object*> live;
                std::vector<Object*> order;
                for (int step = 0; step < 6000; ++step) {
                    const auto cpu = static_cast<std::uint16_t>(random.below(3));
                    if (step % 1000 == 999) {
                        bench.cache->flush_cpu(bench.cpu(cpu),
                                               static_cast<std::uint16_t>((cpu + 1U) % 3));
                    }
                    const bool filling = step % 2000 < 1000;
                    if (order.empty() || random.below(10) < (filling ? 7U : 3U)) {
                        std::vector<Object*> got(1 + random.below(9));
                        if (got.size() == 1) {
                            got[0] = bench.cache->alloc(bench.cpu(cpu));
                        } else {
                            REQUIRE(bench.cache->alloc_bulk(bench.cpu(cpu), got));
                        }
                        for (Object* object : got) {
                            REQUIRE(live.insert(object).second); // handed out to nobody else
                            order.push_back(object);
                        }
                    } else {
                        const std::size_t count =
                            std::min<std::size_t>(order.size(), 1 + random.below(12));
                        std::vector<Object*> gone;
                        for (std::size_t i = 0; i < count; ++i) {
                            std::swap(order[random.below(static_cast<std::uint32_t>(order.size()))],
                                      order.back());
                            gone.push_back(order.back());
                            live.erase(order.back());
                            order.pop_back();
                        }
                        if (gone.size() == 1) {
                            bench.cache->free(bench.cpu(cpu), *gone[0]);
                        } else {
                            bench.cache->free_bulk(bench.cpu(cpu), gone);
                        }
                    }
                    if (step % 500 == 0) {
                        CHECK(bench.cache->live() == live.size());
                        bench.balanced();
                    }
                }
                bench.free(order, 1);
                CHECK(bench.cache->live() == 0);
                bench.balanced();
                for (std::uint16_t cpu = 0; cpu < 3; ++cpu) {
                    bench.cache->flush_cpu(bench.cpu(0), cpu);
                }
                bench.balanced();
            }
        }
    }
}
