#include "message_cases.h"

using namespace uringsim;
using namespace uringsim::test;

namespace {

/// A task that sends `count` messages to the ring "rx" of another, in batches.
std::string sender(int cpu, const std::string& ring, int count, int batch,
                   const std::string& last = "") {
    const std::string to = R"("ring": ")" + ring + R"(", "target": "rx")";
    return task(ring, cpu,
                R"({"op": "create_ring", "ring": ")" + ring + R"("},
                   {"op": "sleep", "us": 1000},
                   {"op": "send_data", )" +
                    to + R"(, "count": )" + std::to_string(count) + R"(, "batch": )" +
                    std::to_string(batch) + "}" + last);
}

/// A task that sends to "rx" and leaves the reading of messages and completions to others.
std::string unfollowed_sender(int times, int batch, const std::string& more = "") {
    return task("sender", 2,
                R"({"op": "create_ring", "ring": "tx"}, {"op": "sleep", "us": 1000}, {"repeat": )" +
                    std::to_string(times) + R"(, "do": [
                    {"op": "send_data", "ring": "tx", "target": "rx", "reap": false, "count": )" +
                    std::to_string(batch) + "}" + more + "]}");
}

std::string last_message(const std::string& ring) {
    return R"(, {"op": "send_data", "ring": ")" + ring + R"(", "target": "rx", "last": true})";
}

std::string receiver(int cpu, int wait) {
    return task("receiver", cpu,
                R"({"op": "create_ring", "ring": "rx"},
                   {"op": "receive", "ring": "rx", "wait": )" +
                    std::to_string(wait) + R"(, "latency": "receiver"},
                   {"op": "close_ring", "ring": "rx"})");
}

/// One program that owns both rings: "tx" sends to "rx", which uses DEFER_TASKRUN.
std::string own_defer(const std::string& program, const std::string& rx = R"("mode": "defer")") {
    return scenario(R"({"tx": {"entries": 256}, "rx": {"entries": 256, )" + rx + "}}",
                    task("owner", 1,
                         R"({"op": "create_ring", "ring": "tx"},
                            {"op": "create_ring", "ring": "rx"},)" +
                             program));
}

std::string prepare_and_submit(int count) {
    return R"({"op": "send_data", "ring": "tx", "target": "rx", "count": )" +
           std::to_string(count) + R"(, "reap": false},)";
}

} // namespace

TEST_CASE("batch-cap-20: an enter that waits for 1 posts 20 of 100, one that waits for 100 all") {
    const std::string twenty_each = own_defer(prepare_and_submit(100) + R"(
        {"op": "assert", "ring": "rx", "quantity": "local_work", "equals": 100},
        {"op": "submit", "ring": "rx", "wait": 1},
        {"op": "assert", "ring": "rx", "quantity": "cq_ready", "equals": 20},
        {"op": "reap", "ring": "rx", "count": 20, "first_user_data": 0},
        {"op": "submit", "ring": "rx", "wait": 1},
        {"op": "reap", "ring": "rx", "count": 20, "first_user_data": 20},
        {"op": "submit", "ring": "rx", "wait": 25},
        {"op": "reap", "ring": "rx", "count": 25, "first_user_data": 40},
        {"op": "submit", "ring": "rx", "wait": 1},
        {"op": "reap", "ring": "rx", "count": 20, "first_user_data": 65},
        {"op": "submit", "ring": "rx", "wait": 15},
        {"op": "reap", "ring": "rx", "count": 15, "first_user_data": 85})");
    const auto result = run(twenty_each, linux_6_18);
    CHECK(counter(result, "local_work_run") == 100);

    run(own_defer(prepare_and_submit(100) + R"(
        {"op": "submit", "ring": "rx", "wait": 100},
        {"op": "reap", "ring": "rx", "count": 100, "first_user_data": 0})"),
        linux_6_18);

    SUBCASE("6.12 has no cap") {
        run(own_defer(prepare_and_submit(100) + R"(
            {"op": "submit", "ring": "rx", "wait": 1},
            {"op": "reap", "ring": "rx", "count": 100, "first_user_data": 0})"),
            linux_6_11);
    }
    SUBCASE("an enter that submits and waits runs the work twice: up to 40") {
        run(own_defer(prepare_and_submit(100) + R"(
            {"op": "nop", "ring": "rx", "count": 1, "submit": false},
            {"op": "submit", "ring": "rx", "wait": 1},
            {"op": "assert", "ring": "rx", "quantity": "cq_ready", "equals": 41})"),
            linux_6_18);
    }
}

