// Rings: sizes, submission, completion order, and what is left when they are gone.

#include "models/uring/ring.h"
#include "models/uring/syscalls.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <map>
#include <vector>

#include "support.h"

using namespace uringsim;
using models::Opcode;
using models::Ring;
using models::Sqe;

namespace {

/// Who calls io_uring_enter; it may end up on a wait queue.
class Caller final : public sim::Task {
  public:
    explicit Caller(sim::Cpu& cpu)
        : Task("caller", sim::TaskId{1}, cpu) {}

    sim::Step step(sim::Cpu& /*cpu*/) override { return sim::Step::done(); }

    models::EnterCall& call() { return call_; }

  private:
    models::EnterCall call_;
};

class Bench {
  public:
    explicit Bench(models::RingParams params = {}, const std::string& design = "linux-6.18")
        : kernel(tests::load_design(design), tests::machine_of(4), 1)
        , ring(kernel.create_ring(cpu(), "ring", params)) {}

    sim::Cpu& cpu() { return kernel.engine().cpu(0); }
    void prepare(Opcode opcode, std::uint64_t user_data) {
        Sqe sqe;
        sqe.opcode = opcode;
        sqe.user_data = user_data;
        tests::prepare(cpu(), ring, sqe);
    }
    /// A whole io_uring_enter without a wait.
    int enter(std::uint32_t to_submit, std::optional<std::uint32_t> wait = {}) {
        Caller caller(cpu());
        caller.call().begin(ring, {to_submit, wait.value_or(0), wait.has_value()});
        for (;;) {
            const auto progress = caller.call().step(cpu(), kernel, caller);
            if (progress == models::EnterCall::Progress::done) {
                return caller.call().result();
            }
            if (progress == models::EnterCall::Progress::blocked) {
                return blocked;
            }
        }
    }
    std::vector<std::uint64_t> reap() {
        std::vector<std::uint64_t> all;
        while (const auto cqe = ring.cq().reap(cpu())) {
            all.push_back(cqe->user_data);
        }
        return all;
    }

    static constexpr int blocked = 1'000'000;
    models::Kernel kernel;
    Ring& ring;
};

} // namespace

TEST_CASE("set-up rounds up to powers of two; the CQ is twice the SQ unless asked otherwise") {
    const auto sizes = [](std::uint32_t sq, std::uint32_t cq) {
        Bench bench({.sq_entries = sq, .cq_entries = cq});
        return std::pair(bench.ring.sq_entries(), bench.ring.cq().entries());
    };
    CHECK(sizes(1, 0) == std::pair(1U, 2U));
    CHECK(sizes(5, 0) == std::pair(8U, 16U));
    CHECK(sizes(256, 0) == std::pair(256U, 512U));
    CHECK(sizes(5, 7) == std::pair(8U, 8U));
    CHECK(sizes(4, 100) == std::pair(4U, 128U));
    const auto check = [](std::uint32_t sq, std::uint32_t cq) {
        return models::RingParams{.sq_entries = sq, .cq_entries = cq}.check();
    };
    CHECK(check(0, 0) == -EINVAL);
    CHECK(check(32768, 65536) == 0);
    CHECK(check(32769, 0) == -EINVAL);
    CHECK(check(1, 65537) == -EINVAL);
    CHECK(check(8, 4) == -EINVAL);
    CHECK(check(5, 8) == 0);
    CHECK(check(5, 5) == 0); // both become 8
}

TEST_CASE("set-up allocates what the kernel allocates for 256 entries") {
    // Source: docs/kernel-facts.md A6, from the BTF of a 6.18.
    Bench bench;
    std::map<std::string, std::uint64_t> live;
    for (const auto& [name, cache] : bench.kernel.memory().caches()) {
        live[name] = cache->live();
    }
    CHECK(live.at("kmalloc-2k") == 1);  // io_ring_ctx
    CHECK(live.at("kmalloc-1k") == 5);  // arrays of 128: netmsg, rw, cmd, node, imu
    CHECK(live.at("kmalloc-256") == 2); // arrays of 32: apoll, futex
    CHECK(live.at("kmalloc-32") == 1);  // io_tctx_node, in the nodes' own size class
}

