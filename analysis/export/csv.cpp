#include "analysis/export/exporter.h"
#include "analysis/export/latency.h"
#include "analysis/export/numbers.h"
#include "models/counters.h"
#include "models/primitives.h"

#include <fmt/format.h>

namespace uringsim::analysis {

using scenarios::PhaseResult;
using scenarios::Result;

namespace {

/// A field as RFC 4180 has it: in quotes where it holds a comma, a quote or a line break.
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c;
        if (c == '"') {
            quoted += '"';
        }
    }
    return quoted + '"';
}

/// Writes rows; the columns before the metric are those of one run.
class Rows {
  public:
    static constexpr const char* header =
        "scenario,design,machine,seed,settings,phase,metric,unit,value\n";

    explicit Rows(const Run& run)
        : start_(fmt::format("{},{},{},{},{}", field(run.result.scenario), field(run.result.design),
                             field(run.result.machine), run.result.seed, field(settings(run)))) {}

    void add(const std::string& phase, const std::string& metric, std::string_view unit,
             const std::string& value) {
        text_ += fmt::format("{},{},{},{},{}\n", start_, field(phase), field(metric),
                             field(std::string(unit)), value);
    }

    const std::string& text() const { return text_; }

  private:
    static std::string settings(const Run& run) {
        std::string all;
        for (const auto* list : {&run.result.parameters, &run.changed_knobs}) {
            for (const scenarios::Setting& setting : *list) {
                all += fmt::format("{}{}={}", all.empty() ? "" : ";", setting.name, setting.value);
            }
        }
        return all;
    }

    std::string start_;
    std::string text_;
};

void add_costs(Rows& rows, const Result& result, const PhaseResult& phase) {
    const RoundStatistics scatter = statistics(phase);
    rows.add(phase.name, "operations", "operations", fmt::format("{}", phase.operations));
    rows.add(phase.name, "rounds", "rounds", fmt::format("{}", phase.cycles_by_round.size()));
    rows.add(phase.name, "cycles", "cycles", exact_number(phase.mean_cycles()));
    rows.add(phase.name, "ns", "ns", exact_number(result.ns(phase.mean_cycles())));
    rows.add(phase.name, "ns_per_operation", "ns", exact_number(ns_per_operation(result, phase)));
    rows.add(phase.name, "ns_min", "ns", exact_number(result.ns(scatter.min_cycles)));
    rows.add(phase.name, "ns_median", "ns", exact_number(result.ns(scatter.median_cycles)));
    rows.add(phase.name, "ns_max", "ns", exact_number(result.ns(scatter.max_cycles)));
    rows.add(phase.name, "cv_percent", "percent", exact_number(scatter.cv_percent));
    for (const MovedMechanism& cost : cost_by_mechanism(result, phase)) {
        rows.add(phase.name, "ns_per_operation:" + cost.mechanism, "ns",
                 exact_number(cost.ns_per_operation));
    }
}

void add_counters(Rows& rows, const std::string& phase, const scenarios::CounterValues& counters) {
    for (const auto& [name, value] : counters) {
        const auto counter = models::find_counter(name);
        rows.add(phase, name, counter ? models::info(*counter).unit : "", fmt::format("{}", value));
    }
}

void add_latencies(Rows& rows, const scenarios::Result& result) {
    for (const scenarios::LatencyResult& latency : result.latencies) {
        const std::string name = "latency." + latency.name + ".";
        const sim::Histogram& histogram = latency.histogram;
        rows.add("", name + "count", "messages", fmt::format("{}", histogram.count()));
        rows.add("", name + "min", "ns", fmt::format("{}", histogram.min()));
        for (const Percentile& percentile : percentiles) {
            rows.add("", name + std::string(percentile.key), "ns",
                     fmt::format("{}", histogram.percentile(percentile.millipercent)));
        }
        rows.add("", name + "max", "ns", fmt::format("{}", histogram.max()));
    }
}

void add_memory(Rows& rows, const scenarios::MemoryResult& memory) {
    rows.add("", "nodes_live_peak", "nodes", fmt::format("{}", memory.nodes_live_peak));
    rows.add("", "nodes_cached_peak", "nodes", fmt::format("{}", memory.nodes_cached_peak));
    rows.add("", "node_slot_bytes", "bytes", fmt::format("{}", memory.node_slot_bytes));
    rows.add("", "node_array_peak_bytes", "bytes", fmt::format("{}", memory.node_array_bytes_peak));
    rows.add("", "retained_peak_bytes", "bytes", fmt::format("{}", memory.retained_bytes_peak));
    rows.add("", "node_slabs_at_end", "slabs", fmt::format("{}", memory.node_slabs_at_end));
    rows.add("", "node_slabs_at_end_bytes", "bytes",
             fmt::format("{}", memory.node_slab_bytes_at_end));
    rows.add("", "node_footprint_bytes", "bytes", fmt::format("{}", memory.node_footprint_bytes));
    rows.add("", "live_peak_bytes", "bytes", fmt::format("{}", memory.live_bytes_peak));
    rows.add("", "percpu_peak_bytes", "bytes", fmt::format("{}", memory.percpu_bytes_peak));
    rows.add("", "rcu_callbacks_peak", "callbacks", fmt::format("{}", memory.rcu_callbacks_peak));
}

