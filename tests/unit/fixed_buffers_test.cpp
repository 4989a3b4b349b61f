// Requests that use registered buffers, tables that are cloned in part, and FILES_UPDATE that picks
// its slots: what each kernel generation says, by hand from its sources.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "support.h"

using namespace uringsim;
using scenarios::Result;

namespace {

const std::vector<std::string> generations{"linux-6.1",  "rsrc-update-01", "rsrc-update-09",
                                           "linux-6.4",  "linux-6.12",     "linux-6.13",
                                           "linux-6.18", "linux-7.0"};

bool waits(const std::string& design) {
    return design != "linux-6.13" && design != "linux-6.18" && design != "linux-7.0";
}

Result replay(const std::string& text, const std::string& design) {
    scenarios::Diagnostics diagnostics;
    const auto root = scenarios::parse_json("test.json", text, diagnostics);
    REQUIRE_MESSAGE(root, diagnostics.to_string());
    const auto scenario = scenarios::read_scenario(*root, {}, diagnostics);
    REQUIRE_MESSAGE(scenario, diagnostics.to_string());
    return scenarios::replay(*scenario, tests::load_design(design), tests::machine_of(4));
}

/// A run of one task on CPU 0 with rings "ring" and "other".
Result program(const std::string& design, const std::string& body) {
    return replay(
        fmt::format(
            R"({{ "name": "test", "rings": {{ "ring": {{ "entries": 64 }}, "other": {{ "entries": 64 }} }},
             "tasks": [ {{ "name": "program", "cpu": 0, "program": [
               {{ "op": "create_ring", "ring": "ring" }}, {} ] }} ] }})",
            body),
        design);
}

std::uint64_t counted(const Result& result, const std::string& counter) {
    return scenarios::counter_value(result.counters, counter);
}

} // namespace

TEST_CASE("READ_FIXED: the length comes back; a bad slot or range is -EFAULT, in each generation") {
    for (const std::string& design : generations) {
        CAPTURE(design);
        program(design, R"(
            { "op": "read_fixed", "ring": "ring", "expect": "-EFAULT" },
            { "op": "register_buffers", "ring": "ring", "count": 2, "bytes": 8192 },
            { "op": "read_fixed", "ring": "ring", "count": 4, "buffer": 1, "expect": 4096 },
            { "op": "read_fixed", "ring": "ring", "bytes": 8192, "expect": 8192 },
            { "op": "read_fixed", "ring": "ring", "bytes": 4096, "offset": 4096, "expect": 4096 },
            { "op": "read_fixed", "ring": "ring", "bytes": 0, "offset": 8192, "expect": 0 },
            { "op": "read_fixed", "ring": "ring", "bytes": 8193, "expect": "-EFAULT" },
            { "op": "read_fixed", "ring": "ring", "bytes": 1, "offset": 8192, "expect": "-EFAULT" },
            { "op": "read_fixed", "ring": "ring", "buffer": 2, "expect": "-EFAULT" },
            { "op": "update_buffers", "ring": "ring", "empty": true, "expect": 1 },
            { "op": "sleep", "us": 2000000 },
            { "op": "read_fixed", "ring": "ring", "expect": "-EFAULT" },
            { "op": "unregister_buffers", "ring": "ring" },
            { "op": "assert", "quantity": "pins", "equals": 0 })");
    }
}

TEST_CASE("READ_FIXED with a bad buffer ends the submission up to 6.14, and only fails from 6.15") {
    // io_prep_rw_fixed looked the buffer up when the request was prepared; io_init_rw_fixed does it
    // at issue.
    const auto body = [](int submitted) {
        return fmt::format(R"(
            {{ "op": "register_buffers", "ring": "ring", "count": 1 }},
            {{ "op": "read_fixed", "ring": "ring", "buffer": 7, "submit": false }},
            {{ "op": "nop", "ring": "ring", "submit": false }},
            {{ "op": "submit", "ring": "ring", "expect": {} }},
            {{ "op": "reap", "ring": "ring", "count": 1, "expect": "-EFAULT" }},
            {{ "op": "assert", "ring": "ring", "quantity": "cq_ready", "equals": {} }})",
                           submitted, submitted - 1);
    };
    for (const char* design : {"linux-6.1", "linux-6.12", "linux-6.13"}) {
        CAPTURE(design);
        program(design, body(1));
    }
    for (const char* design : {"linux-6.18", "linux-7.0"}) {
        CAPTURE(design);
        program(design, body(2));
    }
}

