// SLUB: sizes by the kernel's formulas, hand-worked moves of slabs, and the state machine against a
// naive one that is written from the rules in docs/kernel-facts.md A1 alone.

#include "models/mm/slub.h"
#include "sim/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "support.h"

using namespace uringsim;
using models::Object;
using models::SlabGeometry;
using models::Slub;

namespace {

constexpr models::SlabCounters all_counters{
    models::Counter::new_slabs,       models::Counter::freed_slabs,
    models::Counter::slab_alloc_slow, models::Counter::slab_get_partial,
    models::Counter::slab_free_slow,  models::Counter::slab_put_cpu_partial};

/// A cache of its own on a machine that has nothing else.
class Bench {
  public:
    explicit Bench(std::uint32_t bytes, std::uint32_t cpus_seen = 2, bool shuffled = false)
        : engine_(std::make_unique<models::Kernel>(models::Design{}, tests::machine_of(2), 1))
        , pages_(2) {
        design_.slab_freelist_random = shuffled;
        cache_ = std::make_unique<Slub>(
            models::SlabCacheSpec{"test", bytes, false, all_counters},
            models::SlabEnvironment{cpus_seen, 2, pages_, 7, design_});
    }

    Slub& cache() { return *cache_; }
    models::PageAllocator& pages() { return pages_; }
    sim::Engine& engine() { return engine_->engine(); }
    sim::Cpu& cpu(std::uint16_t id = 0) { return engine().cpu(id); }
    std::uint64_t count(models::Counter counter) { return tests::counted(engine(), counter); }

    std::vector<Object*> alloc(std::size_t objects, std::uint16_t on = 0) {
        std::vector<Object*> got(objects);
        for (Object*& object : got) {
            object = cache().alloc(cpu(on));
        }
        return got;
    }
    void free(const std::vector<Object*>& objects, std::uint16_t on = 0) {
        for (Object* object : objects) {
            cache().free(cpu(on), *object);
        }
    }

  private:
    std::unique_ptr<models::Kernel> engine_;
    models::PageAllocator pages_;
    models::Design design_;
    std::unique_ptr<Slub> cache_;
};

void check_geometry(std::uint32_t bytes, std::uint32_t cpus, unsigned order, std::uint32_t objects,
                    std::uint32_t cpu_partial_slabs, std::uint32_t min_partial) {
    INFO(bytes, " bytes, ", cpus, " CPUs");
    const SlabGeometry geometry = SlabGeometry::of(bytes, cpus);
    CHECK(geometry.order == order);
    CHECK(geometry.objects == objects);
    CHECK(geometry.cpu_partial_slabs == cpu_partial_slabs);
    CHECK(geometry.min_partial == min_partial);
    CHECK(geometry.slot_bytes == bytes);
}

} // namespace

TEST_CASE("slab sizes follow the kernel's formulas for any size and number of CPUs") {
    // Source: calculate_order, set_cpu_partial; the columns for 2 CPUs were compared with
    // /sys/kernel/slab of a running 6.18.
    struct Row {
        std::uint32_t bytes;
        struct {
            unsigned order;
            std::uint32_t objects;
            std::uint32_t cpu_partial;
        } by_cpus[4]; // 1, 2, 8, 20
        std::uint32_t min_partial;
    };
    const std::vector<Row> rows{
        {16, {{0, 256, 1}, {0, 256, 1}, {0, 256, 1}, {0, 256, 1}}, 5},
        {24, {{0, 170, 2}, {0, 170, 2}, {0, 170, 2}, {0, 170, 2}}, 5},
        {32, {{0, 128, 2}, {0, 128, 2}, {0, 128, 2}, {0, 128, 2}}, 5},
        {64, {{0, 64, 4}, {0, 64, 4}, {0, 64, 4}, {0, 64, 4}}, 5},
        {96, {{0, 42, 6}, {0, 42, 6}, {0, 42, 6}, {0, 42, 6}}, 5},
        {128, {{0, 32, 8}, {0, 32, 8}, {0, 32, 8}, {0, 32, 8}}, 5},
        {192, {{0, 21, 12}, {0, 21, 12}, {0, 21, 12}, {1, 42, 6}}, 5},
        {256, {{0, 16, 7}, {0, 16, 7}, {1, 32, 4}, {1, 32, 4}}, 5},
        {512, {{0, 8, 13}, {1, 16, 7}, {2, 32, 4}, {2, 32, 4}}, 5},
        {1024, {{1, 8, 6}, {2, 16, 3}, {3, 32, 2}, {3, 32, 2}}, 5},
        {2048, {{2, 8, 6}, {3, 16, 3}, {3, 16, 3}, {3, 16, 3}}, 5},
        {4096, {{3, 8, 2}, {3, 8, 2}, {3, 8, 2}, {3, 8, 2}}, 6},
        {8192, {{3, 4, 3}, {3, 4, 3}, {3, 4, 3}, {3, 4, 3}}, 6},
    };
    constexpr std::uint32_t cpus[4]{1, 2, 8, 20};
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < 4; ++i) {
            check_geometry(row.bytes, cpus[i], row.by_cpus[i].order, row.by_cpus[i].objects,
                           row.by_cpus[i].cpu_partial, row.min_partial);
        }
    }
}