TEST_CASE("a batch of inline requests completes in order, at its end") {
    Bench bench({.sq_entries = 8});
    for (std::uint64_t i = 0; i < 5; ++i) {
        bench.prepare(Opcode::nop, 100 + i);
    }
    CHECK(bench.enter(5) == 5);
    CHECK(bench.reap() == std::vector<std::uint64_t>{100, 101, 102, 103, 104});
    CHECK(bench.ring.in_flight() == 0);
    CHECK(bench.ring.requests().cached() == 8); // one bulk of 8
    for (std::uint64_t i = 0; i < 8; ++i) {
        bench.prepare(Opcode::nop, i);
    }
    CHECK(bench.enter(8) == 8);
    CHECK(bench.ring.requests().cached() == 8); // the free list served all
}

TEST_CASE("an enter that submits less than it was asked for returns before it waits") {
    Bench bench({.sq_entries = 8});
    CHECK(bench.enter(3, 1) == 0); // an empty SQ
    bench.prepare(Opcode::nop, 1);
    CHECK(bench.enter(3, 2) == 1);
    CHECK(bench.enter(0, 2) == Bench::blocked);
}

TEST_CASE("no memory for requests: -EAGAIN for the first, else what was submitted") {
    Bench bench({.sq_entries = 16});
    for (std::uint64_t i = 0; i < 10; ++i) {
        bench.prepare(Opcode::nop, i);
    }
    bench.kernel.request_slab().inject_failure(0, 2); // the bulk and the single one
    CHECK(bench.enter(10, 10) == -EAGAIN);
    CHECK(bench.ring.prepared() == 10);
    bench.kernel.request_slab().inject_failure(8, 2);
    CHECK(bench.enter(10, 10) == 8);
    CHECK(bench.reap().size() == 8);
    bench.kernel.request_slab().inject_failure(0, 1); // only the bulk: one at a time
    CHECK(bench.enter(2, 2) == 2);
    CHECK(bench.reap() == std::vector<std::uint64_t>{8, 9});
    CHECK(tests::counted(bench.kernel.engine(), models::Counter::request_alloc) == 8);
}

TEST_CASE("a disabled ring submits nothing") {
    Bench bench({.disabled = true});
    CHECK(bench.enter(0) == -EBADFD);
    bench.ring.enable();
    CHECK(bench.enter(0) == 0);
}

TEST_CASE("only an enter with GETEVENTS flushes the overflow list, and a lost CQE is told once") {
    Bench bench({.sq_entries = 2, .cq_entries = 2});
    for (std::uint64_t i = 0; i < 4; ++i) {
        bench.prepare(Opcode::nop, i);
        CHECK(bench.enter(1) == 1);
    }
    CHECK(bench.reap().size() == 2);
    CHECK(bench.enter(0) == 0);
    CHECK(bench.ring.cq().ready() == 0);
    CHECK(bench.enter(0, 0) == 0);
    CHECK(bench.reap() == std::vector<std::uint64_t>{2, 3});

    bench.prepare(Opcode::nop, 4);
    bench.prepare(Opcode::nop, 5);
    CHECK(bench.enter(2) == 2);
    bench.ring.cq().inject_overflow_failure(0, 1);
    bench.prepare(Opcode::nop, 6);
    CHECK(bench.enter(1) == 1);
    CHECK(bench.ring.cq().dropped() == 1);
    CHECK(bench.enter(0, 2) == 0); // enough is there
    CHECK(bench.reap().size() == 2);
    bench.prepare(Opcode::nop, 7);
    CHECK(bench.enter(1, 2) == 1); // has submitted: not told, but does not sleep either
    CHECK(bench.enter(0, 2) == 0); // a CQE is there: not told
    CHECK(bench.reap().size() == 1);
    CHECK(bench.enter(0, 1) == -EBADR);
    CHECK(bench.enter(0, 1) == Bench::blocked);
}

