// Updates of registered files and buffers in each kernel generation: what users ran into, what the
// kernel's rules say by hand, and the figures of the 2023 series.

#include "analysis/library.h"
#include "analysis/run.h"
#include "models/mm/percpu_memory.h"
#include "models/sched/rcu.h"
#include "scenarios/replay.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>

#include "support.h"

using namespace uringsim;
using scenarios::Result;

namespace {

analysis::Library library() {
    scenarios::Diagnostics diagnostics;
    auto found = analysis::Library::open(std::nullopt, diagnostics);
    REQUIRE_MESSAGE(found, diagnostics.to_string());
    return *found;
}

analysis::Run run(const analysis::RunRequest& request) {
    scenarios::Diagnostics diagnostics;
    const auto prepared = analysis::prepare(library(), request, diagnostics);
    REQUIRE_MESSAGE(prepared, diagnostics.to_string());
    return analysis::execute(*prepared, prepared->designs.front());
}

Result updates(const std::string& design, const std::string& machine,
               const scenarios::ParameterOverrides& parameters,
               const scenarios::KnobOverrides& knobs = {}) {
    analysis::RunRequest request;
    request.scenario = "rsrc-update";
    request.designs = {design};
    request.machine = machine;
    request.parameters = parameters;
    request.knobs = knobs;
    return run(request).result;
}

double ns_an_update(const Result& result) {
    return analysis::ns_per_operation(result, *result.find_phase("updates"));
}

/// A run of one task on CPU 0 with rings "ring" and "other".
Result program(const std::string& design, const std::string& body) {
    scenarios::Diagnostics diagnostics;
    const std::string text = fmt::format(
        R"({{ "name": "test", "rings": {{ "ring": {{ "entries": 64 }}, "other": {{ "entries": 64 }} }},
             "tasks": [ {{ "name": "program", "cpu": 0, "program": [
               {{ "op": "create_ring", "ring": "ring" }}, {} ] }} ] }})",
        body);
    const auto root = scenarios::parse_json("test.json", text, diagnostics);
    REQUIRE_MESSAGE(root, diagnostics.to_string());
    const auto scenario = scenarios::read_scenario(*root, {}, diagnostics);
    REQUIRE_MESSAGE(scenario, diagnostics.to_string());
    const auto node = library().load(analysis::FileKind::design, design, "--design", diagnostics);
    REQUIRE_MESSAGE(node, diagnostics.to_string());
    const auto read = library().design(*node, diagnostics);
    REQUIRE_MESSAGE(read, diagnostics.to_string());
    models::Machine machine;
    machine.cpus = 4;
    return scenarios::replay(*scenario, *read, machine);
}

std::uint64_t counted(const Result& result, const std::string& counter) {
    return scenarios::counter_value(result.counters, counter);
}

sim::Cycles ledger_of(const Result& result, const std::string& primitive) {
    sim::Cycles sum = 0;
    for (const auto& row : result.ledger) {
        sum += row.primitive == primitive ? row.cycles : 0;
    }
    return sum;
}

const std::string short_delay = "100000"; // us, in place of a second: the same balance, sooner

} // namespace