TEST_CASE("the cap by hand: a retry list that is used up to the last item lets one more run") {
    // 45 items, enters for 20: 20 leave 25 on the retry list; 20 leave 5; then those 5, and
    // whatever came meanwhile up to the cap.
    run(own_defer(prepare_and_submit(45) + R"(
        {"op": "submit", "ring": "rx", "wait": 1},
        {"op": "submit", "ring": "rx", "wait": 21},
        {"op": "assert", "ring": "rx", "quantity": "cq_ready", "equals": 41},
        {"op": "reap", "ring": "rx", "count": 41},)" +
                  prepare_and_submit(30) + R"(
        {"op": "submit", "ring": "rx", "wait": 1},
        {"op": "assert", "ring": "rx", "quantity": "cq_ready", "equals": 20},
        {"op": "assert", "ring": "rx", "quantity": "local_work", "equals": 14})"),
        linux_6_18);
}

TEST_CASE("defer-needs-getevents: completions stay invisible until an enter asks for events") {
    const auto result = run(own_defer(prepare_and_submit(3) + R"(
        {"op": "assert", "ring": "rx", "quantity": "cq_ready", "equals": 0},
        {"op": "submit", "ring": "rx"},
        {"op": "assert", "ring": "rx", "quantity": "cq_ready", "equals": 0},
        {"op": "submit", "ring": "rx", "wait": 0},
        {"op": "reap", "ring": "rx", "count": 3, "first_user_data": 0})"),
                            linux_6_18);
    CHECK(counter(result, "wakeups") == 0); // nobody waits
}

TEST_CASE("the TASKRUN flag tells a program that peeks to enter") {
    run(own_defer(R"({"op": "assert", "ring": "rx", "quantity": "taskrun", "equals": 0},)" +
                      prepare_and_submit(1) + R"(
        {"op": "assert", "ring": "rx", "quantity": "taskrun", "equals": 1},
        {"op": "submit", "ring": "rx", "wait": 1},
        {"op": "assert", "ring": "rx", "quantity": "taskrun", "equals": 0})",
                  R"("mode": "defer", "taskrun_flag": true)"),
        linux_6_18);
}

TEST_CASE("owner-only: another task that waits gets -EEXIST, and the message stays queued") {
    const std::string rings = R"({"tx": {}, "rx": {"mode": "defer"}})";
    const std::string owner = task("owner", 1, R"(
        {"op": "create_ring", "ring": "rx"}, {"op": "sleep", "us": 4000},
        {"op": "assert", "ring": "rx", "quantity": "cq_ready", "equals": 0},
        {"op": "submit", "ring": "rx", "wait": 1},
        {"op": "reap", "ring": "rx", "count": 1})");
    const std::string other = task("other", 2, R"(
        {"op": "create_ring", "ring": "tx"}, {"op": "sleep", "us": 1000},
        {"op": "send_data", "ring": "tx", "target": "rx", "reap": false},
        {"op": "submit", "ring": "rx", "wait": 1, "expect": "-EEXIST"},
        {"op": "nop", "ring": "rx", "submit": false},
        {"op": "submit", "ring": "rx", "expect": "-EEXIST"},
        {"op": "assert", "ring": "rx", "quantity": "local_work", "equals": 1})");
    run(scenario(rings, owner + "," + other), linux_6_18);
}

