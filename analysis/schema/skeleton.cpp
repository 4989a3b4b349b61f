#include "analysis/schema/skeleton.h"

#include "analysis/published.h"
#include "analysis/sweep/sweep_spec.h"
#include "models/primitives.h"
#include "scenarios/configuration.h"
#include "scenarios/scenario_reader.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cassert>

namespace uringsim::analysis {

namespace {

using Json = nlohmann::ordered_json;

/// Every operation, those twice that read other keys by what they are about; and every kind of
/// block.
Json program_skeleton() {
    Json program = Json::array();
    for (const std::string_view name : scenarios::operation_names()) {
        program.push_back({{"op", name}});
    }
    program.push_back({{"op", "assert"}, {"quantity", "cq_ready"}});
    program.push_back({{"op", "assert"}, {"quantity", "rings_alive"}});
    for (const char* block : {"repeat", "seconds", "for_ms"}) {
        program.push_back({{block, 1}, {"do", {{{"op", "sleep"}}}}});
    }
    program.push_back({{"phase", "phase"}, {"do", {{{"op", "sleep"}}}}});
    return program;
}

Json scenario_skeleton() {
    return {
        {"parameters",
         {{"number", {{"default", 0}}}, {"choice", {{"choices", {"a", "b"}}, {"default", "a"}}}}},
        {"rings", {{"ring", Json::object()}}},
        {"tasks", {{{"program", program_skeleton()}}}}};
}

Json machine_skeleton() {
    Json costs = Json::object();
    for (const models::PrimitiveInfo& row : models::primitive_table()) {
        costs[row.name] = {{"provenance", "measured"}}; // for which most is allowed
    }
    Json timing = {{"idle_states", {{{"exit", Json::object()}}}}};
    for (const char* shape : {"noise", "wake_noise", "cold_noise", "turn_round"}) {
        timing[shape] = Json::object();
    }
    return {{"memory", Json::object()},
            {"timing", std::move(timing)},
            {"calibration", Json::object()},
            {"costs", std::move(costs)}};
}

Json published_skeleton() {
    constexpr std::array metrics{Metric::ns_per_operation, Metric::percent, Metric::latency,
                                 Metric::counter, Metric::memory};
    Json figures = Json::array();
    for (const Metric metric : metrics) {
        figures.push_back({{"metric", metric_name(metric)}});
    }
    return {{"limits", Json::object()},
            {"figures", std::move(figures)},
            {"not_expressed", {Json::object()}}};
}

Json skeleton_of(FileKind kind) {
    switch (kind) {
    case FileKind::scenario:
        return scenario_skeleton();
    case FileKind::design:
        return {{"knobs", Json::object()}};
    case FileKind::machine:
        return machine_skeleton();
    case FileKind::published:
        return published_skeleton();
    case FileKind::sweep:
        return {{"axes", {Json::object(), {{"zip", {Json::object(), Json::object()}}}}}};
    }
    return Json::object();
}

scenarios::JsonNode parsed(const Json& json) {
    scenarios::Diagnostics diagnostics;
    auto root = scenarios::parse_json("skeleton", json.dump(), diagnostics);
    assert(root);
    return *std::move(root);
}

void read(FileKind kind, const scenarios::JsonNode& root, scenarios::Diagnostics& diagnostics) {
    switch (kind) {
    case FileKind::scenario:
        (void)scenarios::read_scenario(root, {}, diagnostics);
        break;
    case FileKind::design:
        (void)scenarios::read_design(
            root, [](const std::string&) { return std::nullopt; }, diagnostics);
        break;
    case FileKind::machine:
        (void)scenarios::read_machine(root, diagnostics);
        break;
    case FileKind::published:
        (void)read_published(root, diagnostics);
        break;
    case FileKind::sweep:
        (void)read_sweep(root, diagnostics);
        break;
    }
}

} // namespace

Skeleton::Skeleton(FileKind kind)
    : root(parsed(skeleton_of(kind))) {
    scenarios::Diagnostics diagnostics;
    diagnostics.observe(&shapes);
    read(kind, root, diagnostics);
}

} // namespace uringsim::analysis
