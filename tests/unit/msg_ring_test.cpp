// MSG_RING to a ring without DEFER_TASKRUN: its errors in the kernel's order, and what arrives.
// Source: docs/kernel-facts.md A3, io_uring/msg_ring.c of 6.18.2.

#include "models/uring/ring.h"
#include "models/uring/syscalls.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <vector>

#include "support.h"

using namespace uringsim;
using models::file_index_alloc;
using models::Opcode;
using models::Ring;
using models::Sqe;

namespace {

class Bench {
  public:
    explicit Bench(models::RingParams target_params = {})
        : kernel(tests::load_design("linux-6.18"), tests::machine_of(4), 1)
        , source(kernel.create_ring(cpu(), "source", {}))
        , target(kernel.create_ring(cpu(), "target", target_params)) {}

    sim::Cpu& cpu() { return kernel.engine().cpu(0); }
    void source_file() {
        const std::vector<models::File*> files(1, &file);
        REQUIRE(models::register_files(cpu(), kernel, source, files) == 0);
    }
    void target_table(std::uint32_t slots) {
        REQUIRE(models::register_files_sparse(cpu(), kernel, target, slots, false) == 0);
    }
    Sqe fd(std::uint32_t file_index = file_index_alloc) {
        Sqe sqe;
        sqe.opcode = Opcode::msg_ring_send_fd;
        sqe.target = &target;
        sqe.file_index = file_index;
        sqe.target_user_data = 7;
        return sqe;
    }
    /// The result in the sender's CQE.
    std::int32_t send(const Sqe& sqe) {
        tests::prepare(cpu(), source, sqe);
        outcome = source.submit(cpu());
        source.flush_completions(cpu());
        const auto cqe = source.cq().reap(cpu());
        REQUIRE(cqe != nullptr);
        return cqe->res;
    }

    models::Kernel kernel;
    Ring& source;
    Ring& target;
    models::File& file{kernel.open_file()};
    models::SubmitProgress outcome = models::SubmitProgress::submitted;
};

} // namespace

TEST_CASE("SEND_FD finds what is wrong in the kernel's order") {
    Bench bench({.disabled = true});
    Sqe sqe = bench.fd(0);
    sqe.len = 1;
    sqe.flags = 4;
    CHECK(bench.send(sqe) == -EINVAL); // the prep, which ends the batch
    CHECK(bench.outcome == models::SubmitProgress::last);
    sqe.flags = 0;
    sqe.target_is_ring = false;
    CHECK(bench.send(sqe) == -EBADFD);
    CHECK(bench.outcome == models::SubmitProgress::submitted);
    sqe.target_is_ring = true;
    CHECK(bench.send(sqe) == -EINVAL); // len
    sqe.len = 0;
    sqe.target = &bench.source;
    CHECK(bench.send(sqe) == -EINVAL); // to itself
    sqe.target = &bench.target;
    CHECK(bench.send(sqe) == -EBADFD); // disabled
    bench.target.enable();
    CHECK(bench.send(sqe) == -EBADF); // no source table
    bench.source_file();
    sqe.file_slot = 1;
    CHECK(bench.send(sqe) == -EBADF); // off range
    sqe.file_slot = 0;
    CHECK(bench.send(sqe) == -ENXIO); // no target table
    CHECK(bench.send(bench.fd()) == -ENFILE);
    bench.target_table(2);
    CHECK(bench.send(sqe) == -EINVAL); // file_index 0
    CHECK(bench.send(bench.fd(3)) == -EINVAL);
    CHECK(bench.send(bench.fd(2)) == 0);
    CHECK(bench.send(bench.fd()) == 0); // the slot; the hint had wrapped
    CHECK(bench.send(bench.fd()) == -ENFILE);
    // Every failure dropped the file again: the source's slot and two of the target's hold it.
    CHECK(bench.file.references == 1 + 3);
    CHECK(bench.target.cq().ready() == 2);
}