TEST_CASE(
    "a message to an own DEFER ring: direct up to 6.10, remote with patch 1 and from 6.11 on") {
    const std::string text = own_defer(prepare_and_submit(2) + R"(
        {"op": "submit", "ring": "rx", "wait": 2},
        {"op": "reap", "ring": "rx", "count": 2})");
    CHECK(counter(run(text, linux_6_10), "task_work_run") == 0);
    // two there, and one item that completes both here: the sender's ring is a plain one
    CHECK(counter(run(text, {{"msg_ring.data", "task_work"}}), "task_work_run") == 3);
    CHECK(counter(run(text, linux_6_18), "local_work_run") == 2);
    CHECK(counter(run(text, v3), "cqe_flushed") == 2);
}

TEST_CASE("full-cq-messages: 8 messages into a CQ of 4, none lost, in every design and mode") {
    for (const auto& row : all_designs) {
        const auto& name = row.first;
        const auto& knobs = row.second;
        for (const std::string mode : {"plain", "defer"}) {
            CAPTURE(name);
            CAPTURE(mode);
            const std::string text = scenario(
                R"({"tx": {"entries": 8}, "rx": {"entries": 2, "cq_entries": 4, "mode": ")" + mode +
                    R"("}})",
                task("one", 1,
                     R"({"op": "create_ring", "ring": "tx"}, {"op": "create_ring", "ring": "rx"},
                    {"op": "send_data", "ring": "tx", "target": "rx", "count": 8, "reap": false},
                    {"op": "submit", "ring": "tx", "wait": 8}, {"op": "reap", "ring": "tx", "count": 8},
                    {"op": "submit", "ring": "rx", "wait": 4},
                    {"op": "reap", "ring": "rx", "count": 4},
                    {"op": "submit", "ring": "rx", "wait": 4},
                    {"op": "reap", "ring": "rx", "count": 4},
                    {"op": "assert", "ring": "rx", "quantity": "cq_dropped", "equals": 0})"));
            const auto result = run(text, knobs);
            CHECK(counter(result, "cqe_dropped") == 0);
        }
    }
}

TEST_CASE("two hops: every message runs one item of task_work there and one of local work back") {
    const auto result =
        run(scenario(R"({"tx": {"mode": "defer"}, "rx": {"mode": "defer"}})",
                     receiver(1, 1) + "," + sender(2, "tx", 50, 1, last_message("tx"))),
            linux_6_10);
    CHECK(counter(result, "task_work_run") == 51);
    CHECK(counter(result, "local_work_run") == 51);
    CHECK(counter(result, "wakeups") >= 51);
    CHECK(result.latencies.at(0).histogram.count() == 50);

    SUBCASE("a sender without DEFER_TASKRUN gets its completion by task_work of its own") {
        const auto plain =
            run(scenario(R"({"tx": {}, "rx": {"mode": "defer"}})",
                         receiver(1, 1) + "," + sender(2, "tx", 50, 1, last_message("tx"))),
                linux_6_10);
        CHECK(counter(plain, "task_work_run") == 102);
        CHECK(counter(plain, "local_work_run") == 0);
    }
}

TEST_CASE("local work wakes a waiter of several once, when the last of them is there") {
    // 6.18: 8 lazy adds, the receiver waits for 8: one wake-up. 6.1 posts directly and looks each
    // time.
    const std::string rings = R"({"tx": {"mode": "defer"}, "rx": {"mode": "defer"}})";
    const std::string owner = task("owner", 1, R"(
        {"op": "create_ring", "ring": "rx"}, {"op": "submit", "ring": "rx", "wait": 8},
        {"op": "reap", "ring": "rx", "count": 8})");
    const std::string text =
        scenario(rings, owner + "," + unfollowed_sender(8, 1, R"(, {"op": "sleep", "us": 50})"));
    const auto lazy = run(text, linux_6_18);
    CHECK(counter(lazy, "wakeups") == 1);
    CHECK(counter(lazy, "wakeups_skipped") == 7);
    CHECK(counter(lazy, "wakeups_spurious") == 0);

    // v3 with patch 4 alone wakes for each; the waiter goes back to sleep seven times
    const auto each = run(text, v3_patch_4);
    CHECK(counter(each, "wakeups") == 8);
    CHECK(counter(each, "wakeups_spurious") == 7);

    // patch 8 as posted adds the entries twice, so half of what is waited for wakes already
    const auto batched = run(text, v3);
    CHECK(counter(batched, "wakeups") >= 1);
    CHECK(counter(batched, "wakeups") < 8);
}