TEST_CASE("updates: the ten published rates of the 2023 series and both ratios") {
    struct Case {
        const char* design;
        const char* machine;
        scenarios::ParameterOverrides parameters;
        std::vector<double> rates;
    };
    const scenarios::ParameterOverrides quick{{"warmup", "200"}, {"rounds", "200"}};
    const auto pinned = [](scenarios::ParameterOverrides parameters, const char* value) {
        parameters.emplace_back("pinned", value);
        return parameters;
    };
    const scenarios::ParameterOverrides box{{"warmup", "3900"}, {"rounds", "5200"}};
    const std::vector<Case> cases{
        {"linux-6.3",
         "updates-2023",
         pinned({{"warmup", "18400"}, {"rounds", "8200"}}, "0"),
         {1040000}},
        {"rsrc-update-13", "updates-2023", pinned(quick, "0"), {11468000}},
        {"linux-6.3", "bigbox-2023", pinned(box, "1"), {165670, 166412}},
        {"linux-6.3", "bigbox-2023", pinned(box, "0"), {213411, 208995}},
        {"rsrc-update-13", "bigbox-2023", pinned(quick, "1"), {10890297, 10451699}},
        {"rsrc-update-13", "bigbox-2023", pinned(quick, "0"), {10793148, 10934918}},
    };
    std::vector<double> simulated;
    for (const Case& one : cases) {
        const double rate = 1e9 / ns_an_update(updates(one.design, one.machine, one.parameters));
        simulated.push_back(rate);
        for (const double published : one.rates) {
            CAPTURE(one.machine);
            CAPTURE(one.design);
            CHECK(rate == doctest::Approx(published).epsilon(0.05));
        }
    }
    CHECK(simulated[1] / simulated[0] == doctest::Approx(11468.0 / 1040).epsilon(0.05));
    CHECK(simulated[4] / simulated[2] ==
          doctest::Approx(64.2).epsilon(0.05)); // means of the two runs
    CHECK(simulated[5] / simulated[3] == doctest::Approx(51.4).epsilon(0.05));
}

TEST_CASE(
    "updates: pinned is slower before the series because a kworker takes the CPU, equal after") {
    const scenarios::KnobOverrides delay{{"node.put_delay_us", short_delay}};
    const auto of = [&](const char* design, const char* pinned) {
        return updates(design, "bigbox-2023",
                       {{"warmup", "500"}, {"rounds", "1000"}, {"pinned", pinned}},
                       std::string(design) == "linux-6.3" ? delay : scenarios::KnobOverrides{});
    };
    const Result pinned = of("linux-6.3", "1");
    const Result moving = of("linux-6.3", "0");
    CHECK(ns_an_update(pinned) > 1.1 * ns_an_update(moving));
    // The whole difference is time in which the program waited for its CPU.
    const double waited = static_cast<double>(ledger_of(pinned, "waiting")) / (1000 * 128);
    CHECK(pinned.ns(waited) > 0.9 * (ns_an_update(pinned) - ns_an_update(moving)));
    CHECK(ledger_of(moving, "waiting") < ledger_of(pinned, "waiting") / 20);
    CHECK(ns_an_update(of("rsrc-update-13", "1")) == ns_an_update(of("rsrc-update-13", "0")));
    CHECK(ledger_of(of("rsrc-update-13", "1"), "waiting") == 0);
}

TEST_CASE("updates: every possible CPU costs the same, and only with percpu references") {
    const auto of = [](const char* design, const char* cpus) {
        return updates(design, "updates-2023", {{"warmup", "50"}, {"rounds", "50"}},
                       {{"kernel.possible_cpus", cpus}});
    };
    // Too short for a grace period to end: each update clears, none adds up yet.
    const Result few = of("linux-6.3", "18");
    const Result many = of("linux-6.3", "118");
    const models::Machine machine;
    const double clearing =
        static_cast<double>(ledger_of(many, "percpu_zero_cpu") - ledger_of(few, "percpu_zero_cpu"));
    CHECK(clearing / (50 * 128 * 100) == doctest::Approx(26.3).epsilon(0.001));
    CHECK(ns_an_update(of("rsrc-update-01", "18")) == ns_an_update(of("rsrc-update-01", "118")));
    CHECK(ns_an_update(of("linux-6.4", "18")) == ns_an_update(of("linux-6.4", "118")));
}