TEST_CASE("a first fill of 4096 nodes takes 32 slabs, and each later cycle 25") {
    // Worked by hand for 32 bytes (128 a slab, CPU partial list of 2, min_partial 5), in order:
    // removal: 31 slabs that are not current go full -> partial; from the third on every second one
    // drains the CPU's list of two to the node, which keeps the first 5 and frees the 25 others
    // empty; one stays on the CPU's list, and the current slab takes its own objects back.
    // Refill: current 1 + CPU 1 + node 5 slabs serve 896, so 25 new ones for the other 3200.
    Bench bench(32);
    std::vector<Object*> nodes = bench.alloc(4096);
    CHECK(bench.count(models::Counter::new_slabs) == 32);
    CHECK(bench.count(models::Counter::slab_alloc_slow) == 32);
    for (std::uint64_t cycle = 1; cycle <= 4; ++cycle) {
        INFO("cycle ", cycle);
        bench.free(nodes);
        CHECK(bench.count(models::Counter::slab_free_slow) == cycle * 31 * 128);
        CHECK(bench.count(models::Counter::slab_put_cpu_partial) == cycle * 31);
        CHECK(bench.count(models::Counter::freed_slabs) == cycle * 25);
        CHECK(bench.cache().node_partial() == 5);
        CHECK(bench.cache().cpu_partial(0) == 1);
        nodes = bench.alloc(4096);
        CHECK(bench.count(models::Counter::new_slabs) == 32 + cycle * 25);
        CHECK(bench.count(models::Counter::slab_get_partial) == cycle * 5);
        CHECK(bench.cache().node_partial() == 0);
        CHECK(bench.cache().cpu_partial(0) == 0);
    }
}

TEST_CASE("one visit to the node takes 1 slab and then half the CPU list's limit plus 1") {
    // get_partial_node stops when the further slabs exceed limit / 2: 3, 4 and 5 in all.
    const std::vector<std::pair<std::uint32_t, std::size_t>> rows{{32, 3}, {64, 4}, {96, 5}};
    for (const auto& row : rows) {
        const auto& bytes = row.first;
        const auto& taken = row.second;
        INFO(bytes, " bytes");
        Bench bench(bytes);
        const std::uint32_t objects = bench.cache().geometry().objects;
        bench.cache().add_resident(bench.cpu(), 20, objects - 1);
        REQUIRE(bench.cache().node_partial() == 20);
        bench.alloc(1);
        CHECK(bench.cache().node_partial() == 20 - taken);
        CHECK(bench.cache().cpu_partial(0) == taken - 1);
    }
}

TEST_CASE("objects freed into another CPU's current slab are found there and nowhere else") {
    Bench bench(32);
    const std::vector<Object*> nodes = bench.alloc(128); // the slab is CPU 0's and used up
    bench.free(nodes, 1);
    CHECK(bench.cache().cpu_partial(1) == 0);
    CHECK(bench.cache().node_partial() == 0);
    CHECK(bench.count(models::Counter::slab_free_slow) == 128);
    CHECK(bench.count(models::Counter::slab_put_cpu_partial) == 0);
    bench.alloc(128, 0); // one slow allocation takes the whole list over
    CHECK(bench.count(models::Counter::new_slabs) == 1);
    CHECK(bench.count(models::Counter::slab_alloc_slow) == 2);
}

TEST_CASE("a freed object is the next one allocated, on the fast path") {
    Bench bench(64);
    const std::vector<Object*> nodes = bench.alloc(3);
    bench.free({nodes[1]});
    CHECK(bench.cache().alloc(bench.cpu()) == nodes[1]);
    bench.free({nodes[0], nodes[2]});
    CHECK(bench.cache().alloc(bench.cpu()) == nodes[2]);
    CHECK(bench.count(models::Counter::slab_free_slow) == 0);
}

TEST_CASE("a bulk takes what single allocations would have taken") {
    Bench single(32);
    Bench bulk(32);
    single.alloc(300);
    std::vector<Object*> out(300);
    REQUIRE(bulk.cache().alloc_bulk(bulk.cpu(), out));
    CHECK(bulk.count(models::Counter::new_slabs) == single.count(models::Counter::new_slabs));
    CHECK(bulk.cache().live() == 300);
    CHECK(tests::charged(bulk.engine(), models::Primitive::slub_bulk_object) == 300);
    CHECK(tests::charged(bulk.engine(), models::Primitive::slub_bulk_call) == 1);
}

