#include "analysis/native/report.h"

#include "analysis/export/document.h"
#include "analysis/export/numbers.h"
#include "analysis/version.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace uringsim::analysis::native {

using Json = nlohmann::ordered_json;
using scenarios::PhaseResult;

namespace {

/// An instruction clock has nothing to normalise and no noise to take a median against.
std::string_view unit(const NativeRun& run) {
    return run.instructions ? "instructions" : "ns";
}

double per_operation(double ns, const PhaseResult& phase) {
    return phase.operations == 0 ? 0 : ns / static_cast<double>(phase.operations);
}

Section times_section(const NativeRun& run) {
    Section section;
    section.title = fmt::format("time in {} an operation", unit(run));
    std::vector<Column> columns{{"phase", Align::left}, {"operations"}, {"median"}, {"min"}};
    if (!run.instructions) {
        columns.insert(columns.end(), {{"normalised"}, {"+- %"}, {"preempted"}, {"slow"}});
    }
    columns.push_back({"rounds"});
    Table table(columns);
    for (std::size_t i = 0; i < run.times.size(); ++i) {
        const PhaseResult& phase = run.result.phases[i];
        const PhaseTimes& times = run.times[i];
        std::vector<std::string> row{phase.name, std::to_string(phase.operations),
                                     short_number(per_operation(times.median, phase)),
                                     short_number(per_operation(times.minimum, phase))};
        if (!run.instructions) {
            row.push_back(short_number(per_operation(times.normalised_median, phase)));
            row.push_back(fmt::format("{:.1f}", times.spread_percent));
            row.push_back(std::to_string(times.preempted));
            row.push_back(std::to_string(times.slow));
        }
        row.push_back(std::to_string(times.rounds));
        table.add_row(row);
    }
    section.table = table;
    if (!run.instructions && !run.times.empty()) {
        section.lines.push_back(fmt::format(
            "normalised: to a null system call of {:.1f} ns, the smallest median of a process; "
            "+- is half the range of the processes; slow: a null call above {} x its minimum",
            run.times.front().null_ns, slow_factor));
        if (std::ranges::any_of(run.times, &PhaseTimes::flagged_used)) {
            section.lines.emplace_back(
                "this host was too busy: preempted rounds are in the figures");
        }
    }
    return section;
}

/// Counters that are 0 everywhere say nothing.
Section counters_section(const NativeRun& run) {
    std::vector<Column> columns{{"counter", Align::left}};
    for (const PhaseResult& phase : run.result.phases) {
        columns.push_back({phase.name});
    }
    columns.push_back({"whole run"});
    Table table(columns);
    for (const auto& [name, total] : run.result.counters) {
        std::vector<std::string> row{name};
        std::uint64_t sum = total;
        for (const PhaseResult& phase : run.result.phases) {
            const std::uint64_t value = scenarios::counter_value(phase.counters, name);
            row.push_back(std::to_string(value));
            sum += value;
        }
        row.push_back(std::to_string(total));
        if (sum > 0) {
            table.add_row(row);
        }
    }
    Section section{"counts over the measured rounds, of the program's own tasks", table, {}};
    if (table.empty()) {
        section.table.reset();
    }
    return section;
}

Section absent_section(const NativeRun& run) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const Absence& absence : run.absent) {
        by_reason[absence.reason].push_back(absence.counter);
    }
    Section section{"not known here", std::nullopt, {}};
    for (const auto& [reason, counters] : by_reason) {
        section.lines.push_back(fmt::format("{}: {}", fmt::join(counters, ", "), reason));
    }
    return section;
}

Document describe(const NativeRun& run) {
    Document document;
    document.title = fmt::format("{}: the kernel's own io_uring", run.result.scenario);
    document.facts = host_facts(run.host);
    document.facts.push_back("parameters: " + settings_text(run.result.parameters));
    if (!run.times.empty()) {
        document.sections.push_back(times_section(run));
    }
    if (!run.result.counters.empty()) {
        document.sections.push_back(counters_section(run));
    }
    if (!run.absent.empty()) {
        document.sections.push_back(absent_section(run));
    }
    return document;
}

Json counters_json(const scenarios::CounterValues& counters) {
    Json object = Json::object();
    for (const auto& [name, value] : counters) {
        object[name] = value;
    }
    return object;
}

