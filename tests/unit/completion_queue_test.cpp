// The CQ ring and its overflow list. Source: docs/kernel-facts.md A7.

#include "models/uring/completion_queue.h"

#include <doctest/doctest.h>

#include "support.h"

using namespace uringsim;
using models::CompletionQueue;
using models::Cqe;

namespace {

struct Bench {
    models::Kernel kernel{models::Design{}, tests::machine_of(2), 1};
    CompletionQueue cq;
    explicit Bench(std::uint32_t entries, bool wide = false)
        : cq(kernel.memory(), wide) {
        cq.init(cpu(), entries);
    }
    ~Bench() { cq.release(cpu()); }
    sim::Cpu& cpu() { return kernel.engine().cpu(0); }
    bool post(std::uint64_t user_data) { return cq.post(cpu(), Cqe{user_data, 0, 0}); }
    /// The next CQE's user_data; -1 where there is none.
    std::int64_t reap() {
        const auto cqe = cq.reap(cpu());
        return cqe ? static_cast<std::int64_t>(cqe->user_data) : -1;
    }
};

} // namespace

TEST_CASE("CQEs come in the order in which they were posted, many laps round") {
    Bench bench(4);
    for (std::uint64_t i = 0; i < 100; ++i) {
        CHECK(bench.post(2 * i));
        CHECK(bench.post(2 * i + 1));
        CHECK(bench.reap() == static_cast<std::int64_t>(2 * i));
        CHECK(bench.reap() == static_cast<std::int64_t>(2 * i + 1));
    }
    CHECK(bench.reap() == -1);
}

TEST_CASE("what does not fit overflows, and everything after it too until the list is empty") {
    Bench bench(2);
    for (std::uint64_t i = 0; i < 4; ++i) {
        CHECK(bench.post(i));
    }
    CHECK(bench.cq.ready() == 2);
    CHECK(bench.cq.overflowed() == 2);
    CHECK(bench.reap() == 0);
    CHECK(bench.post(4)); // there is room, but the list comes first
    CHECK(bench.cq.overflowed() == 3);
    bench.cq.flush_overflow(bench.cpu()); // room for one
    CHECK(bench.cq.overflowed() == 2);
    bench.cq.flush_overflow(bench.cpu()); // full: nothing moves
    CHECK(bench.cq.overflowed() == 2);
    CHECK(bench.reap() == 1);
    CHECK(bench.reap() == 2);
    bench.cq.flush_overflow(bench.cpu());
    CHECK_FALSE(bench.cq.overflow_pending());
    CHECK(bench.post(5));
    CHECK(bench.cq.overflowed() == 1);
    CHECK(bench.reap() == 3);
    CHECK(bench.reap() == 4);
    bench.cq.flush_overflow(bench.cpu());
    CHECK(bench.reap() == 5);
    CHECK(bench.cq.dropped() == 0);
}

TEST_CASE("without memory for an entry a CQE is lost and counted, once") {
    Bench bench(1);
    CHECK(bench.post(0));
    bench.cq.inject_overflow_failure(1, 1);
    CHECK(bench.post(1));
    CHECK_FALSE(bench.post(2));
    CHECK(bench.post(3));
    CHECK(bench.cq.dropped() == 1);
    CHECK(bench.cq.loss_unreported());
    bench.cq.loss_reported();
    CHECK_FALSE(bench.cq.loss_unreported());
    CHECK(bench.reap() == 0);
    bench.cq.flush_overflow(bench.cpu());
    CHECK(bench.reap() == 1);
    bench.cq.flush_overflow(bench.cpu());
    CHECK(bench.reap() == 3);
    CHECK(tests::counted(bench.kernel.engine(), models::Counter::cqe_dropped) == 1);
    CHECK(tests::counted(bench.kernel.engine(), models::Counter::cqe_posted) == 3);
}

TEST_CASE("overflow entries: 32 bytes accounted, 48 with CQE32; all freed with the ring") {
    // kmalloc-cg-32 and kmalloc-cg-64.
    for (const bool wide : {false, true}) {
        models::Kernel kernel{models::Design{}, tests::machine_of(2), 1};
        sim::Cpu& cpu = kernel.engine().cpu(0);
        CompletionQueue cq(kernel.memory(), wide);
        cq.init(cpu, 1);
        for (std::uint64_t i = 0; i < 11; ++i) {
            cq.post(cpu, Cqe{i, 0, 0});
        }
        const auto& caches = kernel.memory().caches();
        CHECK(caches.at(wide ? "kmalloc-cg-64" : "kmalloc-cg-32")->live() == 10);
        cq.release(cpu);
        CHECK(kernel.audit().empty());
    }
}
