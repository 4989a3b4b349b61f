// The cache policies that no kernel has: their counts by hand.

#include "models/counters.h"
#include "models/uring/ring.h"
#include "models/uring/syscalls.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support.h"

using namespace uringsim;
using models::Counter;
using models::FileUpdate;
using models::Object;

namespace {

/// A ring with a sparse table on a design; what its node cache counts.
class Bench {
  public:
    explicit Bench(const std::string& design, std::uint32_t slots,
                   const scenarios::KnobOverrides& knobs = {})
        : kernel(tests::load_design(design, knobs), tests::machine_of(4), 1)
        , ring(kernel.create_ring(cpu(), "ring", {})) {
        REQUIRE(models::register_files_sparse(cpu(), kernel, ring, slots, false) == 0);
    }
    sim::Cpu& cpu() { return kernel.engine().cpu(0); }
    models::NodeCache& cache() { return ring.node_cache(); }
    std::uint64_t count(Counter counter) { return tests::counted(kernel.engine(), counter); }

    void install(std::uint32_t slots) {
        for (std::uint32_t i = 0; i < slots; ++i) {
            update(i, {FileUpdate::Kind::install, &file, 0});
        }
    }
    void remove(std::uint32_t slots) {
        for (std::uint32_t i = 0; i < slots; ++i) {
            update(i, {FileUpdate::Kind::remove, nullptr, 0});
        }
    }
    void close() {
        kernel.close_ring(cpu(), ring);
        kernel.engine().run();
        CHECK(kernel.audit() == std::vector<std::string>{});
    }

    models::Kernel kernel;
    models::Ring& ring;
    models::File& file{kernel.open_file()};

  private:
    void update(std::uint32_t slot, const FileUpdate& entry) {
        const std::vector<FileUpdate> entries{entry};
        REQUIRE(models::register_files_update(cpu(), kernel, ring, slot, entries) == 1);
    }
};

} // namespace

TEST_CASE("raised_limit: nothing is allocated at registration, and all removals are kept") {
    Bench bench("own-raised-limit", 1000);
    CHECK(bench.cache().capacity() == 1000);
    CHECK(bench.cache().cached() == 0);
    CHECK(bench.cache().array_bytes() == 8000);
    bench.install(300);
    CHECK(bench.count(Counter::node_cache_miss) == 300);
    bench.remove(300);
    CHECK(bench.cache().cached() == 300); // linux-6.18 keeps 128
    bench.install(300);
    CHECK(bench.count(Counter::node_cache_hit) == 300);
    CHECK(bench.count(Counter::node_free) == 0);
    bench.close();
}

TEST_CASE("raised_limit: the cap holds, and a small table leaves the limit alone") {
    Bench capped("own-raised-limit", 8192);
    CHECK(capped.cache().capacity() == 4096);
    capped.close();
    Bench small("own-raised-limit", 64);
    CHECK(small.cache().capacity() == 128);
    small.close();
}

TEST_CASE("prefill_on_miss: registration allocates nothing, the first install the whole table") {
    Bench bench("own-prefill-on-miss", 1000);
    CHECK(bench.count(Counter::prefill_objects) == 0);
    CHECK(bench.cache().capacity() == 128);
    bench.install(1);
    CHECK(bench.count(Counter::prefill_objects) == 1000);
    CHECK(bench.cache().cached() == 999);
    bench.install(1); // a replacement: takes a second node, then releases the first
    CHECK(bench.count(Counter::node_cache_miss) == 1);
    CHECK(bench.count(Counter::node_cache_hit) == 1);
    bench.close();
}

TEST_CASE("doubling: 1, 2, 4 ... nodes a miss, the last one only what the table still needs") {
    Bench bench("own-doubling", 100);
    bench.install(100);
    // Misses find 0, 1, 3, 7, 15, 31, 63 installed: 1 + 2 + 4 + 8 + 16 + 32 + min(64, 37).
    CHECK(bench.count(Counter::node_cache_miss) == 7);
    CHECK(bench.count(Counter::node_cache_hit) == 93);
    CHECK(bench.count(Counter::bulk_calls) == 6); // the first asks for one
    CHECK(bench.count(Counter::bulk_objects) == 2 + 4 + 8 + 16 + 32 + 37);
    CHECK(bench.cache().cached() == 0);
    bench.close();
}

TEST_CASE("doubling: no refill is larger than the cap, and kmalloc works as well as bulk") {
    Bench bench("linux-6.18", 100,
                {{"node_cache.policy", "doubling"}, {"node_cache.prefill_cap", "8"}});
    bench.install(31);
    // 1 + 2 + 4 + 8 + 8 + 8 = 31 nodes in 6 misses.
    CHECK(bench.count(Counter::node_cache_miss) == 6);
    CHECK(bench.count(Counter::bulk_calls) == 0);
    CHECK(bench.cache().cached() == 0);
    bench.close();
}

