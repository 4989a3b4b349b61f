// The fixed-file table, rule by rule. Source: io_uring/rsrc.c and filetable.c of 6.18.2, restated
// in docs/kernel-facts.md A3 and A5.

#include "models/uring/ring.h"
#include "models/uring/syscalls.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <vector>

#include "support.h"

using namespace uringsim;
using models::file_index_alloc;
using models::FileUpdate;

namespace {

class Bench {
  public:
    explicit Bench(const std::string& design = "linux-6.18", models::RingParams params = {})
        : kernel(tests::load_design(design), tests::machine_of(2), 1)
        , ring(kernel.create_ring(kernel.engine().cpu(0), "ring", params)) {}

    sim::Cpu& cpu() { return kernel.engine().cpu(0); }
    models::FileTable& files() { return ring.files(); }

    int sparse(std::uint32_t slots) {
        return models::register_files_sparse(cpu(), kernel, ring, slots, false);
    }
    int install(std::uint32_t file_index) {
        file.get(cpu());
        const int result = files().fixed_fd_install(cpu(), file, file_index);
        if (result < 0) {
            file.put(cpu());
        }
        return result;
    }
    int alloc() { return install(file_index_alloc); }
    int put(std::uint32_t slot) { return install(slot + 1); }
    int range(std::uint32_t offset, std::uint32_t length) {
        return models::register_file_alloc_range(cpu(), kernel, ring, offset, length);
    }
    int update(std::uint32_t offset, const std::vector<FileUpdate>& entries) {
        return models::register_files_update(cpu(), kernel, ring, offset, entries);
    }
    FileUpdate with(FileUpdate::Kind kind, std::uint64_t tag = 0) {
        return {kind, kind == FileUpdate::Kind::install ? &file : nullptr, tag};
    }
    /// Closes the ring; nothing may be left, and no file be held.
    void close() {
        kernel.close_ring(cpu(), ring);
        kernel.engine().run();
        CHECK(kernel.audit() == std::vector<std::string>{});
        CHECK(file.references == 1);
    }

    models::Kernel kernel;
    models::Ring& ring;
    models::File& file{kernel.open_file()};
};

using Kind = FileUpdate::Kind;

} // namespace

TEST_CASE("registration checks a table first, then the number, then the limits") {
    Bench bench;
    bench.kernel.rlimit_nofile = 64;
    const std::vector<models::File*> none;
    CHECK(models::register_files(bench.cpu(), bench.kernel, bench.ring, none) == -EINVAL);
    CHECK(bench.sparse(65) == -EMFILE);
    CHECK(bench.sparse(64) == 0);
    CHECK(models::register_files(bench.cpu(), bench.kernel, bench.ring, none) == -EBUSY);
    CHECK(bench.sparse(1U << 22U) == -EBUSY);
    CHECK(bench.sparse(0) == -EINVAL); // io_register_rsrc looks at the number before that
    bench.close();
}

TEST_CASE("a registration that fails half way frees everything") {
    Bench bench;
    std::vector<models::File*> files(8, &bench.file);
    files[5] = &bench.ring.file();
    CHECK(models::register_files(bench.cpu(), bench.kernel, bench.ring, files) == -EBADF);
    CHECK_FALSE(bench.files().registered());
    CHECK(bench.file.references == 1);
    CHECK(bench.ring.cq().ready() == 0);

    files[5] = &bench.file;
    bench.kernel.node_slab().inject_failure(2, 1); // the ring's cache holds 5 of the failed try
    CHECK(models::register_files(bench.cpu(), bench.kernel, bench.ring, files) == -ENOMEM);
    CHECK_FALSE(bench.files().registered());
    CHECK(models::register_files(bench.cpu(), bench.kernel, bench.ring, files) == 0);
    CHECK(bench.files().installed() == 8);
    bench.close();
}

TEST_CASE("an install checks in the kernel's order") {
    Bench bench;
    models::File& ring_file = bench.ring.file();
    const auto install_ring = [&](std::uint32_t index) {
        return bench.files().fixed_fd_install(bench.cpu(), ring_file, index);
    };
    CHECK(bench.alloc() == -ENFILE); // no bitmap
    CHECK(install_ring(file_index_alloc) == -ENFILE);
    CHECK(install_ring(1) == -EBADF); // a ring's file, before the table is looked at
    CHECK(bench.install(1) == -ENXIO);
    CHECK(bench.install(0) == -ENXIO);
    REQUIRE(bench.sparse(4) == 0);
    CHECK(install_ring(file_index_alloc) == -EBADF);
    CHECK(bench.install(0) == -EINVAL); // 0 - 1 is off range
    CHECK(bench.install(5) == -EINVAL);
    bench.kernel.node_slab().inject_failure(0, 1);
    CHECK(bench.install(5) == -EINVAL); // the range comes before the node
    CHECK(bench.install(4) == -ENOMEM);
    CHECK(bench.install(4) == 0);
    CHECK(bench.files().installed() == 1);
    bench.close();
}