TEST_CASE("an injected failure strikes a bulk whole, and not memory that cannot fail") {
    Bench bench(32);
    bench.cache().inject_failure(10, 2);
    std::vector<Object*> out(8);
    CHECK(bench.cache().alloc_bulk(bench.cpu(), out));
    CHECK_FALSE(bench.cache().alloc_bulk(bench.cpu(), out)); // only 2 of 8 could be had
    CHECK(bench.cache().live() == 8);
    CHECK(bench.cache().alloc(bench.cpu()) != nullptr);
    CHECK(bench.cache().alloc(bench.cpu()) != nullptr);
    bench.cache().alloc_nofail(bench.cpu());
    CHECK(bench.cache().alloc(bench.cpu()) == nullptr);
    CHECK(bench.cache().alloc(bench.cpu()) != nullptr);
    CHECK(bench.cache().live() == 12);
}

TEST_CASE("shuffled freelists hold each object once and differ from slab to slab") {
    Bench bench(32, 2, true);
    std::vector<std::vector<std::ptrdiff_t>> orders;
    for (int slab = 0; slab < 3; ++slab) {
        std::vector<std::ptrdiff_t> order;
        for (const Object* object : bench.alloc(128)) {
            order.push_back(object - object->slab->objects.data());
        }
        orders.push_back(order);
        std::ranges::sort(order);
        for (std::ptrdiff_t i = 0; i < 128; ++i) {
            REQUIRE(order[static_cast<std::size_t>(i)] == i);
        }
    }
    CHECK(orders[0] != orders[1]);
    // One permutation, entered at different places: a rotation.
    auto& first = orders[0];
    const auto entry = std::ranges::find(first, orders[1].front());
    std::rotate(first.begin(), entry, first.end()); // clang 14 cannot have the one of std::ranges
    CHECK(first == orders[1]);
}

namespace {

/// SLUB on lists of plain numbers, written from the tables of docs/kernel-facts.md A1.1 - A1.5 and
/// nothing else: slow, and with every state spelt out.
class NaiveSlub {
  public:
    struct Handle {
        std::size_t slab;
        int object;
    };
    struct Counts {
        std::uint64_t created = 0;
        std::uint64_t discarded = 0;
        std::uint64_t slow_allocs = 0;
        std::uint64_t slow_frees = 0;
        std::uint64_t from_node = 0;
        std::uint64_t to_cpu = 0;
    };

    explicit NaiveSlub(const SlabGeometry& geometry)
        : geometry_(geometry)
        , cpus_(2) {}

    Handle alloc(std::size_t on) {
        Cpu& cpu = cpus_[on];
        if (cpu.freelist.empty()) {
            ++counts.slow_allocs;
            find_current(cpu);
        }
        const int object = cpu.freelist.front();
        cpu.freelist.pop_front();
        return {*cpu.slab, object};
    }

    void free(std::size_t on, Handle handle) {
        Cpu& cpu = cpus_[on];
        if (cpu.slab == handle.slab) {
            cpu.freelist.push_front(handle.object);
            return;
        }
        ++counts.slow_frees;
        State& slab = slabs_[handle.slab];
        const bool was_full = slab.freelist.empty();
        slab.freelist.push_front(handle.object);
        --slab.inuse;
        if (slab.frozen) {
            return;
        }
        if (was_full) {
            ++counts.to_cpu;
            put_cpu_partial(cpu, handle.slab, true);
            return;
        }
        const auto at = std::ranges::find(node, handle.slab);
        if (slab.inuse == 0 && at != node.end() && node.size() >= geometry_.min_partial) {
            node.erase(at);
            ++counts.discarded;
        }
    }

    std::size_t cpu_partial(std::size_t cpu) const { return cpus_[cpu].partial.size(); }

    Counts counts;
    std::deque<std::size_t> node;

  private:
    struct State {
        std::deque<int> freelist;
        int inuse = 0;
        bool frozen = false;
    };
    struct Cpu {
        std::optional<std::size_t> slab;
        std::deque<int> freelist;
        std::deque<std::size_t> partial;
    };

    void find_current(Cpu& cpu) {
        if (cpu.slab) {
            State& current = slabs_[*cpu.slab];
            if (!current.freelist.empty()) {
                take(cpu, *cpu.slab);
                return;
            }
            current.frozen = false;
            cpu.slab.reset();
        }
        if (!cpu.partial.empty()) {
            const std::size_t head = cpu.partial.front();
            cpu.partial.pop_front();
            take(cpu, head);
            return;
        }
        if (!node.empty()) {
            take_from_node(cpu);
            return;
        }
        ++counts.created;
        slabs_.emplace_back();
        for (int i = 0; i < static_cast<int>(geometry_.objects); ++i) {
            slabs_.back().freelist.push_back(i);
        }
        take(cpu, slabs_.size() - 1);
    }