TEST_CASE("a buffer that a request uses stays pinned when its slot is rewritten, until the end") {
    for (const std::string& design : generations) {
        CAPTURE(design);
        const Result result = program(design, R"(
            { "op": "register_buffers", "ring": "ring", "count": 2, "tag": 77 },
            { "op": "read_fixed", "ring": "ring", "buffer": 0, "pending": true },
            { "op": "update_buffers", "ring": "ring", "first": 0, "count": 1, "expect": 1 },
            { "op": "sleep", "us": 3000000 },
            { "op": "assert", "quantity": "pins", "equals": 3 },
            { "op": "assert", "ring": "ring", "quantity": "files_held", "equals": 1 },
            { "op": "assert", "ring": "ring", "quantity": "cq_ready", "equals": 0 },
            { "op": "end_read", "ring": "ring" },
            { "op": "sleep", "us": 3000000 },
            { "op": "assert", "quantity": "pins", "equals": 2 },
            { "op": "reap", "ring": "ring", "count": 1, "expect": 4096 },
            { "op": "reap", "ring": "ring", "count": 1, "first_user_data": 77 })");
        CHECK(counted(result, "removals_held_back") == 1);
    }
}

TEST_CASE("ordered reclaim holds buffers as it holds files: up to 6.12 a read keeps all that go "
          "after it") {
    for (const std::string& design : generations) {
        CAPTURE(design);
        program(design, fmt::format(R"(
            {{ "op": "register_buffers", "ring": "ring", "count": 2 }},
            {{ "op": "read_fixed", "ring": "ring", "buffer": 0, "pending": true }},
            {{ "repeat": 5, "do": [
              {{ "op": "update_buffers", "ring": "ring", "first": 1, "count": 1, "expect": 1 }} ] }},
            {{ "op": "sleep", "us": 3000000 }},
            {{ "op": "assert", "ring": "ring", "quantity": "files_held", "equals": {0} }},
            {{ "op": "assert", "quantity": "pins", "equals": {1} }},
            {{ "op": "end_read", "ring": "ring" }},
            {{ "op": "sleep", "us": 3000000 }},
            {{ "op": "assert", "ring": "ring", "quantity": "files_held", "equals": 0 }},
            {{ "op": "assert", "quantity": "pins", "equals": 2 }})",
                                    waits(design) ? 5 : 0, waits(design) ? 7 : 2));
    }
}

