// How long the nodes behind registered files live: per node (6.13+) and per ring in order
// (to 6.12).

#include "models/uring/ring.h"
#include "models/uring/syscalls.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <vector>

#include "support.h"

using namespace uringsim;
using models::FileUpdate;
using models::Object;

namespace {

class Bench {
  public:
    explicit Bench(const std::string& design)
        : kernel(tests::load_design(design), tests::machine_of(4), 1)
        , ring(kernel.create_ring(cpu(), "ring", {})) {
        REQUIRE(models::register_files_sparse(cpu(), kernel, ring, 64, false) == 0);
    }
    sim::Cpu& cpu() { return kernel.engine().cpu(0); }
    models::RsrcLifetime& lifetime() { return ring.lifetime(); }
    int store(std::uint32_t slot, std::uint64_t tag = 0) {
        return update(slot, {FileUpdate::Kind::install, &file, tag});
    }
    int remove(std::uint32_t slot) { return update(slot, {FileUpdate::Kind::remove, nullptr, 0}); }
    /// A request that uses the slot.
    Object* use(std::uint32_t slot) {
        Object* node = nullptr;
        REQUIRE(ring.files().use(cpu(), slot, node) == &file);
        return node;
    }
    std::vector<std::uint64_t> tags() {
        std::vector<std::uint64_t> all;
        while (const auto cqe = ring.cq().reap(cpu())) {
            all.push_back(cqe->user_data);
        }
        return all;
    }
    std::uint64_t node_allocs() {
        return tests::counted(kernel.engine(), models::Counter::node_alloc);
    }
    void close() {
        kernel.close_ring(cpu(), ring);
        kernel.engine().run();
        CHECK(kernel.audit() == std::vector<std::string>{});
        CHECK(file.references == 1);
    }

    models::Kernel kernel;
    models::Ring& ring;
    models::File& file{kernel.open_file()};

  private:
    int update(std::uint32_t slot, const FileUpdate& entry) {
        const std::vector<FileUpdate> entries{entry};
        return models::register_files_update(cpu(), kernel, ring, slot, entries);
    }
};

} // namespace

TEST_CASE("per node: each install allocates, each release is at once unless a request holds it") {
    Bench bench("linux-6.18");
    REQUIRE(bench.store(0, 10) == 1);
    REQUIRE(bench.store(1, 11) == 1);
    CHECK(bench.node_allocs() == 2);
    CHECK(bench.lifetime().nodes_live() == 2);
    Object* held = bench.use(0);
    CHECK(bench.remove(0) == 1);
    CHECK(bench.remove(1) == 1);
    CHECK(bench.tags() == std::vector<std::uint64_t>{11}); // 0 does not hold 1 back
    CHECK(bench.lifetime().files_held() == 1);
    CHECK(bench.file.references == 2);
    bench.lifetime().put(bench.cpu(), *held);
    CHECK(bench.tags() == std::vector<std::uint64_t>{10});
    CHECK(bench.lifetime().nodes_live() == 0);
    CHECK(bench.ring.node_cache().cached() == 2);
    bench.close();
}

TEST_CASE("per ring: installs take no node, removals take one each and are released in order") {
    Bench bench("linux-6.12");
    const std::uint64_t before = bench.node_allocs();
    REQUIRE(bench.store(0, 10) == 1);
    REQUIRE(bench.store(1, 11) == 1);
    REQUIRE(bench.store(2, 12) == 1);
    CHECK(bench.node_allocs() == before);
    CHECK(bench.remove(2) == 1);
    CHECK(bench.node_allocs() == before + 1);
    CHECK(bench.tags() == std::vector<std::uint64_t>{12});

    Object* held = bench.use(0); // the ring's current node
    CHECK(bench.remove(1) == 1);
    CHECK(bench.remove(0) == 1);
    CHECK(bench.tags().empty()); // not even slot 1, which nobody used
    CHECK(bench.lifetime().files_held() == 2);
    REQUIRE(bench.store(5, 15) == 1);
    Object* later = bench.use(5);
    CHECK(bench.remove(5) == 1);
    bench.lifetime().put(bench.cpu(), *held);
    CHECK(bench.tags() == std::vector<std::uint64_t>{11, 10}); // 5 is still used
    bench.lifetime().put(bench.cpu(), *later);
    CHECK(bench.tags() == std::vector<std::uint64_t>{15});
    CHECK(bench.lifetime().files_held() == 0);
    bench.close();
}

TEST_CASE("per ring: without memory for the next node a removal leaves the slot") {
    Bench bench("linux-6.12");
    REQUIRE(bench.store(0) == 1);
    bench.kernel.node_slab().inject_failure(0, 1);
    CHECK(bench.remove(0) == -ENOMEM);
    CHECK(bench.ring.files().occupied(0));
    bench.file.get(bench.cpu());
    bench.kernel.node_slab().inject_failure(0, 1);
    CHECK(bench.ring.files().fixed_fd_install(bench.cpu(), bench.file, 1) == -ENOMEM);
    bench.file.put(bench.cpu());
    CHECK(bench.remove(0) == 1);
    bench.close();
}

TEST_CASE("unregister: 6.13 and later post the tags of what is installed, 6.12 does not") {
    for (const char* design : {"linux-6.12", "linux-6.13", "linux-6.18"}) {
        INFO(design);
        Bench bench(design);
        REQUIRE(bench.store(3, 33) == 1);
        REQUIRE(bench.store(7, 77) == 1);
        // Without memory, too: it allocates nothing.
        bench.kernel.node_slab().inject_failure(0, 1000);
        const std::uint64_t before = bench.node_allocs();
        CHECK(models::unregister_files(bench.cpu(), bench.kernel, bench.ring) == 0);
        CHECK(bench.node_allocs() == before);
        const bool per_ring = std::string(design) == "linux-6.12";
        CHECK(bench.tags() ==
              (per_ring ? std::vector<std::uint64_t>{} : std::vector<std::uint64_t>{77, 33}));
        CHECK(bench.file.references == 1);
        bench.close();
    }
}

TEST_CASE("the node cache keeps up to its limit of released nodes; 6.13 has none") {
    for (const auto& row : std::vector<std::pair<std::string, std::uint32_t>>{
             {"linux-6.12", 32}, {"linux-6.13", 0}, {"linux-6.18", 128}}) {
        const auto& design = row.first;
        const auto& limit = row.second;
        INFO(design);
        Bench bench(design);
        CHECK(bench.ring.node_cache().capacity() == limit);
        std::vector<Object*> nodes;
        for (int i = 0; i < 200; ++i) {
            nodes.push_back(bench.ring.node_cache().get(bench.cpu()));
        }
        for (Object* node : nodes) {
            bench.ring.node_cache().put(bench.cpu(), *node);
        }
        CHECK(bench.ring.node_cache().cached() == limit);
        CHECK(tests::counted(bench.kernel.engine(), models::Counter::node_free) == 200 - limit);
        bench.close();
    }
}
