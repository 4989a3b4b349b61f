// io_alloc_cache: a bounded stack of free objects.

#include "models/uring/alloc_cache.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "support.h"

using namespace uringsim;
using models::IoAllocCache;
using models::Object;

namespace {

struct Bench {
    models::Kernel kernel{models::Design{}, tests::machine_of(2), 1};
    IoAllocCache cache{kernel.memory()};
    sim::Cpu& cpu() { return kernel.engine().cpu(0); }

    std::vector<Object*> objects(std::size_t count) {
        std::vector<Object*> got(count);
        for (Object*& object : got) {
            object = kernel.node_slab().alloc(cpu());
        }
        return got;
    }
};

} // namespace

TEST_CASE("an io_alloc_cache starts empty, takes up to its limit and gives the newest first") {
    Bench bench;
    bench.cache.init(bench.cpu(), 4);
    CHECK(bench.cache.array_bytes() == 4 * 8);
    CHECK(bench.cache.get(bench.cpu()) == nullptr);
    const std::vector<Object*> objects = bench.objects(5);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(bench.cache.put(bench.cpu(), *objects[i]));
    }
    CHECK_FALSE(bench.cache.put(bench.cpu(), *objects[4]));
    CHECK(bench.cache.cached() == 4);
    for (std::size_t i = 4; i-- > 0;) {
        CHECK(bench.cache.get(bench.cpu()) == objects[i]);
    }
    CHECK(bench.cache.get(bench.cpu()) == nullptr);
}

TEST_CASE("growing keeps the entries and their order, and never shrinks") {
    Bench bench;
    bench.cache.init(bench.cpu(), 2);
    const std::vector<Object*> objects = bench.objects(3);
    bench.cache.put(bench.cpu(), *objects[0]);
    bench.cache.put(bench.cpu(), *objects[1]);
    bench.cache.grow(bench.cpu(), 2000);
    CHECK(bench.cache.capacity() == 2000);
    CHECK(bench.cache.array_bytes() == 16000);
    CHECK(bench.cache.put(bench.cpu(), *objects[2]));
    bench.cache.grow(bench.cpu(), 10);
    CHECK(bench.cache.capacity() == 2000);
    CHECK(bench.cache.get(bench.cpu()) == objects[2]);
    CHECK(bench.cache.get(bench.cpu()) == objects[1]);
    CHECK(bench.cache.get(bench.cpu()) == objects[0]);
}

TEST_CASE("its memory is its own: released, nothing is left") {
    Bench bench;
    bench.cache.init(bench.cpu(), 128);
    bench.cache.grow(bench.cpu(), 4096);
    CHECK(bench.kernel.memory().array_bytes() == 32768);
    Object* object = bench.objects(1)[0];
    bench.cache.put(bench.cpu(), *object);
    CHECK_THROWS_AS(bench.cache.release(bench.cpu()), std::logic_error);
    models::kfree(bench.cpu(), *bench.cache.get(bench.cpu()));
    bench.cache.release(bench.cpu());
    CHECK(bench.kernel.memory().array_bytes() == 0);
    CHECK(bench.kernel.audit().empty());
}

TEST_CASE("a cache of capacity 0 has no array and keeps nothing") {
    Bench bench;
    bench.cache.init(bench.cpu(), 0);
    CHECK(bench.cache.array_bytes() == 0);
    CHECK_FALSE(bench.cache.put(bench.cpu(), *bench.objects(1)[0]));
    CHECK(bench.cache.get(bench.cpu()) == nullptr);
}
