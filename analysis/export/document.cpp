#include "analysis/export/document.h"

#include "analysis/export/latency.h"
#include "analysis/export/numbers.h"
#include "analysis/version.h"
#include "models/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace uringsim::analysis {

using scenarios::PhaseResult;
using scenarios::Result;

namespace {

constexpr std::size_t max_name_width = 22;
/// Of what is compared: a design, and the value of a knob that tells it from its neighbours.
constexpr std::size_t max_design_width = 40;

/// The published figure that stands beside a phase; the others follow in a table of their own.
const PublishedMatch* match_for(const Run& run, const std::string& phase) {
    const auto found = std::ranges::find_if(
        run.published, [&](const PublishedMatch& match) { return match.figure.phase == phase; });
    return found == run.published.end() ? nullptr : &*found;
}

std::string setting_facts(const Run& run) {
    std::string text = settings_text(run.result.parameters);
    if (!text.empty()) {
        text += ", ";
    }
    text += fmt::format("seed {}", run.result.seed);
    if (!run.changed_knobs.empty()) {
        text += "; set: " + settings_text(run.changed_knobs);
    }
    return text;
}

std::string machine_text(const Result& result) {
    return fmt::format("{} ({} MHz)", result.machine, result.machine_mhz);
}

Section published_section(const std::vector<PublishedMatch>& matches) {
    Table table({{"figure", Align::left},
                 {"published"},
                 {"simulated"},
                 {"error"},
                 {"noise"},
                 {"gate", Align::left},
                 {"use", Align::left}});
    for (const PublishedMatch& match : matches) {
        const PublishedFigure& figure = match.figure;
        std::string gate;
        if (figure.gate_passed) {
            gate = *figure.gate_passed ? "pass" : "fail";
        }
        table.add_row(
            {shortened(figure.id, max_name_width), metric_text(figure.metric, figure.value),
             metric_text(figure.metric, match.simulated), error_text(figure.metric, match.error),
             figure.noise_percent ? fmt::format("{:.2f} %", *figure.noise_percent) : "", gate,
             figure.fitted ? "fit" : "predict"});
    }
    table.drop_empty_columns();
    return {"published figures", std::move(table), {}};
}

// --- one run ---

Section phase_section(const Run& run) {
    Table table({{"phase", Align::left},
                 {"ops"},
                 {"rounds"},
                 {"us/round"},
                 {"ns/op"},
                 {"cv"},
                 {"published"},
                 {"error"}});
    for (const PhaseResult& phase : run.result.phases) {
        const PublishedMatch* match = match_for(run, phase.name);
        table.add_row(
            {shortened(phase.name, max_name_width), fmt::format("{}", phase.operations),
             fmt::format("{}", phase.cycles_by_round.size()),
             short_number(run.result.ns(phase.mean_cycles()) / 1000.0),
             short_number(ns_per_operation(run.result, phase)),
             fmt::format("{:.1f} %", statistics(phase).cv_percent),
             match != nullptr ? metric_text(match->figure.metric, match->figure.value) : "",
             match != nullptr ? error_text(match->figure.metric, match->error) : ""});
    }
    table.drop_empty_columns();
    return {"phases", std::move(table), {}};
}

std::vector<Column> phase_columns(std::string first, const Result& result) {
    std::vector<Column> columns{{std::move(first), Align::left}};
    for (const PhaseResult& phase : result.phases) {
        columns.push_back({shortened(phase.name, max_name_width)});
    }
    return columns;
}

/// All mechanisms that any phase paid for, in the order of the ledger.
std::vector<std::string> mechanisms(const std::vector<std::vector<MovedMechanism>>& by_phase) {
    std::vector<std::string> names;
    for (const auto& costs : by_phase) {
        for (const MovedMechanism& cost : costs) {
            if (std::ranges::find(names, cost.mechanism) == names.end()) {
                names.push_back(cost.mechanism);
            }
        }
    }
    return names;
}

Section mechanism_section(const Result& result) {
    std::vector<std::vector<MovedMechanism>> by_phase;
    for (const PhaseResult& phase : result.phases) {
        by_phase.push_back(cost_by_mechanism(result, phase));
    }
    Table table(phase_columns("mechanism", result));
    for (const std::string& name : mechanisms(by_phase)) {
        std::vector<std::string> row{name};
        for (const auto& costs : by_phase) {
            const auto found = std::ranges::find(costs, name, &MovedMechanism::mechanism);
            row.push_back(found != costs.end() ? short_number(found->ns_per_operation) : "-");
        }
        table.add_row(std::move(row));
    }
    std::vector<std::string> total{"total"};
    for (const PhaseResult& phase : result.phases) {
        total.push_back(short_number(ns_per_operation(result, phase)));
    }
    table.add_row(std::move(total));
    return {"what it cost, ns an operation", std::move(table), {}};
}

Section counter_section(const Result& result) {
    std::vector<Column> columns = phase_columns("counter", result);
    columns.push_back({"whole run"});
    columns.push_back({"unit", Align::left});
    Table table(std::move(columns));
    for (const auto& [name, value] : result.counters) {
        if (value == 0) {
            continue;
        }
        std::vector<std::string> row{name};
        for (const PhaseResult& phase : result.phases) {
            row.push_back(fmt::format("{}", scenarios::counter_value(phase.counters, name)));
        }
        const auto counter = models::find_counter(name);
        row.push_back(fmt::format("{}", value));
        row.emplace_back(counter ? models::info(*counter).unit : std::string_view());
        table.add_row(std::move(row));
    }
    return {"counters, over all measured rounds of a phase", std::move(table), {}};
}

Section memory_section(const Result& result) {
    const scenarios::MemoryResult& memory = result.memory;
    Table table({{"memory of rsrc nodes", Align::left}, {"nodes or slabs"}, {"bytes"}});
    table.add_row({"live at most", fmt::format("{}", memory.nodes_live_peak),
                   fmt::format("{}", memory.live_bytes_peak)});
    table.add_row({"cached at most", fmt::format("{}", memory.nodes_cached_peak),
                   fmt::format("{}", memory.nodes_cached_peak * memory.node_slot_bytes)});
    table.add_row({"pointer arrays at most", "", fmt::format("{}", memory.node_array_bytes_peak)});
    table.add_row({"retained at most", "", fmt::format("{}", memory.retained_bytes_peak)});
    table.add_row({"slabs at the end", fmt::format("{}", memory.node_slabs_at_end),
                   fmt::format("{}", memory.node_slab_bytes_at_end)});
    if (memory.percpu_bytes_peak > 0) {
        table.add_row({"a node with all its parts", "1",
                       fmt::format("{}", memory.node_footprint_bytes)});
        table.add_row({"percpu memory of nodes at most", "",
                       fmt::format("{}", memory.percpu_bytes_peak)});
        table.add_row({"RCU callbacks at most", fmt::format("{}", memory.rcu_callbacks_peak), ""});
    }
    return {"memory", std::move(table), {}};
}

/// Whether requests go to and fro between their caches and the slab allocator while a ring lives.
bool requests_move(const Result& result) {
    return std::ranges::any_of(result.counters, [](const auto& counter) {
        return counter.second > 0 &&
               (counter.first == "request_free" || counter.first == "request_on_stack" ||
                counter.first == "request_cache_hit");
    });
}

Section request_section(const Result& result) {
    const scenarios::RequestMemoryResult& memory = result.memory.requests;
    Table table({{"memory of requests", Align::left}, {"requests or slabs"}, {"bytes"}});
    const auto add = [&](const std::string& what, std::uint64_t count, std::uint64_t bytes) {
        table.add_row({what, fmt::format("{}", count), fmt::format("{}", bytes)});
    };
    add("in flight at most", memory.in_flight_peak, memory.in_flight_peak * memory.slot_bytes);
    add("allocated at most", memory.allocated_peak, memory.allocated_peak * memory.slot_bytes);
    add("in per-CPU caches at most", memory.cached_peak, memory.cached_peak * memory.slot_bytes);
    add("slabs at the end", memory.slabs_at_end, memory.slab_bytes_at_end);
    for (const scenarios::HeldResult& held : memory.held) {
        add(fmt::format("{}: {}", held.cache, held.where), held.objects, held.bytes);
    }
    return {"requests: memory, and who keeps what is free at the end", std::move(table), {}};
}

Section snapshot_section(const Result& result) {
    Table table({{"snapshot", Align::left}, {"ring", Align::left}, {"cached"}, {"capacity"}});
    for (const scenarios::SnapshotResult& row : result.snapshots) {
        table.add_row({shortened(row.name, max_name_width), shortened(row.ring, max_name_width),
                       fmt::format("{}", row.cached), fmt::format("{}", row.capacity)});
    }
    return {"node cache where the scenario asked", std::move(table), {}};
}

// --- a comparison ---

Section compared_phase(const Comparison& comparison, const PhaseResult& phase) {
    Table table({{"design", Align::left},
                 {"us/round"},
                 {"ns/operation"},
                 {"change"},
                 {"published"},
                 {"error"}});
    const auto fastest = comparison.fastest(phase.name);
    for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
        const Run& run = comparison.runs[i];
        const PhaseResult* found = run.result.find_phase(phase.name);
        if (found == nullptr) {
            continue;
        }
        const PublishedMatch* match = match_for(run, phase.name);
        const Change* change = comparison.find_change(phase.name, run.result.design);
        table.add_row(
            {shortened(run.result.design, max_design_width) + (fastest == i ? " *" : ""),
             short_number(run.result.ns(found->mean_cycles()) / 1000.0),
             short_number(ns_per_operation(run.result, *found)),
             change != nullptr && change->change_percent ? signed_percent(*change->change_percent)
                                                         : "-",
             match != nullptr ? metric_text(match->figure.metric, match->figure.value) : "",
             match != nullptr ? error_text(match->figure.metric, match->error) : ""});
    }
    table.drop_empty_columns();
    const std::size_t rounds = phase.cycles_by_round.size();
    return {fmt::format("{}: {} operation{} a round, {} round{}", phase.name, phase.operations,
                        phase.operations == 1 ? "" : "s", rounds, rounds == 1 ? "" : "s"),
            std::move(table),
            {}};
}