    void take_from_node(Cpu& cpu) {
        bool first = true;
        std::uint32_t further = 0;
        while (!node.empty()) {
            const std::size_t slab = node.front();
            node.pop_front();
            ++counts.from_node;
            if (first) {
                take(cpu, slab);
                first = false;
                continue;
            }
            put_cpu_partial(cpu, slab, false);
            if (++further > geometry_.cpu_partial_slabs / 2) {
                return;
            }
        }
    }

    void take(Cpu& cpu, std::size_t slab) {
        State& state = slabs_[slab];
        cpu.slab = slab;
        cpu.freelist.swap(state.freelist);
        state.freelist.clear();
        state.inuse = static_cast<int>(geometry_.objects);
        state.frozen = true;
    }

    void put_cpu_partial(Cpu& cpu, std::size_t slab, bool drain) {
        std::deque<std::size_t> old;
        if (drain && !cpu.partial.empty() && cpu.partial.size() >= geometry_.cpu_partial_slabs) {
            old.swap(cpu.partial);
        }
        cpu.partial.push_front(slab);
        for (const std::size_t each : old) {
            if (slabs_[each].inuse == 0 && node.size() >= geometry_.min_partial) {
                ++counts.discarded;
            } else {
                node.push_back(each);
            }
        }
    }

    SlabGeometry geometry_;
    std::vector<Cpu> cpus_;
    std::deque<State> slabs_;
};

/// Random allocations and frees on two CPUs, in waves that fill and empty the cache.
void compare_with_naive(std::uint32_t bytes, std::uint32_t cpus_seen, std::uint64_t seed) {
    INFO(bytes, " bytes, ", cpus_seen, " CPUs, seed ", seed);
    sim::RandomStream random(seed, "slub");
    Bench bench(bytes, cpus_seen);
    NaiveSlub naive(bench.cache().geometry());
    std::vector<std::pair<Object*, NaiveSlub::Handle>> live;
    const std::uint64_t wave = 40ULL * bench.cache().geometry().objects;
    for (std::uint64_t step = 0; step < 12 * wave; ++step) {
        const bool growing = step / wave % 2 == 0;
        const auto cpu = static_cast<std::uint16_t>(random.below(8) == 0 ? 1 : 0);
        if (live.empty() || random.below(10) < (growing ? 8U : 1U)) {
            Object* object = bench.cache().alloc(bench.cpu(cpu));
            const NaiveSlub::Handle handle = naive.alloc(cpu);
            REQUIRE(object - object->slab->objects.data() == handle.object);
            live.emplace_back(object, handle);
        } else {
            // In order, from the top, or anywhere.
            const std::uint64_t how = random.below(3);
            const std::size_t at = how == 0   ? 0
                                   : how == 1 ? live.size() - 1
                                              : static_cast<std::size_t>(random.below(live.size()));
            bench.cache().free(bench.cpu(cpu), *live[at].first);
            naive.free(cpu, live[at].second);
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
        }
        REQUIRE(bench.cache().node_partial() == naive.node.size());
        REQUIRE(bench.cache().cpu_partial(0) == naive.cpu_partial(0));
        REQUIRE(bench.cache().cpu_partial(1) == naive.cpu_partial(1));
    }
    CHECK(bench.count(models::Counter::new_slabs) == naive.counts.created);
    CHECK(bench.count(models::Counter::freed_slabs) == naive.counts.discarded);
    CHECK(bench.count(models::Counter::slab_alloc_slow) == naive.counts.slow_allocs);
    CHECK(bench.count(models::Counter::slab_free_slow) == naive.counts.slow_frees);
    CHECK(bench.count(models::Counter::slab_get_partial) == naive.counts.from_node);
    CHECK(bench.count(models::Counter::slab_put_cpu_partial) == naive.counts.to_cpu);
    CHECK(naive.counts.discarded > 0);
    CHECK(naive.counts.from_node > 0);

    const models::SlabCensus census = bench.cache().census();
    CHECK(census.slabs == naive.counts.created - naive.counts.discarded);
    CHECK(census.objects == live.size() + census.free);
    CHECK(bench.cache().live() == live.size());
    CHECK(bench.pages().bytes_in_use() == census.bytes);
}

} // namespace

TEST_CASE("the state machine equals a naive one over random allocations and frees on two CPUs") {
    for (const std::uint32_t bytes : {32U, 96U, 192U, 256U, 1024U, 4096U}) {
        for (const std::uint64_t seed : {1U, 2U}) {
            compare_with_naive(bytes, 2, seed);
        }
    }
    compare_with_naive(256, 20, 3);
    compare_with_naive(1024, 20, 4);
}