TEST_CASE("a released resource's tag comes after the CQEs of the batch whose request held it") {
    // io_free_batch_list runs when all CQEs of the batch are out.
    Bench bench({.sq_entries = 8});
    models::File& file = bench.kernel.open_file();
    REQUIRE(models::register_files_sparse(bench.cpu(), bench.kernel, bench.ring, 2, false) == 0);
    const std::vector<models::FileUpdate> tagged{{models::FileUpdate::Kind::install, &file, 77}};
    const std::vector<models::FileUpdate> removal{{models::FileUpdate::Kind::remove, nullptr, 0}};
    REQUIRE(models::register_files_update(bench.cpu(), bench.kernel, bench.ring, 0, tagged) == 1);
    bench.prepare(Opcode::poll_add, 5);
    CHECK(bench.enter(1) == 1);
    REQUIRE(models::register_files_update(bench.cpu(), bench.kernel, bench.ring, 0, removal) == 1);
    CHECK(bench.ring.lifetime().files_held() == 1);
    CHECK(bench.reap().empty());
    CHECK(bench.ring.end_poll(bench.cpu(), 1));
    CHECK(bench.reap() == std::vector<std::uint64_t>{5, 77});
    CHECK(file.references == 1);
}

TEST_CASE("after the last exit nothing is left, and the task's node waits for its task") {
    for (const char* design : {"linux-6.12", "linux-6.13", "linux-6.18", "rfc-0001+0002+0003"}) {
        INFO(design);
        Bench bench({.sq_entries = 8, .cq_entries = 8}, design);
        models::File& file = bench.kernel.open_file();
        const std::vector<models::File*> files(200, &file);
        REQUIRE(models::register_files(bench.cpu(), bench.kernel, bench.ring, files) == 0);
        for (std::uint64_t i = 0; i < 20; ++i) { // an overflow list, too
            bench.prepare(Opcode::nop, i);
            bench.enter(1);
        }
        bench.prepare(Opcode::poll_add, 99);
        bench.enter(1);
        bench.kernel.close_ring(bench.cpu(), bench.ring);
        CHECK(bench.kernel.rings_alive() == 1); // close returns, the memory is still there
        bench.kernel.engine().run();
        CHECK(bench.kernel.rings_alive() == 0);
        CHECK(bench.kernel.audit() == std::vector<std::string>{});
        CHECK(file.references == 1);
        const auto freed =
            tests::counted(bench.kernel.engine(), models::Counter::freed_at_ring_exit);
        CHECK(freed == (std::string(design) == "linux-6.12"           ? 1
                        : std::string(design) == "rfc-0001+0002+0003" ? 224
                                                                      : 200));
    }
}

TEST_CASE("a program may unregister while a request still holds a file, from 6.13 on") {
    // Up to 6.12 it sleeps until the request is done: updates_test.cpp.
    for (const char* design : {"linux-6.13", "linux-6.18"}) {
        INFO(design);
        Bench bench({}, design);
        models::File& file = bench.kernel.open_file();
        const std::vector<models::File*> files(2, &file);
        REQUIRE(models::register_files(bench.cpu(), bench.kernel, bench.ring, files) == 0);
        bench.prepare(Opcode::poll_add, 1);
        bench.enter(1);
        REQUIRE(models::unregister_files(bench.cpu(), bench.kernel, bench.ring) == 0);
        bench.ring.end_poll(bench.cpu(), 1);
        bench.kernel.close_ring(bench.cpu(), bench.ring);
        bench.kernel.engine().run();
        CHECK(bench.kernel.audit() == std::vector<std::string>{});
        CHECK(file.references == 1);
    }
}