/// Less than this shows as 0.00.
constexpr double smallest_shown_ns = 0.005;

/// How many of the mechanisms, largest first, account for all but a twentieth of what moved.
std::size_t mechanisms_to_show(const std::vector<MovedMechanism>& moved) {
    constexpr double enough = 0.95;
    constexpr std::size_t at_most = 6;
    double all = 0;
    for (const MovedMechanism& entry : moved) {
        all += std::abs(entry.ns_per_operation);
    }
    double shown = 0;
    std::size_t count = 0;
    while (count < std::min(moved.size(), at_most) && shown < enough * all &&
           std::abs(moved[count].ns_per_operation) >= smallest_shown_ns) {
        shown += std::abs(moved[count++].ns_per_operation);
    }
    return count;
}

/// "rfc-0001: -1.54 ns = slab -3.17, node_cache +1.11, rest +0.52".
std::string moved_line(const Change& change) {
    std::string line = fmt::format("{}: {}{}ns", change.design,
                                   signed_number(change.change_ns_per_operation), no_break);
    const std::size_t shown = mechanisms_to_show(change.moved);
    if (shown == 0) {
        return line + ", nothing moved by 0.01 ns or more";
    }
    for (std::size_t i = 0; i < shown; ++i) {
        line += fmt::format("{} {}{}{}", i == 0 ? " =" : ",", change.moved[i].mechanism, no_break,
                            signed_number(change.moved[i].ns_per_operation));
    }
    double rest = 0;
    for (std::size_t i = shown; i < change.moved.size(); ++i) {
        rest += change.moved[i].ns_per_operation;
    }
    if (std::abs(rest) >= smallest_shown_ns) {
        line += fmt::format(", rest{}{}", no_break, signed_number(rest));
    }
    return line;
}