TEST_CASE("updates: each patch that changes a cost can be switched on alone, or says what it needs") {
    const scenarios::ParameterOverrides length{{"warmup", "100"}, {"rounds", "100"}};
    const double before = ns_an_update(updates("linux-6.3", "updates-2023", length));
    for (const auto& row : scenarios::KnobOverrides{{"node.references", "atomic"},
                                                              {"node.references", "plain"},
                                                              {"node.list_lock", "false"},
                                                              {"node.inline_item", "true"},
                                                              {"node.data_atomic", "false"}}) {
        const auto& knob = row.first;
        const auto& value = row.second;
        CAPTURE(knob);
        CHECK(ns_an_update(updates("linux-6.3", "updates-2023", length, {{knob, value}})) < before);
    }
    const auto refused = [](const scenarios::KnobOverrides& knobs) {
        models::Design design = tests::load_design("linux-6.3");
        scenarios::Diagnostics diagnostics;
        scenarios::apply_knobs(design, knobs, diagnostics);
        return diagnostics.to_string();
    };
    CHECK(refused({{"node.deferred_free", "false"}}).find("node.references percpu needs") !=
          std::string::npos);
    CHECK(refused({{"node_cache.limit", "512"}}).find("node.deferred_free needs") !=
          std::string::npos);
    CHECK(refused({{"node.deferred_free", "false"}, {"node.references", "atomic"}}).empty());
}

TEST_CASE("updates: what each patch takes away can be counted") {
    const scenarios::ParameterOverrides length{{"warmup", "0"}, {"rounds", "100"}};
    const auto of = [&](const char* design) { return updates(design, "updates-2023", length); };
    const std::uint64_t n = 100 * 128; // updates in the phase
    const auto in_phase = [](const Result& result, const std::string& name) {
        return scenarios::counter_value(result.find_phase("updates")->counters, name);
    };
    const Result before = of("linux-6.3");
    // The first fill removed nothing, so the node that it made ready serves the first update.
    CHECK(in_phase(before, "percpu_allocs") == n - 1);
    CHECK(in_phase(before, "rcu_calls") == n);
    CHECK(in_phase(before, "node_cache_miss") == n - 1);
    CHECK(counted(before, "rcu_calls") == counted(before, "rcu_callbacks"));
    CHECK(counted(of("rsrc-update-01"), "percpu_allocs") == 0);
    CHECK(counted(of("rsrc-update-01"), "rcu_calls") == 0);
    CHECK(counted(of("rsrc-update-08"), "works_run") > 0);
    CHECK(counted(of("rsrc-update-09"), "works_run") == 0);
    CHECK(in_phase(of("rsrc-update-09"), "node_cache_miss") == n - 1);
    CHECK(in_phase(of("rsrc-update-10"), "node_cache_hit") == n - 1);
    // Each step of the series is at least as fast as the one before it, once nodes come back.
    double last = ns_an_update(before);
    for (const char* design :
         {"rsrc-update-01", "rsrc-update-05", "rsrc-update-06", "rsrc-update-08"}) {
        const double now = ns_an_update(of(design));
        CHECK_MESSAGE(now < last, design);
        last = now;
    }
    CHECK(ns_an_update(of("rsrc-update-10")) < ns_an_update(of("rsrc-update-09")));
    CHECK(ns_an_update(of("rsrc-update-12")) < ns_an_update(of("rsrc-update-10")));
    CHECK(ns_an_update(of("rsrc-update-13")) == ns_an_update(of("rsrc-update-12")));
}

TEST_CASE("updates: memory grows while callbacks and the delayed work wait") {
    const auto of = [](const char* delay) {
        return updates("linux-6.3", "updates-2023", {{"warmup", "0"}, {"rounds", "400"}},
                       {{"node.put_delay_us", delay}})
            .memory;
    };
    const auto long_wait = of("1000000");
    CHECK(long_wait.nodes_live_peak ==
          400 * 128 + 2); // none came back; the current and the next one
    CHECK(long_wait.node_footprint_bytes == 96 + 64 + 8 * 18 + 32);
    CHECK(long_wait.live_bytes_peak == long_wait.nodes_live_peak * long_wait.node_footprint_bytes);
    CHECK(long_wait.percpu_bytes_peak == long_wait.nodes_live_peak * 8 * 18);
    CHECK(of("1000").nodes_live_peak < long_wait.nodes_live_peak);
    const auto after =
        updates("rsrc-update-13", "updates-2023", {{"warmup", "0"}, {"rounds", "400"}});
    CHECK(after.memory.node_footprint_bytes == 96);
    CHECK(after.memory.nodes_live_peak <= 2);
    CHECK(after.memory.percpu_bytes_peak == 0);
}

