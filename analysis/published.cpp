#include "analysis/published.h"

#include "analysis/export/latency.h"
#include "analysis/library.h"
#include "analysis/run.h"
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

constexpr std::array<std::string_view, 5> metric_names{"ns_per_operation", "us", "percent",
                                                       "latency", "operations"};
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

PublishedFigure read_figure(const JsonNode& node, Diagnostics& diagnostics) {
    PublishedFigure figure;
    ObjectReader reader(node, diagnostics);
    figure.id = reader.name("id").value_or("");
    figure.scenario = reader.name("scenario").value_or("");
    read_parameters(reader, figure, diagnostics);
    figure.design = reader.name("design").value_or("");
    read_knobs(reader, figure, diagnostics);
    figure.machine = reader.name("machine").value_or("");
    figure.phase = reader.name("phase").value_or("");
    figure.metric = static_cast<Metric>(reader.choice("metric", metric_names).value_or(0));
    read_baseline(reader, figure, diagnostics);
    if (figure.metric == Metric::latency) {
        figure.subject = reader.name("name").value_or("");
    }
    scenarios::NumberRange cost; // a cost that others measured is above 0; a change is any number
    if (figure.metric != Metric::percent) {
        cost.min = 0;
        cost.min_excluded = true;
    }
    figure.value = reader.number("value", cost).value_or(1);
    figure.unit = reader.name("unit").value_or("");
    if (const JsonNode* noise = reader.optional("noise_pct")) {
        figure.noise_percent = scenarios::get_number(*noise, {0, 100, "percent"}, diagnostics);
    }
    if (const JsonNode* gate = reader.optional("gate")) {
        const auto index = scenarios::get_choice(*gate, gate_names, diagnostics);
        figure.gate_passed = index && *index == 0;
    }
    figure.fitted = reader.choice("use", use_names).value_or(1) == 0;
    reader.finish();
    return figure;
}

/// "sender.p99.9" of a run; nothing where it has no such histogram or percentile.
std::optional<double> latency_of(const scenarios::Result& result, const std::string& subject) {
    for (const scenarios::LatencyResult& latency : result.latencies) {
        for (const Percentile& percentile : percentiles) {
            if (subject == fmt::format("{}.{}", latency.name, percentile.key)) {
                return static_cast<double>(
                    latency.histogram.percentile(percentile.millipercent));
            }
        }
    }
    return std::nullopt;
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

std::optional<std::vector<PublishedFigure>> read_published(const JsonNode& root,
                                                           Diagnostics& diagnostics) {
    const std::size_t reported_before = diagnostics.size();
    ObjectReader reader(root, diagnostics);
    reader.ignore("$schema");
    const std::string source = reader.name("source").value_or("");
    const std::string citation = reader.name("citation").value_or("");
    std::vector<PublishedFigure> figures;
    std::set<std::string> ids;
    if (const JsonNode* array = reader.array("figures")) {
        for (const JsonNode& node : array->children()) {
            figures.push_back(read_figure(node, diagnostics));
            figures.back().source = source;
            figures.back().citation = citation;
            if (!figures.back().id.empty() && !ids.insert(figures.back().id).second) {
                node.report(fmt::format("the id \"{}\" is given twice", figures.back().id),
                            diagnostics);
            }
        }
    }
    reader.finish();
    if (diagnostics.size() > reported_before) {
        return std::nullopt;
    }
    return figures;
}

std::vector<PublishedFigure> load_published(const Library& library, Diagnostics& diagnostics) {
    std::vector<PublishedFigure> all;
    for (const std::string& name : library.names(FileKind::published)) {
        const auto node = library.load(FileKind::published, name, "published", diagnostics);
        const auto figures = node ? read_published(*node, diagnostics) : std::nullopt;
        if (figures) {
            all.insert(all.end(), figures->begin(), figures->end());
        }
    }
    return all;
}

bool describes(const PublishedFigure& figure, const scenarios::Result& result,
               const std::vector<scenarios::Setting>& changed_knobs) {
    return figure.scenario == result.scenario && figure.machine == result.machine &&
           figure.design == result.design && same_parameters(figure, result) &&
           same_knobs(figure, changed_knobs);
}

namespace {

std::optional<double> simulated_value(const PublishedFigure& figure,
                                      const scenarios::Result& result,
                                      const scenarios::PhaseResult& phase) {
    switch (figure.metric) {
    case Metric::ns_per_operation:
        return ns_per_operation(result, phase);
    case Metric::us:
        return result.ns(phase.mean_cycles()) / 1000.0;
    case Metric::latency:
        return latency_of(result, figure.subject);
    case Metric::operations:
        return static_cast<double>(phase.operations);
    case Metric::percent:
        break;
    }
    return std::nullopt;
}

} // namespace

std::vector<PublishedMatch> match_published(const std::vector<PublishedFigure>& figures,
                                            const scenarios::Result& result,
                                            const std::vector<scenarios::Setting>& changed_knobs) {
    std::vector<PublishedMatch> matches;
    for (const PublishedFigure& figure : figures) {
        const scenarios::PhaseResult* phase = result.find_phase(figure.phase);
        if (figure.metric == Metric::percent || phase == nullptr ||
            !describes(figure, result, changed_knobs)) {
            continue;
        }
        if (const auto simulated = simulated_value(figure, result, *phase)) {
            matches.push_back({figure, *simulated, (*simulated / figure.value - 1.0) * 100.0});
        }
    }
    return matches;
}

} // namespace uringsim::analysis