Section moved_section(const Comparison& comparison, const PhaseResult& phase) {
    Section section;
    section.title = fmt::format("what moved in {} against {}, an operation", phase.name,
                                comparison.baseline_run().result.design);
    for (const Change& change : comparison.changes) {
        if (change.phase == phase.name) {
            section.lines.push_back(moved_line(change));
        }
    }
    return section;
}

Section compared_memory(const Comparison& comparison) {
    Table table(
        {{"design", Align::left}, {"retained"}, {"change"}, {"cached nodes"}, {"pointer arrays"}});
    const std::uint64_t before = comparison.baseline_run().result.memory.retained_bytes_peak;
    for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
        const Result& result = comparison.runs[i].result;
        const std::uint64_t after = result.memory.retained_bytes_peak;
        const std::string change = after < before ? fmt::format("-{}", bytes_text(before - after))
                                                  : fmt::format("+{}", bytes_text(after - before));
        table.add_row({shortened(result.design, max_design_width), bytes_text(after),
                       i == comparison.baseline ? "-" : change,
                       fmt::format("{}", result.memory.nodes_cached_peak),
                       bytes_text(result.memory.node_array_bytes_peak)});
    }
    return {"memory retained, at most during the run", std::move(table), {}};
}

bool same_nodes(const Comparison& comparison) {
    const std::uint64_t bytes = comparison.baseline_run().result.memory.node_footprint_bytes;
    return std::ranges::all_of(comparison.runs, [bytes](const Run& run) {
        return run.result.memory.node_footprint_bytes == bytes;
    });
}

/// What one node costs with all its parts, and what the nodes that lived at once came to.
Section compared_nodes(const Comparison& comparison) {
    Table table(
        {{"design", Align::left}, {"node, bytes"}, {"nodes at most"}, {"together"}, {"percpu"}});
    for (const Run& run : comparison.runs) {
        const scenarios::MemoryResult& memory = run.result.memory;
        table.add_row({shortened(run.result.design, max_design_width),
                       fmt::format("{}", memory.node_footprint_bytes),
                       fmt::format("{}", memory.nodes_live_peak),
                       bytes_text(memory.live_bytes_peak), bytes_text(memory.percpu_bytes_peak)});
    }
    return {"memory of rsrc nodes, with put items and percpu counters", std::move(table), {}};
}