TEST_CASE("RCU: the length of a grace period follows HZ and the number of CPUs") {
    models::RcuTiming timing;
    timing.hz = 250;
    CHECK(timing.jiffies() == 2); // 1 + 0 + 0, and the tick of a busy CPU
    timing.hz = 300;
    CHECK(timing.jiffies() == 3);
    timing.hz = 1000;
    CHECK(timing.jiffies() == 4);
    timing.possible_cpus = 255;
    CHECK(timing.jiffies() == 4);
    timing.possible_cpus = 512;
    CHECK(timing.jiffies() == 6);
}

TEST_CASE(
    "ordered-reclaim: up to 6.12 an older poll holds every file removed after it; from 6.13 none") {
    const std::string body = R"(
        { "op": "register_files_sparse", "ring": "ring", "count": 2 },
        { "op": "update_files", "ring": "ring", "offset": 0 },
        { "op": "poll", "ring": "ring", "slot": 0 },
        { "repeat": 7, "do": [
            { "op": "update_files", "ring": "ring", "offset": 1, "via": "call" },
            { "op": "update_files", "ring": "ring", "offset": 1, "via": "call", "with": "none" } ] },
        { "op": "sleep", "us": 3000000 },
        { "op": "assert", "ring": "ring", "quantity": "files_held", "equals": HELD },
        { "op": "end_poll", "ring": "ring" },
        { "op": "sleep", "us": 3000000 },
        { "op": "assert", "ring": "ring", "quantity": "files_held", "equals": 0 })";
    const std::map<std::string, std::string> held{
        {"linux-6.1", "7"},  {"linux-6.3", "7"},  {"rsrc-update-13", "7"}, {"linux-6.4", "7"},
        {"linux-6.12", "7"}, {"linux-6.13", "0"}, {"linux-6.18", "0"}};
    for (const auto& row : held) {
        const auto& design = row.first;
        const auto& files = row.second;
        CAPTURE(design);
        std::string text = body;
        text.replace(text.find("HELD"), 4, files);
        const Result result = program(design, text);
        CHECK(counted(result, "removals_held_back") == std::stoull(files));
    }
}

TEST_CASE(
    "rewrite-live-table: up to 6.3 a node, a put item and a grace period a call, no short cut") {
    const std::string body = R"(
        { "op": "register_files_sparse", "ring": "ring", "count": 8 },
        { "op": "update_files", "ring": "ring", "count": 8, "entries": 8, "via": "call" },
        { "op": "update_files", "ring": "ring", "count": 8, "entries": ENTRIES, "via": "call" })";
    const auto nodes = [&](const std::string& design, const std::string& entries) {
        std::string text = body;
        text.replace(text.find("ENTRIES"), 7, entries);
        return counted(program(design, text), "node_alloc");
    };
    // Registration and the end of the ring take the same number in each; what the calls take
    // differs.
    CHECK(nodes("linux-6.1", "1") - nodes("linux-6.1", "8") == 7); // one a call
    CHECK(nodes("linux-6.12", "1") == nodes("linux-6.12", "8"));   // one a removed slot
    CHECK(nodes("linux-6.18", "8") == 16);                         // one an installed file
    CHECK(counted(program("linux-6.1", R"(
        { "op": "register_files_sparse", "ring": "ring", "count": 8 },
        { "op": "update_files", "ring": "ring", "count": 8, "entries": 8, "via": "call" },
        { "op": "update_files", "ring": "ring", "count": 8, "entries": 1, "via": "call" },
        { "op": "sleep", "us": 3000000 })"),
                  "rcu_callbacks") ==
          9); // eight calls, and the node that the end of the ring closes
}