TEST_CASE("unregister_buffers with a read in flight: waits up to 6.12, returns at once from 6.13") {
    const std::string text = R"({ "name": "t", "rings": { "ring": { "entries": 8 } }, "tasks": [
        { "name": "owner", "cpu": 0, "program": [
          { "op": "create_ring", "ring": "ring" },
          { "op": "register_buffers", "ring": "ring", "count": 2 },
          { "op": "read_fixed", "ring": "ring", "count": 3, "buffer": 1, "pending": true },
          { "phase": "unregister", "operations": 1, "do": [
            { "op": "unregister_buffers", "ring": "ring" } ] },
          { "op": "assert", "ring": "ring", "quantity": "buffers_installed", "equals": 0 },
          { "op": "sleep", "us": 100000 },
          { "op": "assert", "quantity": "pins", "equals": 0 },
          { "op": "reap", "ring": "ring", "count": 3, "expect": 4096 } ] },
        { "name": "event", "cpu": 1, "program": [
          { "op": "sleep", "us": 50000 },
          { "repeat": 3, "do": [ { "op": "end_read", "ring": "ring" } ] } ] } ] })";
    for (const std::string& design : generations) {
        CAPTURE(design);
        const Result result = replay(text, design);
        const double us = result.ns(result.find_phase("unregister")->mean_cycles()) / 1000;
        CHECK(us > (waits(design) ? 49'000 : 0));
        CHECK(us < (waits(design) ? 80'000 : 10));
    }
}

TEST_CASE("a pending read that nobody ends is cancelled with its ring, and lets go of its buffer") {
    for (const std::string& design : generations) {
        CAPTURE(design);
        program(design, R"(
            { "op": "register_buffers", "ring": "ring", "count": 2 },
            { "op": "read_fixed", "ring": "ring", "count": 2, "pending": true },
            { "op": "close_ring", "ring": "ring" },
            { "op": "sleep", "us": 3000000 },
            { "op": "assert", "quantity": "rings_alive", "equals": 0 },
            { "op": "assert", "quantity": "pins", "equals": 0 })");
    }
}

TEST_CASE("clone: ranges and their errors, from 6.13 on") {
    const char* body = R"(
        { "op": "create_ring", "ring": "other" },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "expect": "-ENXIO" },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "nr": 1, "expect": "-EINVAL" },
        { "op": "register_buffers", "ring": "ring", "count": 4 },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "src_off": 1, "expect": "-EINVAL" },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "dst_off": 1, "expect": "-EINVAL" },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "nr": 5, "expect": "-EINVAL" },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "nr": 4, "dst_off": 4294967292,
          "expect": "-EOVERFLOW" },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "nr": 4, "dst_off": 16381,
          "expect": "-EINVAL" },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "nr": 4, "src_off": 1,
          "expect": "-EOVERFLOW" },
        { "op": "assert", "ring": "other", "quantity": "buffers_installed", "equals": 0 },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "nr": 2, "src_off": 2, "dst_off": 3 },
        { "op": "assert", "ring": "other", "quantity": "buffers_installed", "equals": 2 },
        { "op": "read_fixed", "ring": "other", "buffer": 2, "expect": "-EFAULT" },
        { "op": "read_fixed", "ring": "other", "buffer": 3, "expect": 4096 },
        { "op": "read_fixed", "ring": "other", "buffer": 4, "expect": 4096 },
        { "op": "read_fixed", "ring": "other", "buffer": 5, "expect": "-EFAULT" },
        { "op": "assert", "quantity": "pins", "equals": 4 },
        { "op": "unregister_buffers", "ring": "ring" },
        { "op": "assert", "quantity": "pins", "equals": 2 },
        { "op": "unregister_buffers", "ring": "other" },
        { "op": "assert", "quantity": "pins", "equals": 0 })";
    program("linux-6.13", body);
    program("linux-6.18", body);
    program("linux-6.12", R"(
        { "op": "create_ring", "ring": "other" },
        { "op": "register_buffers", "ring": "ring", "count": 4 },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "nr": 4, "expect": "-EINVAL" },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "dst_replace": true,
          "expect": "-EINVAL" },
        { "op": "clone_buffers", "ring": "other", "from": "ring" },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "dst_replace": true,
          "expect": "-EBUSY" })");
}

TEST_CASE(
    "clone with DST_REPLACE: what lies before dst_off stays, what lies after the range goes") {
    program("linux-6.18", R"(
        { "op": "create_ring", "ring": "other" },
        { "op": "register_buffers", "ring": "ring", "count": 2, "bytes": 8192 },
        { "op": "register_buffers", "ring": "other", "count": 4, "bytes": 4096, "tag": 9 },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "expect": "-EBUSY" },
        { "op": "read_fixed", "ring": "other", "buffer": 3, "pending": true },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "nr": 1, "dst_off": 1,
          "dst_replace": true },
        { "comment": "1, 2 and 3 of the old table went; the read still holds 3",
          "op": "assert", "ring": "other", "quantity": "cq_ready", "equals": 2 },
        { "op": "assert", "ring": "other", "quantity": "buffers_installed", "equals": 2 },
        { "op": "assert", "quantity": "pins", "equals": 6 },
        { "op": "end_read", "ring": "other" },
        { "op": "assert", "quantity": "pins", "equals": 5 },
        { "op": "assert", "ring": "other", "quantity": "cq_ready", "equals": 4 },
        { "op": "reap", "ring": "other" },
        { "op": "read_fixed", "ring": "other", "buffer": 0, "bytes": 8192, "expect": "-EFAULT" },
        { "op": "read_fixed", "ring": "other", "buffer": 0, "expect": 4096 },
        { "op": "read_fixed", "ring": "other", "buffer": 1, "bytes": 8192, "expect": 8192 },
        { "op": "read_fixed", "ring": "other", "buffer": 3, "expect": "-EFAULT" },
        { "comment": "the table keeps its size: a clone never makes it smaller",
          "op": "update_buffers", "ring": "other", "first": 3, "count": 1, "expect": 1 },
        { "op": "unregister_buffers", "ring": "other" },
        { "op": "unregister_buffers", "ring": "ring" },
        { "op": "assert", "quantity": "pins", "equals": 0 })");
}

