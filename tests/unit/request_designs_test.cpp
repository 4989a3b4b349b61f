#include <doctest/doctest.h>

#include <string>

#include "models/design.h"
#include "request_runs.h"

// What each request design does, counted against hand-worked cases. Every run also balances its
// books (replay fails otherwise): objects in slabs = live + free + resident, and after the last
// ring's exit only per-CPU caches hold requests.

namespace {

using namespace uringsim;
using tests::counted;
using tests::run_program;

const std::string nops16 = R"({"op":"nop","ring":"ring","count":16,"batch":16})";

std::string nops(int count, const std::string& completes, int delay_us = 0) {
    return R"({"op":"nop","ring":"ring","count":)" + std::to_string(count) + R"(,"batch":)" +
           std::to_string(count) + R"(,"completes":")" + completes + R"(","delay_us":)" +
           std::to_string(delay_us) + "}";
}

std::string check(const std::string& quantity, int value) {
    return R"(,{"op":"assert","quantity":")" + quantity + R"(","equals":)" + std::to_string(value) +
           "}";
}

} // namespace

TEST_SUITE("request designs") {
    TEST_CASE(
        "slub_bulk: a batch of 16 takes 16 requests in two bulks, and never needs more than one") {
        const scenarios::Result result = run_program(nops16, "kiocb-slub-bulk");
        CHECK(counted(result, "request_alloc") == 16);
        CHECK(counted(result, "request_bulk_calls") == 2);
        CHECK(counted(result, "request_free") == 16);
        CHECK(result.memory.requests.in_flight_peak == 1);
        CHECK(result.memory.requests.allocated_peak == 8);
    }

    TEST_CASE("slub_bulk: up to two SQEs are allocated singly; what a bulk has left goes back") {
        const std::string two = R"({"op":"nop","ring":"ring","count":2,"batch":2})";
        CHECK(counted(run_program(two, "kiocb-slub-bulk"), "request_bulk_calls") == 0);
        // Nine in a submission: bulks of min(9, 8) = 8 twice; seven of the second are left over.
        const std::string nine = R"({"op":"nop","ring":"ring","count":9,"batch":9})";
        const scenarios::Result result = run_program(nine, "kiocb-slub-bulk");
        CHECK(counted(result, "request_bulk_calls") == 2);
        CHECK(counted(result, "request_alloc") == 16);
        CHECK(counted(result, "request_free") == 16);
    }

    TEST_CASE(
        "slub_bulk: a bulk that fails is followed by a single one, that by the spare request") {
        const auto failing = [](int times) {
            return R"({"op":"fail_alloc","ring":"ring","what":"request","times":)" +
                   std::to_string(times) + "}," + nops16;
        };
        const scenarios::Result one = run_program(failing(1), "kiocb-slub-bulk");
        CHECK(counted(one, "request_fallback") == 0);
        CHECK(counted(one, "request_alloc") == 17); // 1, then bulks of 8 for the other 15
        const scenarios::Result two = run_program(failing(2), "kiocb-slub-bulk");
        CHECK(counted(two, "request_fallback") == 1);
        CHECK(counted(two, "cqe_posted") == 16);
    }

    TEST_CASE("the caches reuse one request, the stack none") {
        for (const std::string design :
             {"kiocb-percpu-v1", "kiocb-percpu-v2", "kiocb-recycle-one"}) {
            CAPTURE(design);
            const scenarios::Result result = run_program(nops16, design);
            CHECK(counted(result, "request_alloc") == 1);
            CHECK(counted(result, "request_cache_hit") == 15);
            CHECK(counted(result, "request_cache_miss") == 1);
        }
        const scenarios::Result stack = run_program(nops16, "kiocb-on-stack");
        CHECK(counted(stack, "request_alloc") == 0);
        CHECK(counted(stack, "request_on_stack") == 16);
    }

    TEST_CASE("a punted request: copied from the stack, replenished in the ring") {
        const scenarios::Result stack = run_program(nops(16, "worker"), "kiocb-on-stack");
        CHECK(counted(stack, "request_on_stack") == 16);
        CHECK(counted(stack, "request_copied") == 16);
        CHECK(counted(stack, "request_alloc") == 16);
        CHECK(counted(stack, "request_punts") == 16);
        const scenarios::Result ring = run_program(nops(16, "worker"), "kiocb-recycle-one");
        CHECK(counted(ring, "request_alloc") == 17); // one at first, then one a punt
        CHECK(counted(ring, "request_cache_hit") == 15);
        CHECK(counted(ring, "request_free") == 17);
    }

    TEST_CASE("a request that ends by an interrupt is not on the stack, and uses the other cache") {
        const scenarios::Result stack = run_program(nops(16, "interrupt", 5), "kiocb-on-stack");
        CHECK(counted(stack, "request_on_stack") == 0);
        CHECK(counted(stack, "request_irq_completions") == 16);
        const std::string steps = nops(16, "interrupt") + check("requests_available", 16) + "," +
                                  nops16 + check("requests_available", 17);
        const scenarios::Result cached = run_program(steps, "kiocb-percpu-v2");
        CHECK(counted(cached, "request_alloc") == 17); // the first inline one misses again
    }

    TEST_CASE("reference counts: two a request, by their own primitive or none") {
        const auto phase = [](const std::string& refcount) {
            return run_program(R"({"phase":"p","operations":16,"do":[)" + nops16 + "]}",
                               "kiocb-slub-bulk", {{"request.refcount", refcount}});
        };
        CHECK(tests::cycles_of_primitive(phase("atomic"), "p", "request_refcount_atomic") == 40);
        CHECK(tests::cycles_of_primitive(phase("plain"), "p", "request_refcount_plain") == 4);
        CHECK(tests::cycles_of_primitive(phase("none"), "p", "request_refcount_atomic") == 0);
        CHECK(tests::cycles_per_operation(phase("atomic"), "p") -
                  tests::cycles_per_operation(phase("none"), "p") ==
              doctest::Approx(40));
    }

    TEST_CASE("v1 moves everything beyond 256 and never takes it back; v2 moves 16 and does") {
        // 257 in flight: the 257th free finds 257 available.
        const std::string burst = nops(257, "interrupt");
        run_program(burst + check("requests_available", 0) + check("requests_cached", 257),
                    "kiocb-percpu-v1");
        run_program(burst + check("requests_available", 241) + check("requests_cached", 257),
                    "kiocb-percpu-v2");
        const std::string twice = burst + "," + burst;
        const scenarios::Result v1 =
            run_program(twice + check("requests_cached", 514), "kiocb-percpu-v1");
        CHECK(counted(v1, "request_alloc") == 514);
        CHECK(counted(v1, "request_cache_moved") == 514);
        const scenarios::Result v2 =
            run_program(twice + check("requests_cached", 257), "kiocb-percpu-v2");
        CHECK(counted(v2, "request_alloc") == 257);
        CHECK(counted(v2, "request_cache_stolen") == 16);
    }

    TEST_CASE(
        "v1's cliff: no difference up to the limit, a step of half again one request beyond") {
        const auto cost = [](const std::string& design, const std::string& burst) {
            return tests::run_shipped("nop-bursts", design, {{"burst", burst}}).result;
        };
        CHECK(tests::cycles_per_operation(cost("kiocb-percpu-v1", "256"), "nops") ==
              tests::cycles_per_operation(cost("kiocb-percpu-v2", "256"), "nops"));
        const scenarios::Result v1 = cost("kiocb-percpu-v1", "257");
        const scenarios::Result v2 = cost("kiocb-percpu-v2", "257");
        CHECK(tests::cycles_per_operation(v1, "nops") >
              1.5 * tests::cycles_per_operation(v2, "nops"));
        // The cause, in the ledger: new slabs, and requests that come from memory.
        CHECK(tests::cycles_of_mechanism(v1, "nops", "slab_growth") > 0);
        CHECK(tests::cycles_of_mechanism(v2, "nops", "slab_growth") == 0);
        CHECK(tests::cycles_of_primitive(v1, "nops", "line_memory") > 200);
        CHECK(tests::cycles_of_primitive(v2, "nops", "line_memory") == 0);
        // And its memory: every burst of 257 leaves 257 more.
        CHECK(v1.memory.requests.cached_peak == 103 * 257);
        CHECK(v2.memory.requests.cached_peak == 257);
        for (const std::string burst : {"512", "1024", "2048"}) {
            CAPTURE(burst);
            CHECK(tests::cycles_per_operation(cost("kiocb-percpu-v1", burst), "nops") >
                  1.2 * tests::cycles_per_operation(cost("kiocb-percpu-v2", burst), "nops"));
        }
    }

    TEST_CASE("the shrinker takes from the free lists only, and no more than it is asked for") {
        const std::string burst = nops(257, "interrupt");
        const scenarios::Result v1 = run_program(
            burst + R"(,{"op":"shrink","objects":100,"expect":100})" +
                check("requests_cached", 157) + R"(,{"op":"shrink","objects":1000,"expect":157})" +
                check("requests_cached", 0) + "," + burst,
            "kiocb-percpu-v1");
        CHECK(counted(v1, "request_shrunk") == 257);
        const scenarios::Result v2 =
            run_program(burst + R"(,{"op":"shrink","objects":1000,"expect":16})" +
                            check("requests_cached", 241),
                        "kiocb-percpu-v2");
        CHECK(counted(v2, "request_shrunk") == 16);
        run_program(nops16 + R"(,{"op":"shrink","objects":1000,"expect":0})", "kiocb-slub-bulk");
    }

    TEST_CASE("a CPU that goes offline gives back both of its caches, for every slab allocator") {
        for (const std::string slab : {"slub", "slab", "sheaves"}) {
            CAPTURE(slab);
            // The worker of CPU 2 lives on CPU 3 and frees there.
            const std::string steps =
                nops(64, "worker") + check("requests_cached", 64) +
                R"(,{"op":"cpu_offline","cpu":3})" + check("requests_cached", 0) +
                R"(,{"op":"cpu_offline","cpu":3,"expect":"-EINVAL"})"
                R"(,{"op":"cpu_offline","cpu":2,"expect":"-EBUSY"})"
                "," +
                nops(64, "worker") + check("requests_cached", 64) +
                R"(,{"op":"cpu_online","cpu":3},{"op":"cpu_online","cpu":3,"expect":"-EINVAL"},)" +
                nops(64, "worker");
            const scenarios::Result result =
                run_program(steps, "kiocb-percpu-v2", {{"slab.policy", slab}});
            CHECK(counted(result, "request_reaped") == 64);
            CHECK(counted(result, "request_punts") == 192);
        }
    }

    TEST_CASE(
        "every design and slab allocator keeps its books through bursts, pressure and hotplug") {
        const std::string steps = nops(700, "interrupt") + "," + nops(300, "worker") + "," +
                                  nops16 +
                                  R"(,{"op":"shrink","objects":50,"expect":"any"})"
                                  R"(,{"op":"cpu_offline","cpu":3},)" +
                                  nops(500, "worker") + R"(,{"op":"cpu_online","cpu":3},)" +
                                  nops(900, "interrupt", 20) + "," + nops(40, "worker");
        for (const std::string design :
             {"kiocb-slub-bulk", "kiocb-percpu-v1", "kiocb-percpu-v2", "kiocb-slub-large-order",
              "kiocb-slab", "kiocb-on-stack", "kiocb-recycle-one", "kiocb-free-list", "linux-6.18",
              "linux-7.0"}) {
            for (const tests::Pairs& knobs :
                 {tests::Pairs{}, tests::Pairs{{"slab.init_on_alloc", "true"}},
                  tests::Pairs{{"slab.freelist_hardened", "true"}},
                  tests::Pairs{{"slab.other_users", "3"}}}) {
                CAPTURE(design);
                const scenarios::Result result = run_program(steps, design, knobs);
                CHECK(counted(result, "cqe_posted") == 700 + 300 + 16 + 500 + 900 + 40);
                CHECK(counted(result, "cqe_reaped") == counted(result, "cqe_posted"));
            }
        }
    }

    TEST_CASE("one request on the stack cannot hold a batch of completions") {
        models::Design design;
        design.request_policy = "on_stack";
        CHECK(models::conflicts(design).size() == 1);
        design.request_completion = models::RequestCompletion::single;
        CHECK(models::conflicts(design).empty());
    }

    TEST_CASE("SLUB's checks put every allocation and free on the slow path") {
        const scenarios::Result plain = run_program(nops16, "kiocb-slub-bulk");
        const scenarios::Result checked =
            run_program(nops16, "kiocb-slub-bulk", {{"slab.debug", "true"}});
        CHECK(counted(checked, "request_slab_alloc_slow") >=
              counted(plain, "request_slab_alloc_slow") + 15);
        CHECK(counted(checked, "request_slab_free_slow") >= 16);
    }
}