TEST_CASE("without memory for the new node a replacement leaves the old file") {
    Bench bench;
    REQUIRE(bench.sparse(4) == 0);
    REQUIRE(bench.put(2) == 0);
    bench.kernel.node_slab().inject_failure(0, 1);
    CHECK(bench.put(2) == -ENOMEM);
    CHECK(bench.files().occupied(2));
    CHECK(bench.file.references == 2);
    bench.close();
}

TEST_CASE("slots are found from the hint on, and what was freed last is reused first") {
    Bench bench;
    REQUIRE(bench.sparse(200) == 0);
    for (int slot = 0; slot < 100; ++slot) {
        REQUIRE(bench.alloc() == slot);
    }
    CHECK(bench.files().remove(bench.cpu(), 70) == 0);
    CHECK(bench.files().remove(bench.cpu(), 30) == 0);
    CHECK(bench.alloc() == 30); // hint = the slot freed last
    CHECK(bench.alloc() == 70);
    CHECK(bench.alloc() == 100);
    // A replacement leaves bitmap and hint alone.
    CHECK(bench.put(10) == 0);
    CHECK(bench.alloc() == 101);
    // After clearing 0..63 the hint is 63: the refill lands at 63 and then behind the rest.
    std::vector<FileUpdate> clear(64, bench.with(Kind::remove));
    CHECK(bench.update(0, clear) == 64);
    CHECK(bench.alloc() == 63);
    CHECK(bench.alloc() == 102);
    bench.close();
}

TEST_CASE("a full table gives -ENFILE, and a search that wraps finds what lies before the hint") {
    Bench bench;
    REQUIRE(bench.sparse(130) == 0);
    for (int slot = 0; slot < 130; ++slot) {
        REQUIRE(bench.alloc() == slot);
    }
    CHECK(bench.alloc() == -ENFILE);
    CHECK(bench.files().remove(bench.cpu(), 3) == 0);
    CHECK(bench.files().remove(bench.cpu(), 129) == 0);
    CHECK(bench.alloc() == 129);
    CHECK(bench.alloc() == 3); // the second search, from the start of the range
    CHECK(bench.alloc() == -ENFILE);
    bench.close();
}

TEST_CASE("6.18 does not bring a hint back into the range") {
    // io_file_bitmap_get without the clamp: 6.13 - 6.19.
    Bench bench;
    REQUIRE(bench.sparse(32) == 0);
    REQUIRE(bench.range(8, 8) == 0);
    REQUIRE(bench.put(20) == 0); // hint 21
    // From the hint to the range's end there is nothing; the second search runs to the old hint.
    for (int slot = 8; slot < 16; ++slot) {
        CHECK(bench.alloc() == slot);
    }
    CHECK(bench.alloc() == -ENFILE);
    REQUIRE(bench.put(25) == 0); // hint 26: now the second search runs beyond the range's end
    CHECK(bench.alloc() == 16);
    REQUIRE(bench.put(2) == 0); // hint 3, before the range
    CHECK(bench.alloc() == 3);
    bench.close();
}

TEST_CASE("a search that found nothing leaves the hint at the start of the range") {
    Bench bench;
    REQUIRE(bench.sparse(32) == 0);
    REQUIRE(bench.range(8, 2) == 0);
    REQUIRE(bench.alloc() == 8);
    REQUIRE(bench.alloc() == 9);
    REQUIRE(bench.put(20) == 0); // hint 21
    bench.kernel.node_slab().inject_failure(0, 1);
    CHECK(bench.alloc() == -ENOMEM); // slot 10 was found in the second search
    CHECK(bench.alloc() == -ENFILE); // the first search now starts at 8 and ends at 10
    bench.close();
}

TEST_CASE("ranges: overflow before range, a range needs a table only where it is not empty") {
    Bench bench;
    CHECK(bench.range(0, 0) == 0);
    CHECK(bench.range(0, 1) == -EINVAL);
    CHECK(bench.range(7, 0xfffffffe) == -EOVERFLOW);
    REQUIRE(bench.sparse(10) == 0);
    CHECK(bench.range(10, 0) == 0);
    CHECK(bench.alloc() == -ENFILE);
    CHECK(bench.range(5, 5) == 0);
    CHECK(bench.alloc() == 5); // the hint follows the range
    CHECK(bench.range(5, 6) == -EINVAL);
    bench.close();
}

TEST_CASE("an update checks overflow, then the table, then the range, and then does nothing") {
    Bench bench;
    const std::vector<FileUpdate> two(2, bench.with(Kind::remove));
    CHECK(bench.update(0xffffffff, two) == -EOVERFLOW);
    CHECK(bench.update(0, two) == -ENXIO);
    REQUIRE(bench.sparse(4) == 0);
    CHECK(bench.update(0xffffffff, two) == -EOVERFLOW);
    CHECK(bench.update(3, two) == -EINVAL);
    CHECK(bench.update(2, two) == 2); // an empty slot counts as removed
    bench.close();
}