TEST_CASE("prefill_fraction: so many percent of the raised limit, rounded down") {
    Bench bench("own-prefill-quarter", 1002);
    CHECK(bench.cache().capacity() == 1002);
    CHECK(bench.count(Counter::prefill_objects) == 250);
    bench.install(300);
    CHECK(bench.count(Counter::node_cache_hit) == 250);
    CHECK(bench.count(Counter::node_cache_miss) == 50);
    bench.close();
    Bench none("own-prefill-quarter", 1002, {{"node_cache.prefill_percent", "0"}});
    CHECK(none.count(Counter::prefill_objects) == 0);
    CHECK(none.cache().capacity() == 1002);
    none.close();
}

TEST_CASE("embedded: memory is committed with the table, and installs allocate nothing") {
    Bench bench("own-embedded", 1000);
    CHECK(bench.cache().array_bytes() == 24000);
    bench.kernel.node_slab().inject_failure(0, 1U << 20U); // the slab allocator is never asked
    bench.install(1000);
    CHECK(bench.count(Counter::node_cache_hit) == 1000);
    CHECK(bench.count(Counter::node_cache_miss) == 0);
    CHECK(bench.cache().array_bytes() == 0); // all of it is in use
    bench.remove(1000);
    CHECK(bench.cache().array_bytes() == 24000);
    CHECK(models::unregister_files(bench.cpu(), bench.kernel, bench.ring) == 0);
    CHECK(bench.cache().array_bytes() == 0); // gone with the table
    CHECK(models::register_files_sparse(bench.cpu(), bench.kernel, bench.ring, 10, false) == 0);
    CHECK(bench.cache().array_bytes() == 240);
    bench.close();
}

TEST_CASE("embedded: a request that holds a node keeps the memory of a table that is gone") {
    Bench bench("own-embedded", 16);
    bench.install(2);
    Object* node = nullptr;
    REQUIRE(bench.ring.files().use(bench.cpu(), 0, node) == &bench.file);
    CHECK(models::unregister_files(bench.cpu(), bench.kernel, bench.ring) == 0);
    CHECK(bench.cache().array_bytes() == 15 * 24);
    bench.ring.lifetime().put(bench.cpu(), *node);
    CHECK(bench.cache().array_bytes() == 0);
    bench.close();
}

TEST_CASE("per_cpu: a ring finds the nodes that another released on the same CPU") {
    Bench bench("own-per-cpu", 64);
    bench.install(64);
    bench.remove(64);
    CHECK(bench.count(Counter::node_cache_put) == 64);
    models::Ring& other = bench.kernel.create_ring(bench.cpu(), "other", {});
    for (int i = 0; i < 64; ++i) {
        other.node_cache().put(bench.cpu(), *other.node_cache().get(bench.cpu()));
    }
    CHECK(bench.count(Counter::node_cache_hit) == 64);
    // Not on another CPU.
    sim::Cpu& far = bench.kernel.engine().cpu(1);
    other.node_cache().put(far, *other.node_cache().get(far));
    CHECK(bench.count(Counter::node_cache_miss) == 65);
    bench.kernel.close_ring(bench.cpu(), other);
    bench.kernel.engine().run();
    CHECK(bench.count(Counter::node_free) == 0); // the nodes outlive that ring
    bench.close();
    CHECK(bench.count(Counter::node_free) == 65); // and the last ring empties the stacks
}

TEST_CASE("trimmed: what is cached beyond the limit goes after a quiet period, not before") {
    // The limit is 128 and the quiet period 10 ms.
    for (const auto& [sleep_us, left] :
         std::vector<std::pair<int, std::uint64_t>>{{9000, 1000}, {12000, 128}}) {
        const std::string text = R"({ "name": "quiet", "rings": { "target": {} }, "tasks": [
            { "name": "installer", "cpu": 0, "program": [
              { "op": "create_ring", "ring": "target" },
              { "op": "register_files_sparse", "ring": "target", "count": 1000 },
              { "op": "update_files", "ring": "target", "count": 1000, "entries": 1000,
                "via": "call" },
              { "op": "remove_files", "ring": "target", "via": "call" },
              { "op": "sleep", "us": )" +
                                 std::to_string(sleep_us) +
                                 R"( },
              { "op": "snapshot", "ring": "target", "name": "later" },
              { "op": "close_ring", "ring": "target" } ] } ] })";
        const auto result = scenarios::replay(tests::parse_scenario(text),
                                              tests::load_design("own-trimmed"), tests::i7());
        REQUIRE(result.snapshots.size() == 1);
        CHECK(result.snapshots[0].cached == left);
        CHECK(result.snapshots[0].capacity == 1000);
    }
}

TEST_CASE("own designs leave nothing behind on any scenario of tables") {
    for (const char* design : {"own-raised-limit", "own-prefill-on-miss", "own-doubling",
                               "own-prefill-quarter", "own-embedded", "own-per-cpu",
                               "own-trimmed"}) {
        INFO(design);
        CHECK_NOTHROW(tests::run("cold-warm", design, {{"slots", "200"}, {"rounds", "2"}}));
        CHECK_NOTHROW(tests::run("remove-refill", design, {{"slots", "300"}, {"rounds", "2"}}));
        CHECK_NOTHROW(tests::run("register-many-install-few", design,
                                 {{"slots", "512"}, {"rounds", "3"}, {"gap_us", "20000"}}));
    }
}