TEST_CASE("second-update-no-hang: an update never waits, in any generation") {
    for (const char* design : {"linux-6.1", "linux-6.4", "linux-6.12", "linux-6.18"}) {
        CAPTURE(design);
        const Result result = program(design, R"(
            { "op": "register_files", "ring": "ring", "count": 2 },
            { "op": "poll", "ring": "ring", "slot": 0 },
            { "phase": "updates", "operations": 2, "do": [
              { "op": "update_files", "ring": "ring", "count": 1, "via": "call" },
              { "op": "update_files", "ring": "ring", "count": 1, "via": "call" } ] },
            { "op": "end_poll", "ring": "ring" })");
        CHECK(result.find_phase("updates")->total_cycles() < 100'000);
        CHECK(ledger_of(result, "waiting") == 0);
    }
}

TEST_CASE("unregister with requests in flight: waits up to 6.12, returns at once from 6.13") {
    const std::string text = R"({ "name": "t", "rings": { "ring": { "entries": 8 } }, "tasks": [
        { "name": "owner", "cpu": 0, "program": [
          { "op": "create_ring", "ring": "ring" },
          { "op": "register_files", "ring": "ring", "count": 2 },
          { "op": "poll", "ring": "ring", "slot": 0 },
          { "phase": "unregister", "operations": 1, "do": [
            { "op": "unregister_files", "ring": "ring" } ] },
          { "op": "sleep", "us": 100000 } ] },
        { "name": "event", "cpu": 1, "program": [
          { "op": "sleep", "us": 50000 }, { "op": "end_poll", "ring": "ring" } ] } ] })";
    for (const char* design :
         {"linux-6.1", "rsrc-update-13", "linux-6.4", "linux-6.12", "linux-6.18"}) {
        CAPTURE(design);
        scenarios::Diagnostics diagnostics;
        const auto root = scenarios::parse_json("t.json", text, diagnostics);
        const auto scenario = scenarios::read_scenario(*root, {}, diagnostics);
        REQUIRE_MESSAGE(scenario, diagnostics.to_string());
        const auto node =
            library().load(analysis::FileKind::design, design, "--design", diagnostics);
        const auto read = library().design(*node, diagnostics);
        REQUIRE(read);
        models::Machine machine;
        machine.cpus = 4;
        const Result result = scenarios::replay(*scenario, *read, machine);
        const double us = result.ns(result.find_phase("unregister")->mean_cycles()) / 1000;
        if (std::string(design) == "linux-6.18") {
            CHECK(us < 10);
        } else {
            CHECK(us > 49'000);
            CHECK(us < 80'000);
        }
    }
}

TEST_CASE("tags: the CQE comes when the resource is released, not before") {
    const std::string body = R"(
        { "op": "register_files_sparse", "ring": "ring", "count": 2 },
        { "op": "update_files", "ring": "ring", "count": 1, "tag": 77, "via": "call" },
        { "op": "poll", "ring": "ring", "slot": 0 },
        { "op": "update_files", "ring": "ring", "count": 1, "with": "none", "via": "call" },
        { "op": "sleep", "us": 3000000 },
        { "op": "assert", "ring": "ring", "quantity": "cq_ready", "equals": 0 },
        { "op": "end_poll", "ring": "ring" },
        { "op": "sleep", "us": 3000000 },
        { "op": "assert", "ring": "ring", "quantity": "cq_ready", "equals": 2 },
        { "op": "reap", "ring": "ring", "count": 1 },
        { "op": "reap", "ring": "ring", "count": 1, "first_user_data": 77 })";
    for (const char* design :
         {"linux-6.1", "rsrc-update-09", "linux-6.4", "linux-6.12", "linux-6.18"}) {
        CAPTURE(design);
        program(design, body);
    }
}

TEST_CASE("buffers: an unaligned buffer pins two pages; memlock counts pages, huge ones whole") {
    const auto pins = [](const char* what, int expected_pins, int expected_pages) {
        return fmt::format(R"(
            {{ "op": "register_buffers", "ring": "ring", "count": 1, {} }},
            {{ "op": "assert", "quantity": "pins", "equals": {} }},
            {{ "op": "assert", "quantity": "pages_accounted", "equals": {} }},
            {{ "op": "unregister_buffers", "ring": "ring" }},
            {{ "op": "assert", "quantity": "pins", "equals": 0 }})",
                           what, expected_pins, expected_pages);
    };
    program("linux-6.18", pins(R"("bytes": 4096)", 1, 1));
    program("linux-6.18", pins(R"("bytes": 4096, "page_offset": 512)", 2, 2));
    program("linux-6.18", pins(R"("bytes": 4097)", 2, 2));
    program("linux-6.18", pins(R"("bytes": 2097152, "pages": "huge")", 1, 512));
    program("linux-6.18", pins(R"("bytes": 65536, "pages": "huge")", 1, 512));
    program("linux-6.1", pins(R"("bytes": 2097152, "pages": "huge")", 512, 512));
}