TEST_CASE("patch 8: a local work add that forgets the entries before it wakes once more") {
    // The receiver waits for 3. Three entries wake it; before it is up a poll ends: its local work
    // sees that enough is there, but as posted not that it was there before.
    const std::string rings = R"({"tx": {}, "rx": {"mode": "defer"}})";
    const std::string owner = task("owner", 1, R"(
        {"op": "create_ring", "ring": "rx"}, {"op": "register_files", "ring": "rx", "count": 1},
        {"op": "poll", "ring": "rx"},
        {"op": "submit", "ring": "rx", "wait": 3}, {"op": "submit", "ring": "rx", "wait": 4},
        {"op": "reap", "ring": "rx", "count": 4})");
    const std::string text = scenario(
        rings, owner + "," + unfollowed_sender(1, 3, R"(, {"op": "end_poll", "ring": "rx"})"));
    const auto posted = run(text, v3);
    const auto repaired = run(text, v3_local);
    CHECK(counter(posted, "local_work_run") == 1);
    // While entries are pending every new CQE joins them.
    CHECK(counter(posted, "cqe_flushed") >= 3);
    CHECK(counter(repaired, "wakeups_skipped") == counter(posted, "wakeups_skipped") + 1);
}

TEST_CASE("msg_cache: paired it hits, mispaired one-way traffic never does") {
    const std::string text =
        scenario(R"({"tx": {"mode": "defer"}, "rx": {"mode": "defer"}})",
                 receiver(1, 1) + "," + sender(2, "tx", 200, 1, last_message("tx")));
    const auto mispaired = run(text, linux_6_11);
    CHECK(counter(mispaired, "msg_cache_hit") == 0);
    CHECK(counter(mispaired, "msg_cache_miss") == 201);
    const auto paired = run(text, linux_6_13);
    CHECK(counter(paired, "msg_cache_hit") > 150); // all but those that are on their way at once
    const auto uncached = run(text, linux_6_18);
    CHECK(counter(uncached, "msg_cache_hit") == 0);
    CHECK(counter(uncached, "memcg_charges") >= 201);
}