TEST_CASE("clone within one ring copies slots; without DST_REPLACE its own table is in the way") {
    program("linux-6.18", R"(
        { "op": "clone_buffers", "ring": "ring", "from": "ring", "expect": "-ENXIO" },
        { "op": "register_buffers", "ring": "ring", "count": 2, "bytes": 4096 },
        { "op": "clone_buffers", "ring": "ring", "from": "ring", "expect": "-EBUSY" },
        { "op": "clone_buffers", "ring": "ring", "from": "ring", "nr": 2, "dst_off": 2,
          "dst_replace": true },
        { "op": "assert", "ring": "ring", "quantity": "buffers_installed", "equals": 4 },
        { "op": "assert", "quantity": "pins", "equals": 2 },
        { "op": "unregister_buffers", "ring": "ring" },
        { "op": "assert", "quantity": "pins", "equals": 0 })");
}

TEST_CASE("clone without memory for a node leaves the table as it was") {
    program("linux-6.18", R"(
        { "op": "create_ring", "ring": "other" },
        { "op": "register_buffers", "ring": "ring", "count": 4 },
        { "op": "register_buffers", "ring": "other", "count": 1 },
        { "op": "fail_alloc", "ring": "other", "what": "rsrc_node", "after": 2 },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "dst_replace": true,
          "expect": "-ENOMEM" },
        { "op": "assert", "ring": "other", "quantity": "buffers_installed", "equals": 1 },
        { "op": "assert", "quantity": "pins", "equals": 5 },
        { "op": "read_fixed", "ring": "other", "expect": 4096 })");
}

TEST_CASE(
    "FILES_UPDATE with IORING_FILE_INDEX_ALLOC: free slots, -ENFILE when full, -ENXIO, -EBADF") {
    for (const std::string& design : generations) {
        CAPTURE(design);
        program(design, R"(
            { "op": "update_files", "ring": "ring", "offset": "alloc", "expect": "-ENXIO" },
            { "op": "register_files_sparse", "ring": "ring", "count": 8 },
            { "op": "update_files", "ring": "ring", "offset": "alloc", "with": "none",
              "expect": "-EBADF" },
            { "op": "update_files", "ring": "ring", "offset": "alloc", "with": "bad_fd",
              "expect": "-EBADF" },
            { "op": "update_files", "ring": "ring", "offset": "alloc", "with": "ring_file",
              "expect": "-EBADF" },
            { "op": "update_files", "ring": "ring", "offset": "alloc", "count": 3, "entries": 3,
              "first_slot": 0, "expect": 3 },
            { "op": "update_files", "ring": "ring", "offset": 4294967295, "count": 2, "batch": 2,
              "first_slot": 3, "expect": 1 },
            { "comment": "a slot that is emptied is the next to be picked",
              "op": "update_files", "ring": "ring", "offset": 1, "with": "none", "expect": 1 },
            { "op": "update_files", "ring": "ring", "offset": "alloc", "first_slot": 1, "expect": 1 },
            { "comment": "three are left: a request for five does three",
              "op": "update_files", "ring": "ring", "offset": "alloc", "count": 5, "entries": 5,
              "expect": 3 },
            { "op": "update_files", "ring": "ring", "offset": "alloc", "expect": "-ENFILE" },
            { "op": "assert", "ring": "ring", "quantity": "files_installed", "equals": 8 },
            { "op": "unregister_files", "ring": "ring" })");
    }
    program("linux-6.18", R"(
        { "op": "register_files_sparse", "ring": "ring", "count": 8 },
        { "op": "register_file_alloc_range", "ring": "ring", "offset": 6, "length": 2 },
        { "op": "update_files", "ring": "ring", "offset": "alloc", "count": 3, "entries": 3,
          "first_slot": 6, "expect": 2 },
        { "op": "update_files", "ring": "ring", "offset": "alloc", "expect": "-ENFILE" })");
}

TEST_CASE("FILES_UPDATE that picks slots: another slot than the scenario says stops the run") {
    CHECK_THROWS_WITH(program("linux-6.18", R"(
        { "op": "register_files_sparse", "ring": "ring", "count": 8 },
        { "op": "update_files", "ring": "ring", "offset": "alloc", "first_slot": 5 })"),
                      doctest::Contains("picked slot 0, expected 5"));
}

TEST_CASE("end_read without a pending read stops the run") {
    CHECK_THROWS_WITH(program("linux-6.18", R"({ "op": "end_read", "ring": "ring" })"),
                      doctest::Contains("no READ_FIXED is pending"));
}
