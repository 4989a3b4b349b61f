// Published event counts: each row of scenarios/published/send-fd-counts.json, to the unit, and
// what the RFC's cover letter says in words. Every message names the source.

#include "analysis/published.h"
#include "analysis/validate.h"
#include "models/uring/node_cache.h"
#include "models/uring/ring.h"
#include "models/uring/syscalls.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "support.h"

using namespace uringsim;

namespace {

std::uint64_t in_phase(const scenarios::Result& result, const std::string& phase,
                       const std::string& counter) {
    const auto* found = result.find_phase(phase);
    REQUIRE(found != nullptr);
    REQUIRE(models::find_counter(counter).has_value());
    return scenarios::counter_value(found->counters, counter);
}

} // namespace

TEST_CASE("published counts hold to the unit") {
    scenarios::Diagnostics diagnostics;
    auto files = analysis::load_published_files(tests::library(), diagnostics);
    std::erase_if(files, [](const auto& file) { return file.source != "send-fd-counts"; });
    REQUIRE(files.size() == 1);
    const auto validation = analysis::validate(tests::library(), files, 2, diagnostics);
    INFO(diagnostics.to_string());
    REQUIRE(validation);
    CHECK(validation->total.counts == 46);
    CHECK(validation->total.counts_exact == 46);
    for (const analysis::ValidatedFigure& cell : validation->figures) {
        INFO(cell.figure.id, " on ", cell.figure.design, "; source: ", cell.figure.citation);
        CHECK(cell.simulated == cell.figure.value);
    }
}

TEST_CASE("each cycle of a reuse run counts the same, one by one") {
    // Source: as above, "each later cycle".
    std::uint64_t before = 0;
    for (const char* rounds : {"1", "2", "3"}) {
        const auto result = tests::run("reuse-counted", "linux-6.18", {{"rounds", rounds}});
        const std::uint64_t misses = in_phase(result, "cycle", "node_cache_miss");
        CHECK(misses - before == 3968);
        before = misses;
    }
}

TEST_CASE("published sizes: node 24 bytes in a slot of 32, 128 a slab; arrays of 8 bytes a node") {
    // Source: as above, "node payload / slab stride / objects per 4 KiB slab" and "cache memory".
    const models::Design design = tests::load_design("rfc-0001+0002+0003");
    CHECK(design.node_bytes == 24);
    models::Kernel kernel(design, tests::i7(), 1);
    CHECK(kernel.node_slab().geometry().slot_bytes == 32);
    CHECK(kernel.node_slab().geometry().objects == 128);
    CHECK(kernel.node_slab().geometry().order == 0);

    sim::Cpu& cpu = kernel.engine().cpu(0);
    models::Ring& ring = kernel.create_ring(cpu, "target", {});
    CHECK(ring.node_cache().array_bytes() == 1024);
    REQUIRE(models::register_files_sparse(cpu, kernel, ring, 4096, false) == 0);
    CHECK(ring.node_cache().cached() * kernel.node_slab().geometry().slot_bytes == 131072);
    CHECK(ring.node_cache().array_bytes() == 32768);
    CHECK(kernel.peaks().retained_bytes == 131072 + 32768);

    for (const char* name : {"linux-6.18", "rfc-0001", "rfc-0001+0002"}) {
        models::Kernel other(tests::load_design(name), tests::i7(), 1);
        CHECK(other.node_slab().geometry().slot_bytes == 32);
        CHECK(other.node_slab().geometry().objects == 128);
        models::Ring& its_ring = other.create_ring(other.engine().cpu(0), "ring", {});
        CHECK(its_ring.node_cache().array_bytes() == 1024);
    }
}

TEST_CASE("8192 slots prefill 4096 nodes and fall through to bulk for the remainder") {
    // Source: cover letter of the RFC, "Testing".
    const auto result = tests::run("register-fill-unregister", "rfc-0001+0002+0003",
                                   {{"slots", "8192"}, {"installs", "8192"}});
    CHECK(in_phase(result, "registration", "prefill_objects") == 4096);
    CHECK(in_phase(result, "fill", "node_cache_hit") == 8192 - 128);
    CHECK(in_phase(result, "fill", "node_cache_miss") == 128);
    CHECK(in_phase(result, "fill", "bulk_calls") == 128);
    CHECK(in_phase(result, "fill", "bulk_objects") == 4096);
}

TEST_CASE("the opt-in design prefills exactly where the registration asks for it") {
    // Source: cover letter of the RFC, the alternative to patch 0003.
    const auto asked = tests::run("register-fill-unregister", "rfc-opt-in");
    CHECK(in_phase(asked, "registration", "prefill_objects") == 4096);
    CHECK(in_phase(asked, "fill", "node_cache_miss") == 0);
    CHECK(in_phase(asked, "fill", "new_slabs") == 0);

    const std::string few = "register-many-install-few"; // does not carry the flag
    const auto not_asked = tests::run(few, "rfc-opt-in", {{"rounds", "3"}});
    CHECK(scenarios::counter_value(not_asked.counters, "prefill_objects") == 0);
    CHECK(in_phase(not_asked, "fill", "bulk_calls") == 3 * 2);
    const auto always = tests::run(few, "rfc-0001+0002+0003", {{"rounds", "3"}});
    CHECK(in_phase(always, "registration", "prefill_objects") == 3 * 4096);

    // Without the flag it is 0001+0002, to the cycle.
    const auto without = tests::run(few, "rfc-0001+0002", {{"rounds", "3"}});
    CHECK(without.fingerprint == not_asked.fingerprint);
}

TEST_CASE("prefill whose bulk fails: old nodes survive and the larger capacity stays") {
    // Source: RFC 0003; "Chengfeng ran the alloc_cache code through allocation-failure ... cases".
    models::Kernel kernel(tests::load_design("rfc-0001+0002+0003"), tests::i7(), 1);
    sim::Cpu& cpu = kernel.engine().cpu(0);
    models::Ring& ring = kernel.create_ring(cpu, "target", {});
    models::NodeCache& cache = ring.node_cache();
    models::Object* node = cache.get(cpu); // a refill of 32
    REQUIRE(node != nullptr);
    REQUIRE(cache.cached() == 31);
    REQUIRE(cache.capacity() == 128);

    kernel.node_slab().inject_failure(0, 1);
    REQUIRE(models::register_files_sparse(cpu, kernel, ring, 4096, false) == 0);
    CHECK(cache.cached() == 31);
    CHECK(cache.capacity() == 4096);
    CHECK(cache.array_bytes() == 32768);

    // The larger array is of use: what is freed now stays.
    std::vector<models::Object*> nodes{node};
    while (nodes.size() < 500) {
        nodes.push_back(cache.get(cpu));
        REQUIRE(nodes.back() != nullptr);
    }
    const std::uint32_t left = cache.cached();
    for (models::Object* each : nodes) {
        cache.put(cpu, *each);
    }
    CHECK(cache.cached() == left + 500);
    kernel.close_ring(cpu, ring);
    kernel.engine().run();
    CHECK(kernel.audit().empty());
}