TEST_CASE("messages to a ring whose owner is gone, or that is disabled") {
    const std::string rings = R"({"tx": {}, "rx": {"mode": "defer"}})";
    const std::string other = task("other", 2, R"(
        {"op": "create_ring", "ring": "tx"}, {"op": "sleep", "us": 1000},
        {"op": "send_data", "ring": "tx", "target": "rx", "expect": "-EOWNERDEAD"})");
    const std::string gone = task("owner", 1, R"({"op": "create_ring", "ring": "rx"})");
    for (const auto& knobs : {linux_6_10, linux_6_18}) {
        run(scenario(rings, gone + "," + other), knobs);
    }
    const std::string disabled =
        scenario(R"({"tx": {}, "rx": {"mode": "defer", "disabled": true}})", task("one", 1, R"(
        {"op": "create_ring", "ring": "tx"}, {"op": "create_ring", "ring": "rx"},
        {"op": "send_data", "ring": "tx", "target": "rx", "expect": "-EBADFD"},
        {"op": "enable_ring", "ring": "rx"},
        {"op": "send_data", "ring": "tx", "target": "rx", "reap": false},
        {"op": "submit", "ring": "rx", "wait": 1}, {"op": "reap", "ring": "rx", "count": 1})"));
    for (const auto& row : all_designs) {
        const auto& name = row.first;
        const auto& knobs = row.second;
        CAPTURE(name);
        run(disabled, knobs);
    }
}

TEST_CASE("SEND_FD to a DEFER ring arrives once, with its notice, in every design") {
    for (const auto& row : all_designs) {
        const auto& name = row.first;
        const auto& knobs = row.second;
        CAPTURE(name);
        const std::string owner = task("owner", 1, R"(
            {"op": "create_ring", "ring": "rx"},
            {"op": "register_files_sparse", "ring": "rx", "count": 4},
            {"op": "submit", "ring": "rx", "wait": 3}, {"op": "reap", "ring": "rx", "count": 3},
            {"op": "assert", "ring": "rx", "quantity": "files_installed", "equals": 3})");
        const std::string other = task("other", 2, R"(
            {"op": "create_ring", "ring": "tx"}, {"op": "register_files", "ring": "tx", "count": 1},
            {"op": "sleep", "us": 1000},
            {"op": "send_fd", "ring": "tx", "target": "rx", "count": 3, "batch": 1, "reap": false},
            {"op": "submit", "ring": "tx", "wait": 3}, {"op": "reap", "ring": "tx", "count": 3})");
        const auto result = run(
            scenario(R"({"tx": {"mode": "defer"}, "rx": {"mode": "defer"}})", owner + "," + other),
            knobs);
        CHECK(counter(result, "files_installed") == 4);
    }
}

TEST_CASE("a target that is in its own long submission makes SEND_FD go to io-wq") {
    // Spurious -EAGAIN: the owner of the target holds its uring_lock over a batch of 4096 NOPs.
    const std::string owner = task("owner", 1, R"(
        {"op": "create_ring", "ring": "rx"},
        {"op": "register_files_sparse", "ring": "rx", "count": 64},
        {"op": "sleep", "us": 100000},
        {"op": "nop", "ring": "rx", "count": 20480, "batch": 4096})");
    const std::string other = task("other", 2, R"(
        {"op": "create_ring", "ring": "tx"}, {"op": "register_files", "ring": "tx", "count": 1},
        {"op": "sleep", "us": 100000},
        {"repeat": 40, "do": [{"op": "send_fd", "ring": "tx", "target": "rx", "cqe_skip": true},
                              {"op": "sleep", "us": 3}]})");
    const auto result = run(scenario(R"({"tx": {}, "rx": {"entries": 4096, "cq_entries": 65536}})",
                                     owner + "," + other),
                            linux_6_18);
    CHECK(counter(result, "msg_punted") > 0);
    CHECK(counter(result, "files_installed") == 41);
}

TEST_CASE("property: no message is lost or read twice, in any design") {
    // The log of a run that receives fails on a message that comes twice, and at the end on one
    // that never came; here it meets small CQs, batches, several senders and waits of several.
    constexpr int per_sender = 4000;
    for (const auto& row : all_designs) {
        const auto& name = row.first;
        const auto& knobs = row.second;
        for (const std::string mode : {"plain", "defer"}) {
            for (const int batch : {1, 5, 32}) {
                CAPTURE(name);
                CAPTURE(mode);
                CAPTURE(batch);
                const std::string rings =
                    R"({"a": {"entries": 64, "mode": "defer"}, "b": {"entries": 64}, "c": {"entries": 32},
                        "rx": {"entries": 4, "cq_entries": 4, "mode": ")" +
                    mode + R"("}})";
                const std::string tasks =
                    receiver(1, 1) + "," + sender(2, "a", per_sender, batch) + "," +
                    sender(3, "b", per_sender, batch) + "," +
                    sender(2, "c", per_sender, batch,
                           R"(, {"op": "sleep", "us": 2000000})" + last_message("c"));
                const auto result = run(scenario(rings, tasks), knobs);
                CHECK(result.latencies.at(0).histogram.count() == 3 * per_sender);
                CHECK(counter(result, "msg_sent") == 3 * per_sender + 1);
                CHECK(counter(result, "cqe_dropped") == 0);
            }
        }
    }
}