TEST_CASE("the target's CQE comes at once, the sender's at the end of the batch") {
    Bench bench;
    bench.source_file();
    bench.target_table(8);
    for (std::uint64_t i = 0; i < 3; ++i) {
        Sqe sqe = bench.fd();
        sqe.user_data = 100 + i;
        sqe.target_user_data = 200 + i;
        tests::prepare(bench.cpu(), bench.source, sqe);
        bench.source.submit(bench.cpu());
        CHECK(bench.target.cq().ready() == i + 1);
        CHECK(bench.source.cq().ready() == 0);
    }
    bench.source.flush_completions(bench.cpu());
    for (std::uint64_t i = 0; i < 3; ++i) {
        const auto sent = bench.source.cq().reap(bench.cpu());
        const auto got = bench.target.cq().reap(bench.cpu());
        CHECK(sent->user_data == 100 + i);
        CHECK(got->user_data == 200 + i);
        CHECK(sent->res == static_cast<std::int32_t>(i));
        CHECK(got->res == static_cast<std::int32_t>(i));
    }
}

TEST_CASE("a replaced file's tag is posted to the target, before the notice") {
    Bench bench;
    bench.source_file();
    bench.target_table(1);
    models::File& old = bench.kernel.open_file();
    const std::vector<models::FileUpdate> tagged{{models::FileUpdate::Kind::install, &old, 55}};
    REQUIRE(models::register_files_update(bench.cpu(), bench.kernel, bench.target, 0, tagged) == 1);
    CHECK(bench.send(bench.fd(1)) == 0);
    CHECK(bench.target.cq().reap(bench.cpu())->user_data == 55);
    CHECK(bench.target.cq().reap(bench.cpu())->user_data == 7);
    CHECK(old.references == 1);
}

TEST_CASE("a notice that is lost tells the sender, and the file is there") {
    Bench bench({.sq_entries = 1, .cq_entries = 1});
    bench.source_file();
    bench.target_table(4);
    CHECK(bench.send(bench.fd()) == 0);
    CHECK(bench.send(bench.fd()) == 1); // on the overflow list: counts as posted
    bench.target.cq().inject_overflow_failure(0, 1);
    CHECK(bench.send(bench.fd()) == -EOVERFLOW);
    CHECK(bench.target.files().installed() == 3);
    Sqe quiet = bench.fd();
    quiet.target_cqe_skip = true;
    bench.target.cq().inject_overflow_failure(0, 1);
    CHECK(bench.send(quiet) == 3);
}

TEST_CASE("DATA carries its length, to a full ring too; a lost one is -EOVERFLOW") {
    Bench bench({.sq_entries = 1, .cq_entries = 1});
    Sqe sqe;
    sqe.opcode = Opcode::msg_ring_data;
    sqe.target = &bench.target;
    sqe.len = 9;
    sqe.target_user_data = 3;
    CHECK(bench.send(sqe) == 0);
    CHECK(bench.send(sqe) == 0);
    bench.target.cq().inject_overflow_failure(0, 1);
    CHECK(bench.send(sqe) == -EOVERFLOW);
    const auto cqe = bench.target.cq().reap(bench.cpu());
    CHECK(cqe->res == 9);
    CHECK(cqe->user_data == 3);
    sqe.target_is_ring = false;
    CHECK(bench.send(sqe) == -EBADFD);
    sqe.target_is_ring = true;
    sqe.target = &bench.source; // DATA to oneself is allowed
    tests::prepare(bench.cpu(), bench.source, sqe);
    bench.source.submit(bench.cpu());
    bench.source.flush_completions(bench.cpu());
    CHECK(bench.source.cq().ready() == 2);
}

TEST_CASE("a message to a ring that was closed before the submission finds a bad descriptor") {
    Bench bench;
    bench.source_file();
    bench.target_table(4);
    tests::prepare(bench.cpu(), bench.source, bench.fd());
    bench.kernel.close_ring(bench.cpu(), bench.target);
    bench.kernel.engine().run(); // the target is gone for good
    bench.source.submit(bench.cpu());
    bench.source.flush_completions(bench.cpu());
    CHECK(bench.source.cq().reap(bench.cpu())->res == -EBADF);
    CHECK(bench.file.references == 2);
}
