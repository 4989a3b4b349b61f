#include "analysis/published.h"

#include "analysis/export/latency.h"
#include "analysis/library.h"
#include "analysis/run.h"
#include "models/counters.h"
#include "models/design.h"
#include "scenarios/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

namespace uringsim::analysis {

using scenarios::Diagnostics;
using scenarios::JsonNode;
using scenarios::ObjectReader;

namespace {

constexpr std::array<std::string_view, 10> metric_names{
    "ns_per_operation", "us",      "percent",           "per_second", "latency",
    "operations",       "counter", "counter_per_round", "snapshot",   "memory"};
constexpr std::array<std::string_view, 2> gate_names{"pass", "fail"};
constexpr std::array<std::string_view, 2> use_names{"fit", "predict"};

/// A JSON value as a user would write it on the command line.
std::string value_text(const JsonNode& node) {
    if (node.is_boolean()) {
        return node.boolean() ? "true" : "false";
    }
    return node.is_number() || node.is_string() ? node.text() : node.describe();
}

void read_parameters(ObjectReader& reader, PublishedFigure& figure, Diagnostics& diagnostics) {
    const JsonNode* object = reader.optional_object("parameters");
    if (object == nullptr) {
        return;
    }
    constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
    for (const JsonNode& node : object->children()) {
        if (const auto value = scenarios::get_integer(node, {0, max}, diagnostics)) {
            figure.parameters.emplace_back(node.key(), *value);
        }
    }
}

/// Reports a knob that a design would not take.
void check_knob(const JsonNode& node, Diagnostics& diagnostics) {
    models::Design design;
    Diagnostics found;
    scenarios::apply_knobs(design, {{node.key(), value_text(node)}}, found);
    for (const scenarios::Diagnostic& diagnostic : found.all()) {
        if (diagnostic.pointer.starts_with("--set ")) { // else a conflict, of no meaning here
            node.report(diagnostic.message, diagnostics);
        }
    }
}

void read_knobs(ObjectReader& reader, PublishedFigure& figure, Diagnostics& diagnostics) {
    const JsonNode* object = reader.optional_object("knobs");
    if (object == nullptr) {
        return;
    }
    for (const JsonNode& node : object->children()) {
        check_knob(node, diagnostics);
        figure.knobs.emplace_back(node.key(), value_text(node));
    }
}

void read_baseline(ObjectReader& reader, PublishedFigure& figure, Diagnostics& diagnostics) {
    if (figure.metric == Metric::percent) {
        figure.baseline = reader.name("baseline").value_or("");
    } else if (const JsonNode* node = reader.optional("baseline")) {
        node->report_key("only a figure whose metric is percent has a baseline", diagnostics);
    }
}

/// The memory figures that a published one may name.
struct MemoryRow {
    std::string_view name;
    std::uint64_t scenarios::MemoryResult::*value;
};

using scenarios::MemoryResult;
constexpr std::array memory_rows{
    MemoryRow{"nodes_live_peak", &MemoryResult::nodes_live_peak},
    MemoryRow{"nodes_cached_peak", &MemoryResult::nodes_cached_peak},
    MemoryRow{"node_slot_bytes", &MemoryResult::node_slot_bytes},
    MemoryRow{"node_array_bytes_peak", &MemoryResult::node_array_bytes_peak},
    MemoryRow{"retained_bytes_peak", &MemoryResult::retained_bytes_peak},
    MemoryRow{"node_slabs_at_end", &MemoryResult::node_slabs_at_end},
    MemoryRow{"node_slab_bytes_at_end", &MemoryResult::node_slab_bytes_at_end},
};

bool takes_phase(Metric metric) {
    return metric != Metric::snapshot && metric != Metric::memory;
}

void read_phase(ObjectReader& reader, PublishedFigure& figure, Diagnostics& diagnostics) {
    if (takes_phase(figure.metric) && figure.metric != Metric::counter) {
        figure.phase = reader.name("phase").value_or("");
    } else if (const JsonNode* node = reader.optional("phase")) {
        if (takes_phase(figure.metric)) {
            figure.phase = scenarios::get_name(*node, diagnostics).value_or("");
        } else {
            node->report_key("a snapshot or memory figure has no phase", diagnostics);
        }
    }
}

bool is_subject(Metric metric, const std::string& name) {
    switch (metric) {
    case Metric::counter:
    case Metric::counter_per_round:
        return models::find_counter(name).has_value();
    case Metric::memory:
        return std::ranges::find(memory_rows, name, &MemoryRow::name) != memory_rows.end();
    default:
        return true;
    }
}

void read_subject(ObjectReader& reader, PublishedFigure& figure, Diagnostics& diagnostics) {
    if (!is_exact(figure.metric) && figure.metric != Metric::latency) {
        if (const JsonNode* node = reader.optional("name")) {
            node->report_key("only a figure that is counted has a name", diagnostics);
        }
        return;
    }
    const JsonNode* node = reader.required("name");
    figure.subject = node != nullptr ? scenarios::get_name(*node, diagnostics).value_or("") : "";
    if (!figure.subject.empty() && !is_subject(figure.metric, figure.subject)) {
        node->report(fmt::format("there is no {} \"{}\"",
                                 figure.metric == Metric::memory ? "memory figure" : "counter",
                                 figure.subject),
                     diagnostics);
    }
}

/// What may be off, and whether that is held against the model.
void read_judgement(ObjectReader& reader, PublishedFigure& figure, const PublishedLimits& limits,
                    Diagnostics& diagnostics) {
    constexpr double max_limit = 1000;
    figure.limit = figure.metric == Metric::percent ? limits.points : limits.cell_percent;
    if (is_exact(figure.metric)) {
        figure.limit = 0;
    }
    figure.limit = reader.number_or("limit_pct", {0, max_limit, "percent"}, figure.limit);
    figure.note = reader.string_or("note", "");
    if (const JsonNode* node = reader.optional("apart")) {
        if (figure.metric == Metric::counter) {
            figure.apart = scenarios::get_unsigned(*node, {}, diagnostics).value_or(0);
        } else {
            node->report_key("only a counter has events apart", diagnostics);
        }
    }
    if (const JsonNode* node = reader.optional("judged")) {
        figure.judged = scenarios::get_boolean(*node, diagnostics).value_or(true);
        if (!figure.judged && figure.note.empty()) {
            node->report_key("a figure that is not judged has a \"note\" that says why",
                             diagnostics);
        }
    }
}

PublishedLimits read_limits(ObjectReader& file, Diagnostics& diagnostics) {
    constexpr double max_limit = 1000;
    PublishedLimits limits;
    if (const JsonNode* node = file.optional_object("limits")) {
        ObjectReader reader(*node, diagnostics);
        const scenarios::NumberRange percent{0, max_limit, "percent"};
        limits.cell_percent = reader.number_or("cell_pct", percent, limits.cell_percent);
        limits.points =
            reader.number_or("points", {0, max_limit, "percentage points"}, limits.points);
        limits.mape_percent = reader.number_or("mape_pct", percent, limits.mape_percent);
        limits.outliers = reader.unsigned_integer_or("outliers", {0, 1000, "figures"}, 0);
        reader.finish();
    }
    return limits;
}

std::vector<NotExpressed> read_not_expressed(ObjectReader& file, Diagnostics& diagnostics) {
    std::vector<NotExpressed> rows;
    if (const JsonNode* array = file.optional_array("not_expressed")) {
        for (const JsonNode& node : array->children()) {
            ObjectReader reader(node, diagnostics);
            const std::string id = reader.name("id").value_or("");
            rows.push_back({id, reader.name("reason").value_or("")});
            reader.finish();
        }
    }
    return rows;
}

PublishedFigure read_figure(const JsonNode& node, const PublishedLimits& limits,
                            Diagnostics& diagnostics) {
    PublishedFigure figure;
    ObjectReader reader(node, diagnostics);
    figure.id = reader.name("id").value_or("");
    figure.scenario = reader.name("scenario").value_or("");
    read_parameters(reader, figure, diagnostics);
    figure.design = reader.name("design").value_or("");
    read_knobs(reader, figure, diagnostics);
    figure.machine = reader.name("machine").value_or("");
    figure.metric = static_cast<Metric>(reader.choice("metric", metric_names).value_or(0));
    read_phase(reader, figure, diagnostics);
    read_subject(reader, figure, diagnostics);
    read_baseline(reader, figure, diagnostics);
    scenarios::NumberRange range; // a change is any number
    if (figure.metric != Metric::percent) {
        range.min = 0;
        range.min_excluded = is_cost(figure.metric);
    }
    figure.value = reader.number("value", range).value_or(1);
    figure.unit = reader.name("unit").value_or("");
    if (const JsonNode* noise = reader.optional("noise_pct")) {
        figure.noise_percent = scenarios::get_number(*noise, {0, 100, "percent"}, diagnostics);
    }
    if (const JsonNode* gate = reader.optional("gate")) {
        const auto index = scenarios::get_choice(*gate, gate_names, diagnostics);
        figure.gate_passed = index && *index == 0;
    }
    figure.against = reader.string_or("against", "");
    figure.fitted = reader.choice("use", use_names).value_or(1) == 0;
    read_judgement(reader, figure, limits, diagnostics);
    reader.finish();
    return figure;
}

bool same_parameters(const PublishedFigure& figure, const scenarios::Result& result) {
    return std::ranges::all_of(figure.parameters, [&](const auto& wanted) {
        const auto found =
            std::ranges::find(result.parameters, wanted.first, &scenarios::Setting::name);
        return found != result.parameters.end() && found->value == std::to_string(wanted.second);
    });
}

bool same_knobs(const PublishedFigure& figure, const std::vector<scenarios::Setting>& changed) {
    return figure.knobs.size() == changed.size() &&
           std::ranges::all_of(figure.knobs, [&](const auto& wanted) {
               const auto found =
                   std::ranges::find(changed, wanted.first, &scenarios::Setting::name);
               return found != changed.end() && found->value == wanted.second;
           });
}

} // namespace

std::string_view metric_name(Metric metric) {
    return metric_names.at(static_cast<std::size_t>(metric));
}

bool is_exact(Metric metric) {
    return metric >= Metric::counter;
}

bool is_cost(Metric metric) {
    return metric == Metric::ns_per_operation || metric == Metric::us ||
           metric == Metric::per_second;
}

namespace {

/// "against" names a figure of the file that this one can be compared with.
void check_against(const PublishedFile& file, const PublishedFigure& figure, const JsonNode& node,
                   Diagnostics& diagnostics) {
    if (figure.against.empty()) {
        return;
    }
    const auto other = std::ranges::find(file.figures, figure.against, &PublishedFigure::id);
    if (other == file.figures.end()) {
        node.report(fmt::format("there is no figure \"{}\" in this file", figure.against),
                    diagnostics);
    } else if (other->metric != figure.metric || !is_cost(figure.metric)) {
        node.report(fmt::format("a change is between two costs of one metric; \"{}\" is {}",
                                figure.against, metric_name(other->metric)),
                    diagnostics);
    }
}

} // namespace

std::optional<PublishedFile> read_published(const JsonNode& root, Diagnostics& diagnostics) {
    const std::size_t reported_before = diagnostics.size();
    ObjectReader reader(root, diagnostics);
    reader.ignore("$schema");
    PublishedFile file;
    file.source = reader.name("source").value_or("");
    file.citation = reader.name("citation").value_or("");
    file.limits = read_limits(reader, diagnostics);
    file.not_expressed = read_not_expressed(reader, diagnostics);
    std::set<std::string> ids;
    if (const JsonNode* array = reader.array("figures")) {
        for (const JsonNode& node : array->children()) {
            PublishedFigure figure = read_figure(node, file.limits, diagnostics);
            figure.source = file.source;
            figure.citation = file.citation;
            if (!figure.id.empty() && !ids.insert(figure.id).second) {
                node.report(fmt::format("the id \"{}\" is given twice", figure.id), diagnostics);
            }
            file.figures.push_back(std::move(figure));
        }
        for (std::size_t i = 0; i < file.figures.size(); ++i) {
            check_against(file, file.figures[i], array->children()[i], diagnostics);
        }
    }
    reader.finish();
    if (diagnostics.size() > reported_before) {
        return std::nullopt;
    }
    return file;
}

std::vector<PublishedFile> load_published_files(const Library& library, Diagnostics& diagnostics) {
    std::vector<PublishedFile> files;
    for (const std::string& name : library.names(FileKind::published)) {
        const auto node = library.load(FileKind::published, name, "published", diagnostics);
        auto file = node ? read_published(*node, diagnostics) : std::nullopt;
        if (file) {
            files.push_back(*std::move(file));
        }
    }
    return files;
}

std::vector<PublishedFigure> load_published(const Library& library, Diagnostics& diagnostics) {
    std::vector<PublishedFigure> all;
    for (const PublishedFile& file : load_published_files(library, diagnostics)) {
        all.insert(all.end(), file.figures.begin(), file.figures.end());
    }
    return all;
}

namespace {

std::optional<double> counted_value(const PublishedFigure& figure, const scenarios::Result& result,
                                    const scenarios::PhaseResult* phase) {
    const auto& counters = phase != nullptr ? phase->counters : result.counters;
    const auto found = std::ranges::find_if(
        counters, [&](const auto& counter) { return counter.first == figure.subject; });
    if (found == counters.end()) {
        return std::nullopt;
    }
    const double sum = static_cast<double>(found->second) - static_cast<double>(figure.apart);
    if (figure.metric == Metric::counter_per_round) {
        return sum / static_cast<double>(phase->cycles_by_round.size());
    }
    return sum;
}

std::optional<double> snapshot_value(const PublishedFigure& figure,
                                     const scenarios::Result& result) {
    std::optional<double> value;
    for (const scenarios::SnapshotResult& snapshot : result.snapshots) {
        if (snapshot.name == figure.subject) {
            value = static_cast<double>(snapshot.cached);
        }
    }
    return value;
}

/// "sender.p99.9" of a run; nothing where it has no such histogram or percentile.
std::optional<double> latency_of(const scenarios::Result& result, const std::string& subject) {
    for (const scenarios::LatencyResult& latency : result.latencies) {
        for (const Percentile& percentile : percentiles) {
            if (subject == fmt::format("{}.{}", latency.name, percentile.key)) {
                return static_cast<double>(latency.histogram.percentile(percentile.millipercent));
            }
        }
    }
    return std::nullopt;
}

double memory_value(const PublishedFigure& figure, const scenarios::Result& result) {
    const auto* const row = std::ranges::find(memory_rows, figure.subject, &MemoryRow::name);
    return static_cast<double>(result.memory.*row->value);
}

} // namespace

std::optional<double> simulated_value(const PublishedFigure& figure,
                                      const scenarios::Result& result) {
    constexpr double ns_per_us = 1e3;
    constexpr double ns_per_second = 1e9;
    const scenarios::PhaseResult* phase =
        figure.phase.empty() ? nullptr : result.find_phase(figure.phase);
    if (!figure.phase.empty() && phase == nullptr) {
        return std::nullopt;
    }
    switch (figure.metric) {
    case Metric::ns_per_operation:
        return ns_per_operation(result, *phase);
    case Metric::us:
        return result.ns(phase->mean_cycles()) / ns_per_us;
    case Metric::per_second:
        return ns_per_second / ns_per_operation(result, *phase);
    case Metric::latency:
        return latency_of(result, figure.subject);
    case Metric::operations:
        return static_cast<double>(phase->operations);
    case Metric::counter:
    case Metric::counter_per_round:
        return counted_value(figure, result, phase);
    case Metric::snapshot:
        return snapshot_value(figure, result);
    case Metric::memory:
        return memory_value(figure, result);
    case Metric::percent:
        break;
    }
    return std::nullopt;
}

bool describes(const PublishedFigure& figure, const scenarios::Result& result,
               const std::vector<scenarios::Setting>& changed_knobs) {
    return figure.scenario == result.scenario && figure.machine == result.machine &&
           figure.design == result.design && same_parameters(figure, result) &&
           same_knobs(figure, changed_knobs);
}

namespace {

/// Whether a run shows the figure beside its own: not what is counted, which validate is for.
bool is_shown(Metric metric) {
    return is_cost(metric) || metric == Metric::latency || metric == Metric::operations;
}

} // namespace

std::vector<PublishedMatch> match_published(const std::vector<PublishedFigure>& figures,
                                            const scenarios::Result& result,
                                            const std::vector<scenarios::Setting>& changed_knobs) {
    std::vector<PublishedMatch> matches;
    for (const PublishedFigure& figure : figures) {
        if (!is_shown(figure.metric) || !describes(figure, result, changed_knobs)) {
            continue;
        }
        if (const auto simulated = simulated_value(figure, result)) {
            matches.push_back({figure, *simulated, (*simulated / figure.value - 1.0) * 100.0});
        }
    }
    return matches;
}

} // namespace uringsim::analysis
