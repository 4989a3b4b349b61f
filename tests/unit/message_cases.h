#pragma once

#include "models/design.h"
#include "models/machine.h"
#include "scenarios/configuration.h"
#include "scenarios/replay.h"
#include "scenarios/scenario.h"

#include <doctest/doctest.h>

#include <string>

// Short scenarios in JSON, run on a design given by knobs.

namespace uringsim::test {

inline scenarios::Scenario read(const std::string& text,
                                const scenarios::ParameterOverrides& parameters = {}) {
    scenarios::Diagnostics diagnostics;
    const auto node = scenarios::parse_json("case.json", text, diagnostics);
    std::optional<scenarios::Scenario> scenario;
    if (node) {
        scenario = scenarios::read_scenario(*node, parameters, diagnostics);
    }
    INFO(diagnostics.to_string());
    REQUIRE(scenario.has_value());
    return *scenario;
}

inline models::Design design_of(const scenarios::KnobOverrides& knobs) {
    scenarios::Diagnostics diagnostics;
    models::Design design;
    scenarios::apply_knobs(design, knobs, diagnostics);
    INFO(diagnostics.to_string());
    REQUIRE(diagnostics.empty());
    return design;
}

/// A machine with idle states and scatter: wake-ups take time and arrive at odd moments.
inline models::Machine busy_machine() {
    models::Machine machine;
    machine.name = "busy";
    machine.mhz = 1000; // a cycle is a nanosecond
    machine.cpus = 6;
    machine.timing.timer_slack = 50000;
    machine.timing.noise = {20, 1000, 1000, 500};
    machine.timing.idle.turn_round = {200, 300, 0, 0};
    machine.timing.idle.states = {{"poll", 0, 0, 1'000'000, true, {300, 300, 0, 0}},
                                  {"C1", 100, 1500, 1'000'000, false, {800, 200, 5000, 2000}}};
    return machine;
}

inline scenarios::Result run(const std::string& text, const scenarios::KnobOverrides& knobs = {},
                             const models::Machine& machine = busy_machine()) {
    return scenarios::replay(read(text), design_of(knobs), machine);
}

inline std::uint64_t counter(const scenarios::Result& result, const std::string& name) {
    return scenarios::counter_value(result.counters, name);
}

/// A scenario around tasks and rings.
inline std::string scenario(const std::string& rings, const std::string& tasks,
                            const std::string& parameters = "{}") {
    return R"({"name": "case", "summary": "", "parameters": )" + parameters + R"(, "rings": )" +
           rings + R"(, "tasks": [)" + tasks + "]}";
}

inline std::string task(const std::string& name, int cpu, const std::string& program) {
    return R"({"name": ")" + name + R"(", "cpu": )" + std::to_string(cpu) + R"(, "program": [)" +
           program + "]}";
}

// Designs by the version that they follow.
inline const scenarios::KnobOverrides linux_6_1{
    {"msg_ring.data", "direct"},  {"msg_ring.send_fd", "direct"},   {"msg_ring.free_rcu", "false"},
    {"local_work.order", "lifo"}, {"local_work.counting", "false"}, {"local_work.cap", "0"}};
inline const scenarios::KnobOverrides linux_6_10{{"msg_ring.data", "task_work"},
                                                 {"msg_ring.own_task_direct", "true"},
                                                 {"msg_ring.free_rcu", "false"},
                                                 {"local_work.cap", "0"}};
inline const scenarios::KnobOverrides v3_patch_4{
    {"msg_ring.data", "overflow"}, {"msg_ring.free_rcu", "false"}, {"local_work.cap", "0"}};
inline const scenarios::KnobOverrides v3{
    {"msg_ring.data", "overflow"}, {"msg_ring.send_fd", "overflow"}, {"msg_ring.plain", "overflow"},
    {"msg_ring.cache", "target"},  {"msg_ring.wake", "batched"},     {"msg_ring.free_rcu", "false"},
    {"local_work.cap", "0"}};
inline const scenarios::KnobOverrides v3_local{{"msg_ring.data", "overflow"},
                                               {"msg_ring.send_fd", "overflow"},
                                               {"msg_ring.plain", "overflow"},
                                               {"msg_ring.cache", "target"},
                                               {"msg_ring.wake", "batched_local"},
                                               {"msg_ring.free_rcu", "false"},
                                               {"local_work.cap", "0"}};
inline const scenarios::KnobOverrides linux_6_11{
    {"msg_ring.cache", "mispaired"}, {"msg_ring.free_rcu", "false"}, {"local_work.cap", "0"}};
inline const scenarios::KnobOverrides linux_6_13{{"msg_ring.cache", "target"},
                                                 {"msg_ring.free_rcu", "false"}};
inline const scenarios::KnobOverrides linux_6_18{};

inline const std::vector<std::pair<std::string, scenarios::KnobOverrides>> all_designs{
    {"6.1", linux_6_1},     {"6.10", linux_6_10}, {"v3 patch 4", v3_patch_4}, {"v3", v3},
    {"v3 local", v3_local}, {"6.11", linux_6_11}, {"6.13", linux_6_13},       {"6.18", linux_6_18}};

} // namespace uringsim::test