void add_published(Rows& rows, const std::vector<PublishedMatch>& matches) {
    for (const PublishedMatch& match : matches) {
        const PublishedFigure& figure = match.figure;
        rows.add(figure.phase, "published:" + figure.id, figure.unit, exact_number(figure.value));
        rows.add(figure.phase, "error:" + figure.id,
                 figure.metric == Metric::percent ? "points" : "percent",
                 exact_number(match.error));
    }
}

void add_run(Rows& rows, const Run& run) {
    for (const PhaseResult& phase : run.result.phases) {
        add_costs(rows, run.result, phase);
        add_counters(rows, phase.name, phase.counters);
    }
    add_counters(rows, "", run.result.counters); // no phase: the whole run
    add_memory(rows, run.result.memory);
    add_latencies(rows, run.result);
    add_published(rows, run.published);
}

void add_changes(Rows& rows, const Comparison& comparison, const std::string& design) {
    for (const Change& change : comparison.changes) {
        if (change.design != design) {
            continue;
        }
        if (change.change_percent) {
            rows.add(change.phase, "change_percent against " + change.baseline, "percent",
                     exact_number(*change.change_percent));
        }
        rows.add(change.phase, "change_ns_per_operation against " + change.baseline, "ns",
                 exact_number(change.change_ns_per_operation));
    }
    for (const PublishedMatch& match : comparison.published) {
        if (match.figure.design == design) {
            add_published(rows, {match});
        }
    }
}

class CsvExporter final : public Exporter {
  public:
    std::string to_string(const Run& run) const override {
        Rows rows(run);
        add_run(rows, run);
        return Rows::header + rows.text();
    }

    std::string to_string(const Comparison& comparison) const override {
        std::string text = Rows::header;
        for (const Run& run : comparison.runs) {
            Rows rows(run);
            add_run(rows, run);
            add_changes(rows, comparison, run.result.design);
            text += rows.text();
        }
        return text;
    }

    std::string to_string(const Validation& validation) const override {
        std::string text =
            "id,source,scenario,design,machine,phase,metric,unit,published,simulated,"
            "error,noise_percent,gate,use,limit,verdict\n";
        for (const ValidatedFigure& cell : validation.figures) {
            const PublishedFigure& figure = cell.figure;
            text +=
                fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", field(figure.id),
                            field(figure.source), field(figure.scenario), field(figure.design),
                            field(figure.machine), field(figure.phase), metric_name(figure.metric),
                            field(figure.unit), exact_number(figure.value),
                            exact_number(cell.simulated), exact_number(cell.error),
                            figure.noise_percent ? exact_number(*figure.noise_percent) : "",
                            figure.gate_passed ? (*figure.gate_passed ? "pass" : "fail") : "",
                            figure.fitted ? "fit" : "predict", exact_number(figure.limit),
                            verdict_name(cell.verdict));
        }
        return text;
    }

    std::string to_string(const Sensitivity& sensitivity) const override {
        std::string text = "conclusion,source,design,baseline,phase,published_percent,"
                           "simulated_percent,flips,primitive,now_cycles,at_cycles\n";
        for (const Conclusion& conclusion : sensitivity.conclusions) {
            const std::string start = fmt::format(
                "{},{},{},{},{},{},{}", field(conclusion.id), field(conclusion.source),
                field(conclusion.design), field(conclusion.baseline), field(conclusion.phase),
                exact_number(conclusion.published), exact_number(conclusion.simulated));
            if (conclusion.crossings.empty()) {
                text += start + ",,,,\n";
            }
            for (const Crossing& crossing : conclusion.crossings) {
                text += fmt::format(
                    "{},{},{},{},{}\n", start, crossing.flip == Flip::sign ? "sign" : "size",
                    models::info(crossing.primitive).name, exact_number(crossing.now_cycles),
                    exact_number(crossing.at_cycles));
            }
        }
        return text;
    }
};

} // namespace

std::unique_ptr<Exporter> make_csv_exporter() {
    return std::make_unique<CsvExporter>();
}

} // namespace uringsim::analysis
