// How a run stops: what is unexpected gives a message that names file, line and column; what the
// scenario says to count is counted.

#include <doctest/doctest.h>

#include <string>

#include "support.h"

using namespace uringsim;

namespace {

/// A scenario with one task and rings `r` and `s`; its program starts on line 3.
std::string program(const std::string& operations) {
    return R"({ "name": "t", "rings": { "r": { "entries": 4, "cq_entries": 4 }, "s": {} },
  "tasks": [ { "name": "user", "program": [
)" + operations +
           "\n] } ] }";
}

scenarios::Result run_program(const std::string& operations,
                              const std::string& design = "linux-6.18") {
    return scenarios::replay(tests::parse_scenario(program(operations)), tests::load_design(design),
                             tests::i7());
}

std::string error_of(const std::string& operations, const std::string& design = "linux-6.18") {
    return tests::run_error(program(operations), design);
}

} // namespace

TEST_CASE("an unexpected error stops the run and names its place") {
    CHECK(error_of(R"({ "op": "create_ring", "ring": "r" },
  { "op": "unregister_files", "ring": "r" })") ==
          "test.json:4:3: /tasks/0/program/1: task \"user\": unregister_files returned -ENXIO, "
          "expected ok");
}

TEST_CASE("an expected error that does not come stops the run too") {
    CHECK(error_of(R"({ "op": "create_ring", "ring": "r" },
{ "op": "register_files_sparse", "ring": "r", "count": 8, "expect": "-EBUSY" })") ==
          "test.json:4:1: /tasks/0/program/1: task \"user\": register_files_sparse returned 0, "
          "expected -EBUSY");
    CHECK(error_of(R"({ "op": "create_ring", "ring": "r" },
{ "op": "register_files_sparse", "ring": "r", "count": 0, "expect": "-EBUSY" })") ==
          "test.json:4:1: /tasks/0/program/1: task \"user\": register_files_sparse returned "
          "-EINVAL, expected -EBUSY");
}

TEST_CASE("errors of requests are checked, with the place of the operation") {
    CHECK(error_of(R"({ "op": "create_ring", "ring": "r" }, { "op": "create_ring", "ring": "s" },
{ "op": "send_fd", "ring": "s", "target": "r" })") ==
          "test.json:4:1: /tasks/0/program/2: task \"user\": a request returned -EBADF, expected "
          "ok");
}

TEST_CASE("\"any\" lets errors pass and counts them") {
    const auto result =
        run_program(R"({ "op": "create_ring", "ring": "r" }, { "op": "create_ring", "ring": "s" },
{ "op": "register_files", "ring": "s", "count": 1 },
{ "op": "register_files_sparse", "ring": "r", "count": 3, "expect": "any" },
{ "op": "register_files_sparse", "ring": "r", "count": 3, "expect": "any" },
{ "op": "send_fd", "ring": "s", "target": "r", "count": 5, "batch": 1, "expect": "any" })");
    CHECK(scenarios::counter_value(result.counters, "errors_counted") == 1 + 2);
    CHECK(scenarios::counter_value(result.counters, "files_installed") == 1 + 3);
}

TEST_CASE("a quantity that differs from an assertion stops the run") {
    CHECK(error_of(R"({ "op": "create_ring", "ring": "r" },
{ "op": "assert", "ring": "r", "quantity": "cq_ready", "equals": 1 })")
              .starts_with("test.json:4:1: /tasks/0/program/1: task \"user\": assertion:"));
}

TEST_CASE("waiting for what never comes is told apart from the end") {
    const std::string error = error_of(R"({ "op": "create_ring", "ring": "r" },
{ "op": "submit", "ring": "r", "wait": 1 })");
    CHECK(error == "test.json:4:1: /tasks/0/program/1: task \"user\" waits for completions that "
                   "never come");
}

TEST_CASE("a message that overflowed says how it can be had") {
    const std::string error = error_of(R"({ "op": "create_ring", "ring": "r" },
{ "op": "create_ring", "ring": "s" },
{ "op": "send_data", "ring": "s", "target": "r", "count": 8 })");
    CHECK(error.starts_with("test.json:5:1: "));
    CHECK(error.find("4 of 8 messages are in the CQ of ring \"r\" (4 on its overflow list, which "
                     "only an enter with GETEVENTS flushes)") != std::string::npos);
}

TEST_CASE("rings are opened once, used while open, and their SQ is finite") {
    CHECK(error_of(R"({ "op": "close_ring", "ring": "r" })")
              .ends_with("task \"user\": ring \"r\" is not open"));
    CHECK(error_of(R"({ "op": "create_ring", "ring": "r" }, { "op": "create_ring", "ring": "r" })")
              .ends_with("task \"user\": ring \"r\" is open already"));
    CHECK(error_of(R"({ "op": "create_ring", "ring": "r" },
{ "op": "nop", "ring": "r", "count": 5, "submit": false })")
              .ends_with("the SQ of ring \"r\" holds 4 entries and is full"));
    CHECK(error_of(R"({ "op": "create_ring", "ring": "r" },
{ "op": "register_files_sparse", "ring": "r", "count": 1 },
{ "op": "update_files", "ring": "r", "via": "call" },
{ "op": "nop", "ring": "r", "count": 4, "submit": false },
{ "op": "poll", "ring": "r", "slot": 0 })")
              .ends_with("the SQ of ring \"r\" holds 4 entries and is full"));
}

TEST_CASE("a batch cut short by a request that cannot be prepared is no success") {
    // io_submit_sqes: a failing prep completes that request and ends the batch.
    const std::string operations = R"({ "op": "create_ring", "ring": "r" },
{ "op": "create_ring", "ring": "s" }, { "op": "register_files", "ring": "s", "count": 1 },
{ "op": "register_files_sparse", "ring": "r", "count": 4 },
{ "op": "send_fd", "ring": "s", "target": "r", "flags": 4, "count": 3, "expect": "-EINVAL")";
    CHECK(error_of(operations + " }").ends_with("io_uring_enter returned 1, expected 3"));
    CHECK(error_of(operations + R"(, "batch": 1 })").empty());
}

TEST_CASE("an update that stops half way is no success, by call and by request") {
    const std::string operations = R"({ "op": "create_ring", "ring": "r" },
{ "op": "register_files_sparse", "ring": "r", "count": 8 },
{ "op": "fail_alloc", "ring": "r", "what": "rsrc_node", "after": 3 },
{ "op": "update_files", "ring": "r", "count": 8, "entries": 8, "via": )";
    CHECK(error_of(operations + R"("call" })").ends_with("the update did 3 of 8 slots"));
    CHECK(error_of(operations + R"("request" })").ends_with("the update did 3 of 8 slots"));
    CHECK(error_of(operations + R"("call", "expect": 3 })").empty());
    CHECK(error_of(operations + R"("request", "expect": 3 })").empty());
}

TEST_CASE("requests without a CQE are not waited for") {
    const auto result = run_program(R"({ "op": "create_ring", "ring": "r" },
{ "op": "nop", "ring": "r", "count": 4, "cqe_skip": true },
{ "op": "assert", "ring": "r", "quantity": "cq_ready", "equals": 0 })");
    CHECK(scenarios::counter_value(result.counters, "sqe_submitted") == 4);
    CHECK(scenarios::counter_value(result.counters, "cqe_posted") == 0);
}

TEST_CASE("set-up refuses what io_uring_setup refuses") {
    const char* text = R"({ "name": "t",
  "rings": { "r": { "entries": 8, "cq_entries": 4 }, "s": { "entries": 5, "cq_entries": 7 } },
  "tasks": [ { "name": "user", "program": [
    { "op": "create_ring", "ring": "r", "expect": "-EINVAL" },
    { "op": "create_ring", "ring": "s" },
    { "op": "nop", "ring": "s", "count": 9, "batch": 3, "reap": false },
    { "op": "assert", "ring": "s", "quantity": "cq_ready", "equals": 8 } ] } ] })";
    CHECK(tests::run_error(text).empty());
}

TEST_CASE("a task on a CPU that the machine lacks is told so") {
    const char* text =
        R"({ "name": "t", "rings": { "r": {} }, "tasks": [ { "name": "user", "cpu": 20,
      "program": [ { "op": "create_ring", "ring": "r" } ] } ] })";
    CHECK(tests::run_error(text).find("wants CPU 20") != std::string::npos);
}

TEST_CASE("whatever the program leaves open is closed and freed at its end") {
    for (const char* design : {"linux-6.13", "linux-6.18", "rfc-0001+0002+0003"}) {
        INFO(design);
        const auto result = run_program(R"({ "op": "create_ring", "ring": "r" },
{ "op": "create_ring", "ring": "s" }, { "op": "register_files", "ring": "s", "count": 2 },
{ "op": "register_files_sparse", "ring": "r", "count": 8 },
{ "op": "send_fd", "ring": "s", "target": "r", "count": 6, "batch": 1, "reap": false },
{ "op": "poll", "ring": "s", "slot": 0 }, { "op": "unregister_files", "ring": "s" })",
                                        design);
        CHECK(scenarios::counter_value(result.counters, "rings_exited") == 2);
    }
}
