#include "analysis/export/exporter.h"
#include "analysis/export/latency.h"
#include "analysis/export/numbers.h"
#include "analysis/version.h"
#include "models/design.h"
#include "models/primitives.h"
#include "scenarios/strict_json.h"

#include <nlohmann/json.hpp>

// The layout of these objects is a contract with other programs: keys are added, never changed.

namespace uringsim::analysis {

using Json = nlohmann::ordered_json;
using scenarios::CounterValues;
using scenarios::LedgerRow;
using scenarios::PhaseResult;
using scenarios::Result;
using scenarios::Setting;

namespace {

std::string dump(const Json& json) {
    constexpr int indent = 2;
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// Settings travel as text; a program wants 128 and true, not "128" and "true".
Json value_of(const Setting& setting) {
    std::string error;
    if (const auto number = scenarios::parse_integer(setting.value, {}, error)) {
        return *number;
    }
    if (const auto boolean = scenarios::parse_boolean(setting.value, error)) {
        return *boolean;
    }
    return setting.value;
}

Json settings_json(const std::vector<Setting>& settings) {
    Json object = Json::object();
    for (const Setting& setting : settings) {
        object[setting.name] = value_of(setting);
    }
    return object;
}

Json counters_json(const CounterValues& counters) {
    Json object = Json::object();
    for (const auto& [name, value] : counters) {
        object[name] = value;
    }
    return object;
}

Json costs_json(const models::Machine& machine) {
    Json object = Json::object();
    for (const models::PrimitiveInfo& row : models::primitive_table()) {
        const models::Cost& cost = machine.cost(row.id);
        object[std::string(row.name)] = {
            {"cycles", static_cast<double>(cost.millicycles) /
                           static_cast<double>(sim::millicycles_per_cycle)},
            {"provenance", models::name(cost.provenance)},
            {"source", cost.source}};
    }
    return object;
}

Json machine_json(const models::Machine& machine) {
    return {{"name", machine.name},
            {"frequency_mhz", machine.mhz},
            {"cpus", machine.cpus},
            {"memory",
             {{"l1_lines", machine.memory.l1_lines},
              {"l1_code_lines", machine.memory.l1_code_lines},
              {"far_lines", machine.memory.far_lines},
              {"l2_lines", machine.memory.l2_lines},
              {"llc_lines", machine.memory.llc_lines},
              {"l1_sets", machine.memory.l1_sets},
              {"reorder_entries", machine.reorder_entries},
              {"aging_idle_us", machine.aging_idle_us}}},
            {"costs", costs_json(machine)}};
}

Json config_json(const Run& run) {
    return {{"parameters", settings_json(run.result.parameters)},
            {"knobs", settings_json(run.result.knobs)},
            {"changed_knobs", settings_json(run.changed_knobs)},
            {"machine", machine_json(run.machine)}};
}

Json phase_json(const Result& result, const PhaseResult& phase) {
    const RoundStatistics scatter = statistics(phase);
    return {{"operations", phase.operations},
            {"rounds", phase.cycles_by_round.size()},
            {"cycles", phase.mean_cycles()},
            {"ns", result.ns(phase.mean_cycles())},
            {"ns_per_operation", ns_per_operation(result, phase)},
            {"ns_min", result.ns(scatter.min_cycles)},
            {"ns_median", result.ns(scatter.median_cycles)},
            {"ns_max", result.ns(scatter.max_cycles)},
            {"cv_percent", scatter.cv_percent},
            {"cycles_by_round", phase.cycles_by_round},
            {"total_cycles", phase.total_cycles()},
            {"counters", counters_json(phase.counters)}};
}

Json ledger_json(const std::vector<LedgerRow>& ledger) {
    Json rows = Json::array();
    for (const LedgerRow& row : ledger) {
        rows.push_back({{"phase", row.phase},
                        {"task", row.task},
                        {"mechanism", row.mechanism},
                        {"primitive", row.primitive},
                        {"count", row.count},
                        {"cycles", row.cycles}});
    }
    return rows;
}

Json snapshots_json(const Result& result) {
    Json rows = Json::array();
    for (const scenarios::SnapshotResult& row : result.snapshots) {
        rows.push_back({{"name", row.name},
                        {"ring", row.ring},
                        {"cached_nodes", row.cached},
                        {"capacity_nodes", row.capacity}});
    }
    return rows;
}

Json request_memory_json(const scenarios::RequestMemoryResult& memory) {
    Json held = Json::array();
    for (const scenarios::HeldResult& row : memory.held) {
        held.push_back({{"cache", row.cache},
                        {"where", row.where},
                        {"objects", row.objects},
                        {"bytes", row.bytes}});
    }
    return {{"in_flight_peak", memory.in_flight_peak},
            {"allocated_peak", memory.allocated_peak},
            {"per_cpu_cached_peak", memory.cached_peak},
            {"slot_bytes", memory.slot_bytes},
            {"slabs_at_end", memory.slabs_at_end},
            {"slabs_at_end_bytes", memory.slab_bytes_at_end},
            {"held_at_end", held}};
}

Json memory_json(const scenarios::MemoryResult& memory) {
    Json json = {{"nodes_live_peak", memory.nodes_live_peak},
                 {"nodes_cached_peak", memory.nodes_cached_peak},
                 {"node_slot_bytes", memory.node_slot_bytes},
                 {"node_array_peak_bytes", memory.node_array_bytes_peak},
                 {"retained_peak_bytes", memory.retained_bytes_peak},
                 {"node_slabs_at_end", memory.node_slabs_at_end},
                 {"node_slabs_at_end_bytes", memory.node_slab_bytes_at_end},
                 {"node_footprint_bytes", memory.node_footprint_bytes},
                 {"live_peak_bytes", memory.live_bytes_peak},
                 {"percpu_peak_bytes", memory.percpu_bytes_peak},
                 {"rcu_callbacks_peak", memory.rcu_callbacks_peak}};
    if (memory.requests.slot_bytes > 0) { // absent where a backend cannot know
        json["requests"] = request_memory_json(memory.requests);
    }
    return json;
}

/// Lengths in ns. Percentiles are the middles of buckets, error_percent off at most.
Json latency_json(const Result& result) {
    Json object = Json::object();
    for (const scenarios::LatencyResult& latency : result.latencies) {
        const sim::Histogram& histogram = latency.histogram;
        Json entry = {{"count", histogram.count()},
                      {"min", histogram.min()},
                      {"max", histogram.max()},
                      {"mean", histogram.mean()},
                      {"error_percent", sim::Histogram::error_percent}};
        for (const Percentile& percentile : percentiles) {
            entry[std::string(percentile.key)] = histogram.percentile(percentile.millipercent);
        }
        Json buckets = Json::array();
        for (const sim::Histogram::Bucket& bucket : histogram.buckets()) {
            buckets.push_back({bucket.low, bucket.high, bucket.count});
        }
        entry["buckets"] = std::move(buckets);
        object[latency.name] = std::move(entry);
    }
    return object;
}

Json published_json(const std::vector<PublishedMatch>& matches) {
    Json rows = Json::array();
    for (const PublishedMatch& match : matches) {
        const PublishedFigure& figure = match.figure;
        const bool points = figure.metric == Metric::percent;
        Json row = {{"id", figure.id},
                    {"design", figure.design},
                    {"phase", figure.phase},
                    {"metric", metric_name(figure.metric)},
                    {"unit", figure.unit},
                    {"published", figure.value},
                    {"simulated", match.simulated},
                    {points ? "error_points" : "error_percent", match.error}};
        row["noise_percent"] = figure.noise_percent ? Json(*figure.noise_percent) : Json();
        row["gate"] = figure.gate_passed ? Json(*figure.gate_passed ? "pass" : "fail") : Json();
        row["use"] = figure.fitted ? "fit" : "predict";
        row["source"] = figure.source;
        row["citation"] = figure.citation;
        rows.push_back(std::move(row));
    }
    return rows;
}

Json run_json(const Run& run) {
    const Result& result = run.result;
    Json phases = Json::object();
    for (const PhaseResult& phase : result.phases) {
        phases[phase.name] = phase_json(result, phase);
    }
    return {{"scenario", result.scenario},
            {"design", result.design},
            {"machine", result.machine},
            {"seed", result.seed},
            {"version", version()},
            {"fingerprint", fingerprint_text(result.fingerprint)},
            {"config", config_json(run)},
            {"phases", std::move(phases)},
            {"counters", counters_json(result.counters)},
            {"ledger", ledger_json(result.ledger)},
            {"ledger_outside", ledger_json(result.ledger_outside)},
            {"snapshots", snapshots_json(result)},
            {"memory", memory_json(result.memory)},
            {"published", published_json(run.published)},
            {"latency", latency_json(result)}};
}

Json change_json(const Change& change) {
    Json moved = Json::array();
    for (const MovedMechanism& entry : change.moved) {
        moved.push_back(
            {{"mechanism", entry.mechanism}, {"ns_per_operation", entry.ns_per_operation}});
    }
    return {{"phase", change.phase},
            {"design", change.design},
            {"baseline", change.baseline},
            {"change_percent", change.change_percent ? Json(*change.change_percent) : Json()},
            {"change_ns_per_operation", change.change_ns_per_operation},
            {"moved", std::move(moved)}};
}

Json comparison_json(const Comparison& comparison) {
    const Result& baseline = comparison.baseline_run().result;
    Json results = Json::array();
    for (const Run& run : comparison.runs) {
        results.push_back(run_json(run));
    }
    Json changes = Json::array();
    for (const Change& change : comparison.changes) {
        changes.push_back(change_json(change));
    }
    return {{"scenario", baseline.scenario}, {"machine", baseline.machine},
            {"seed", baseline.seed},         {"version", version()},
            {"baseline", baseline.design},   {"results", std::move(results)},
            {"changes", std::move(changes)}, {"published", published_json(comparison.published)}};
}

Json summary_json(const ErrorSummary& summary) {
    return {{"figures", summary.figures},
            {"mean_absolute_error", summary.mean},
            {"worst_absolute_error", summary.worst},
            {"worst", summary.worst_id}};
}

Json source_json(const SourceValidation& source) {
    return {{"source", source.source},
            {"limits",
             {{"cell_percent", source.limits.cell_percent},
              {"points", source.limits.points},
              {"mape_percent", source.limits.mape_percent}}},
            {"fit_percent", summary_json(source.fitted)},
            {"predict_percent", summary_json(source.predicted)},
            {"not_judged_percent", summary_json(source.not_judged)},
            {"changes_points", summary_json(source.changes)},
            {"signs_wrong", source.signs_wrong},
            {"counts", source.counts},
            {"counts_exact", source.counts_exact},
            {"broken", source.broken},
            {"outside", source.outside},
            {"mape_good", source.mean_is_good}};
}

Json validated_json(const ValidatedFigure& cell) {
    const PublishedFigure& figure = cell.figure;
    Json row = {{"id", figure.id},
                {"source", figure.source},
                {"scenario", figure.scenario},
                {"design", figure.design},
                {"machine", figure.machine},
                {"phase", figure.phase},
                {"metric", metric_name(figure.metric)},
                {"unit", figure.unit},
                {"published", figure.value},
                {"simulated", cell.simulated},
                {"error", cell.error},
                {"limit", figure.limit}};
    row["noise_percent"] = figure.noise_percent ? Json(*figure.noise_percent) : Json();
    row["gate"] = figure.gate_passed ? Json(*figure.gate_passed ? "pass" : "fail") : Json();
    row["use"] = figure.fitted ? "fit" : "predict";
    row["sign_right"] = cell.sign_right;
    row["verdict"] = verdict_name(cell.verdict);
    row["note"] = figure.note;
    return row;
}

Json change_json(const PublishedChange& change) {
    Json row = {{"source", change.source},
                {"id", change.id},
                {"against", change.against},
                {"published_percent", change.published_percent},
                {"simulated_percent", change.simulated_percent},
                {"error_points", change.simulated_percent - change.published_percent}};
    row["noise_percent"] = change.noise_percent ? Json(*change.noise_percent) : Json();
    row["sign"] = sign_name(change.sign);
    row["judged"] = change.judged;
    return row;
}

Json validation_json(const Validation& validation) {
    Json figures = Json::array();
    for (const ValidatedFigure& cell : validation.figures) {
        figures.push_back(validated_json(cell));
    }
    Json sources = Json::array();
    for (const SourceValidation& source : validation.sources) {
        sources.push_back(source_json(source));
    }
    Json between = Json::array();
    for (const PublishedChange& change : validation.between) {
        between.push_back(change_json(change));
    }
    Json missing = Json::array();
    for (const PublishedFile& file : validation.files) {
        for (const NotExpressed& row : file.not_expressed) {
            missing.push_back({{"source", file.source}, {"id", row.id}, {"reason", row.reason}});
        }
    }
    return {{"version", version()},
            {"good", validation.is_good()},
            {"figures", std::move(figures)},
            {"sources", std::move(sources)},
            {"total", source_json(validation.total)},
            {"changes_between", std::move(between)},
            {"not_expressed", std::move(missing)}};
}

Json conclusion_json(const Conclusion& conclusion) {
    Json crossings = Json::array();
    for (const Crossing& crossing : conclusion.crossings) {
        const models::PrimitiveInfo& row = models::info(crossing.primitive);
        crossings.push_back({{"flips", crossing.flip == Flip::sign ? "sign" : "size"},
                             {"primitive", row.name},
                             {"now_cycles", crossing.now_cycles},
                             {"at_cycles", crossing.at_cycles},
                             {"min_cycles", row.min_cycles},
                             {"max_cycles", row.max_cycles}});
    }
    return {{"id", conclusion.id},
            {"source", conclusion.source},
            {"scenario", conclusion.scenario},
            {"phase", conclusion.phase},
            {"design", conclusion.design},
            {"baseline", conclusion.baseline},
            {"published_percent", conclusion.published},
            {"simulated_percent", conclusion.simulated},
            {"noise_points", conclusion.noise},
            {"limit_points", conclusion.points},
            {"has_sign", conclusion.has_sign},
            {"size_holds", conclusion.size_holds},
            {"crossings", std::move(crossings)}};
}

class JsonExporter final : public Exporter {
  public:
    std::string to_string(const Run& run) const override { return dump(run_json(run)); }
    std::string to_string(const Comparison& comparison) const override {
        return dump(comparison_json(comparison));
    }
    std::string to_string(const Validation& validation) const override {
        return dump(validation_json(validation));
    }
    std::string to_string(const Sensitivity& sensitivity) const override {
        Json rows = Json::array();
        for (const Conclusion& conclusion : sensitivity.conclusions) {
            rows.push_back(conclusion_json(conclusion));
        }
        return dump({{"version", version()},
                     {"conclusions", std::move(rows)},
                     {"no_sums", sensitivity.no_sums}});
    }
};

} // namespace

std::unique_ptr<Exporter> make_json_exporter() {
    return std::make_unique<JsonExporter>();
}

} // namespace uringsim::analysis