/// A counter of a phase, an operation; "-" where there were none.
std::string per_operation(const Result& result, const std::string& phase, const char* counter) {
    const PhaseResult* found = result.find_phase(phase);
    if (found == nullptr || found->cycles_by_round.empty() || found->operations == 0) {
        return "-";
    }
    const double operations =
        static_cast<double>(found->operations) * static_cast<double>(found->cycles_by_round.size());
    return short_number(static_cast<double>(scenarios::counter_value(found->counters, counter)) /
                        operations);
}

/// What a batch takes from the slab allocator, against what is ever in flight at once.
Section compared_requests(const Comparison& comparison, const PhaseResult& phase) {
    Table table({{"design", Align::left},
                 {"allocated/op"},
                 {"freed/op"},
                 {"cache hits/op"},
                 {"out at most"},
                 {"in flight at most"},
                 {"in per-CPU caches"}});
    for (const Run& run : comparison.runs) {
        const Result& result = run.result;
        const scenarios::RequestMemoryResult& memory = result.memory.requests;
        table.add_row({shortened(result.design, max_design_width),
                       per_operation(result, phase.name, "request_alloc"),
                       per_operation(result, phase.name, "request_free"),
                       per_operation(result, phase.name, "request_cache_hit"),
                       fmt::format("{}", memory.allocated_peak),
                       fmt::format("{}", memory.in_flight_peak),
                       fmt::format("{}", memory.cached_peak)});
    }
    return {fmt::format("requests in {}: taken from the slab allocator, and needed at once",
                        phase.name),
            std::move(table),
            {}};
}

std::vector<PublishedMatch> all_published(const Comparison& comparison) {
    std::vector<PublishedMatch> all;
    for (const Run& run : comparison.runs) {
        all.insert(all.end(), run.published.begin(), run.published.end());
    }
    all.insert(all.end(), comparison.published.begin(), comparison.published.end());
    return all;
}

} // namespace

Document describe(const Run& run) {
    const Result& result = run.result;
    Document document;
    document.title =
        fmt::format("{} on {}, {}", result.scenario, result.design, machine_text(result));
    document.facts = {setting_facts(run), fmt::format("uringsim {}, fingerprint {}", version(),
                                                      fingerprint_text(result.fingerprint))};
    if (!result.phases.empty()) {
        document.sections.push_back(phase_section(run));
        document.sections.push_back(mechanism_section(result));
    }
    if (!result.latencies.empty()) {
        document.sections.push_back(latency_section(result));
    }
    document.sections.push_back(counter_section(result));
    document.sections.push_back(memory_section(result));
    if (requests_move(result)) {
        document.sections.push_back(request_section(result));
    }
    if (!result.snapshots.empty()) {
        document.sections.push_back(snapshot_section(result));
    }
    if (!run.published.empty()) {
        document.sections.push_back(published_section(run.published));
    }
    return document;
}

Document describe(const Comparison& comparison) {
    const Run& baseline = comparison.baseline_run();
    Document document;
    document.title =
        fmt::format("{} on {}", baseline.result.scenario, machine_text(baseline.result));
    document.facts = {setting_facts(baseline),
                      fmt::format("uringsim {}; changes are against {}; * is the fastest",
                                  version(), baseline.result.design)};
    for (const PhaseResult& phase : baseline.result.phases) {
        document.sections.push_back(compared_phase(comparison, phase));
        if (comparison.runs.size() > 1) {
            document.sections.push_back(moved_section(comparison, phase));
        }
    }
    if (!baseline.result.latencies.empty()) {
        std::vector<const Result*> results;
        for (const Run& run : comparison.runs) {
            results.push_back(&run.result);
        }
        document.sections.push_back(compared_latency(results));
    }
    document.sections.push_back(compared_memory(comparison));
    if (!same_nodes(comparison)) {
        document.sections.push_back(compared_nodes(comparison));
    }
    const bool requests = std::ranges::any_of(
        comparison.runs, [](const Run& run) { return requests_move(run.result); });
    for (const PhaseResult& phase : baseline.result.phases) {
        if (requests) {
            document.sections.push_back(compared_requests(comparison, phase));
        }
    }
    const std::vector<PublishedMatch> published = all_published(comparison);
    if (!published.empty()) {
        document.sections.push_back(published_section(published));
    }
    return document;
}

} // namespace uringsim::analysis