TEST_CASE("an update returns what it did, or the error where that is nothing") {
    Bench bench;
    REQUIRE(bench.sparse(8) == 0);
    const FileUpdate install = bench.with(Kind::install);
    const FileUpdate bad = bench.with(Kind::bad_fd);
    FileUpdate ring_file = install;
    ring_file.file = &bench.ring.file();

    CHECK(bench.update(0, {install, install, install}) == 3);
    CHECK(bench.update(0, {bench.with(Kind::skip), install, bad, install}) == 2);
    CHECK(bench.files().occupied(1));
    CHECK_FALSE(bench.files().occupied(2)); // the failing slot is empty already
    CHECK_FALSE(bench.files().occupied(3));
    CHECK(bench.update(0, {bad}) == -EBADF);
    CHECK_FALSE(bench.files().occupied(0));
    CHECK(bench.update(1, {ring_file}) == -EBADF);
    CHECK(bench.update(0, {bench.with(Kind::skip, 5)}) == -EINVAL);
    CHECK(bench.update(0, {bench.with(Kind::remove, 5)}) == -EINVAL);
    CHECK(bench.update(5, {install, bench.with(Kind::skip, 5)}) == 1);
    CHECK(bench.file.references == 1 + bench.files().installed());
    // Removed: bit cleared and hint there. Stored: hint behind it.
    CHECK(bench.update(5, {bench.with(Kind::remove)}) == 1);
    CHECK(bench.alloc() == 5);
    CHECK(bench.update(0, {install}) == 1);
    CHECK(bench.alloc() == 1);
    bench.close();
}

TEST_CASE("a node that cannot be had in an update leaves the slot empty") {
    Bench bench("linux-6.13"); // no cache: each node comes from the slab
    REQUIRE(bench.sparse(4) == 0);
    const FileUpdate install = bench.with(Kind::install);
    REQUIRE(bench.update(0, {install, install}) == 2);
    bench.kernel.node_slab().inject_failure(1, 1);
    CHECK(bench.update(0, {install, install}) == 1);
    CHECK(bench.files().occupied(0));
    CHECK_FALSE(bench.files().occupied(1));
    bench.kernel.node_slab().inject_failure(0, 1);
    CHECK(bench.update(0, {install}) == -ENOMEM);
    CHECK(bench.file.references == 1);
    bench.close();
}

TEST_CASE("direct close: no table -ENXIO, off range -EINVAL, empty -EBADF") {
    Bench bench;
    CHECK(bench.files().remove(bench.cpu(), 0) == -ENXIO);
    REQUIRE(bench.sparse(2) == 0);
    CHECK(bench.files().remove(bench.cpu(), 2) == -EINVAL);
    CHECK(bench.files().remove(bench.cpu(), 1) == -EBADF);
    REQUIRE(bench.put(1) == 0);
    CHECK(bench.files().remove(bench.cpu(), 1) == 0);
    CHECK(bench.files().remove(bench.cpu(), 1) == -EBADF);
    bench.close();
}

TEST_CASE("unregister: -ENXIO without a table, and the cache keeps the highest slots' nodes") {
    Bench bench;
    CHECK(models::unregister_files(bench.cpu(), bench.kernel, bench.ring) == -ENXIO);
    REQUIRE(bench.sparse(300) == 0);
    std::vector<models::Object*> nodes;
    for (std::uint32_t slot = 0; slot < 300; ++slot) {
        REQUIRE(bench.alloc() == static_cast<int>(slot));
        nodes.push_back(bench.files().slot(slot).node);
    }
    CHECK(models::unregister_files(bench.cpu(), bench.kernel, bench.ring) == 0);
    CHECK(bench.ring.node_cache().cached() == 128);
    // Put from the top down, so the lowest of the highest 128 is on top of the stack.
    REQUIRE(bench.sparse(300) == 0);
    for (std::uint32_t slot = 0; slot < 128; ++slot) {
        REQUIRE(bench.alloc() == static_cast<int>(slot));
        CHECK(bench.files().slot(slot).node == nodes[172 + slot]);
    }
    bench.close();
}

TEST_CASE("a registration of files leaves the hint at 0") {
    Bench bench;
    const std::vector<models::File*> files(8, &bench.file);
    REQUIRE(models::register_files(bench.cpu(), bench.kernel, bench.ring, files) == 0);
    CHECK(bench.files().remove(bench.cpu(), 6) == 0);
    CHECK(bench.alloc() == 6);
    bench.close();
}

TEST_CASE("the table's memory: 8 bytes and a bit a slot; up to 6.12 a tag more") {
    Bench now;
    REQUIRE(now.sparse(4096) == 0);
    CHECK(now.files().table_bytes() == 4096 * 8 + 512);
    Bench before("linux-6.12");
    REQUIRE(before.sparse(4096) == 0);
    CHECK(before.files().table_bytes() == 2 * 4096 * 8 + 512);
}