TEST_CASE("buffers: the errors of registration, update, clone and unregistration") {
    const char* body = R"(
        { "op": "unregister_buffers", "ring": "ring", "expect": "-ENXIO" },
        { "op": "update_buffers", "ring": "ring", "expect": "-ENXIO" },
        { "op": "register_buffers", "ring": "ring", "count": 0, "expect": "-EINVAL" },
        { "op": "register_buffers", "ring": "ring", "count": 16385, "expect": "-EINVAL" },
        { "op": "register_buffers", "ring": "ring", "count": 1, "bytes": 0, "expect": "-EFAULT" },
        { "op": "register_buffers", "ring": "ring", "count": 1, "bytes": 1073741825, "expect": "-EFAULT" },
        { "op": "set_rlimit_memlock", "bytes": 8192 },
        { "op": "register_buffers", "ring": "ring", "count": 3, "expect": "-ENOMEM" },
        { "op": "assert", "quantity": "pins", "equals": 0 },
        { "op": "register_buffers", "ring": "ring", "count": 2, "bytes": 4096 },
        { "op": "register_buffers", "ring": "ring", "count": 2, "expect": "-EBUSY" },
        { "op": "update_buffers", "ring": "ring", "first": 1, "count": 2, "expect": "-EINVAL" },
        { "op": "update_buffers", "ring": "ring", "expect": "-ENOMEM" },
        { "op": "update_buffers", "ring": "ring", "empty": true, "tag": 5, "expect": "-EINVAL" },
        { "op": "update_buffers", "ring": "ring", "empty": true, "expect": 1 },
        { "op": "sleep", "us": 2000000 },
        { "op": "assert", "ring": "ring", "quantity": "buffers_installed", "equals": 1 },
        { "op": "update_buffers", "ring": "ring", "expect": 1 },
        { "op": "unregister_buffers", "ring": "ring" })";
    for (const char* design : {"linux-6.1", "linux-6.4", "linux-6.12", "linux-6.18"}) {
        CAPTURE(design);
        program(design, body);
    }
}

TEST_CASE("buffers: a clone shares the pins, which go with the last table") {
    const char* body = R"(
        { "op": "create_ring", "ring": "other" },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "expect": "-ENXIO" },
        { "op": "register_buffers", "ring": "ring", "count": 4, "bytes": 8192 },
        { "op": "clone_buffers", "ring": "other", "from": "ring" },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "expect": "-EBUSY" },
        { "op": "assert", "quantity": "pins", "equals": 8 },
        { "op": "close_ring", "ring": "ring" },
        { "op": "sleep", "us": 1000000 },
        { "op": "assert", "quantity": "pins", "equals": 8 },
        { "op": "unregister_buffers", "ring": "other" },
        { "op": "assert", "quantity": "pins", "equals": 0 })";
    program("linux-6.18", body);
    program("linux-6.12", body);
    program("linux-6.4", R"(
        { "op": "create_ring", "ring": "other" },
        { "op": "register_buffers", "ring": "ring", "count": 4 },
        { "op": "clone_buffers", "ring": "other", "from": "ring", "expect": "-EINVAL" })");
}

TEST_CASE("buffers: a node for each from 6.13 on, none before") {
    const char* body = R"(
        { "op": "register_buffers", "ring": "ring", "count": 10 },
        { "op": "unregister_buffers", "ring": "ring" })";
    CHECK(counted(program("linux-6.18", body), "node_alloc") == 10);
    CHECK(counted(program("linux-6.13", body), "node_alloc") == 10);
    CHECK(counted(program("linux-6.12", body), "node_alloc") < 10);
}