Json phase_json(const NativeRun& run, std::size_t index) {
    const PhaseResult& phase = run.result.phases[index];
    Json object{{"name", phase.name}, {"operations", phase.operations}};
    if (!run.times.empty()) {
        const PhaseTimes& times = run.times[index];
        object["rounds"] = times.rounds;
        object["median_per_operation"] = per_operation(times.median, phase);
        object["min_per_operation"] = per_operation(times.minimum, phase);
        if (!run.instructions) {
            object["normalised_median_per_operation"] =
                per_operation(times.normalised_median, phase);
            object["spread_percent"] = times.spread_percent;
            object["null_call_ns"] = times.null_ns;
            object["preempted_rounds"] = times.preempted;
            object["slow_rounds"] = times.slow;
        }
        object["by_round"] = phase.cycles_by_round;
    }
    if (!run.result.counters.empty()) {
        object["counters"] = counters_json(phase.counters);
    }
    return object;
}

} // namespace

std::vector<std::string> host_facts(const Host& host) {
    std::vector<std::string> facts{
        fmt::format("kernel {}, {} CPUs, {}", host.release, host.cpus, host.cpu_model)};
    std::string more;
    const auto add = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) {
            more += fmt::format("{}{} {}", more.empty() ? "" : ", ", name, value);
        }
    };
    add("clock source", host.clock_source);
    add("governor", host.governor);
    add("preemption", host.preemption);
    add("load", host.load);
    if (!more.empty()) {
        facts.push_back(more);
    }
    if (!host.mitigations.empty()) {
        facts.push_back("mitigations: " + host.mitigations);
    }
    return facts;
}

std::string report_text(const NativeRun& run) {
    return to_text(describe(run));
}

std::string report_markdown(const NativeRun& run) {
    return to_markdown(describe(run));
}

std::string report_json(const NativeRun& run) {
    Json json{{"uringsim", version()},
              {"kind", "native"},
              {"scenario", run.result.scenario},
              {"kernel", run.host.release},
              {"unit", unit(run)}};
    json["host"] = {{"cpu_model", run.host.cpu_model},       {"cpus", run.host.cpus},
                    {"clock_source", run.host.clock_source}, {"governor", run.host.governor},
                    {"preemption", run.host.preemption},     {"load", run.host.load},
                    {"mitigations", run.host.mitigations}};
    for (const scenarios::Setting& setting : run.result.parameters) {
        json["parameters"][setting.name] = std::stoll(setting.value);
    }
    json["phases"] = Json::array();
    for (std::size_t i = 0; i < run.result.phases.size(); ++i) {
        json["phases"].push_back(phase_json(run, i));
    }
    json["counters"] = counters_json(run.result.counters);
    json["absent"] = Json::object();
    for (const Absence& absence : run.absent) {
        json["absent"][absence.counter] = absence.reason;
    }
    constexpr int indent = 2;
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string report_csv(const NativeRun& run) {
    std::string text = "scenario,kernel,phase,metric,value,unit\n";
    const auto row = [&](const PhaseResult& phase, std::string_view metric,
                         const std::string& value, std::string_view value_unit) {
        text += fmt::format("{},{},{},{},{},{}\n", run.result.scenario, run.host.release,
                            phase.name, metric, value, value_unit);
    };
    for (std::size_t i = 0; i < run.result.phases.size(); ++i) {
        const PhaseResult& phase = run.result.phases[i];
        if (!run.times.empty()) {
            const PhaseTimes& times = run.times[i];
            const std::string per = fmt::format("{}/operation", unit(run));
            row(phase, "median", exact_number(per_operation(times.median, phase)), per);
            row(phase, "min", exact_number(per_operation(times.minimum, phase)), per);
            row(phase, "normalised_median",
                exact_number(per_operation(times.normalised_median, phase)), per);
            row(phase, "spread", exact_number(times.spread_percent), "%");
        }
        for (const auto& [name, value] : phase.counters) {
            row(phase, name, std::to_string(value), "");
        }
    }
    return text;
}

std::string report(const NativeRun& run, const std::string& format) {
    return format == "json"       ? report_json(run)
           : format == "csv"      ? report_csv(run)
           : format == "markdown" ? report_markdown(run)
                                  : report_text(run);
}

} // namespace uringsim::analysis::native
