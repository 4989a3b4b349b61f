#include "analysis/sweep/row_format.h"

#include "analysis/export/numbers.h"
#include "analysis/run.h"
#include "analysis/sweep/hash.h"
#include "analysis/version.h"
#include "models/counters.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>

namespace uringsim::analysis {

namespace {

using nlohmann::ordered_json;
using scenarios::Result;

/// Reads digits at `at` and moves behind them.
std::optional<std::uint64_t> digits(std::string_view text, std::size_t& at) {
    std::uint64_t value = 0;
    const char* begin = text.data() + std::min(at, text.size());
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
    if (error != std::errc{}) {
        return std::nullopt;
    }
    at += static_cast<std::size_t>(end - begin);
    return value;
}

std::optional<RowPlace> place_between(std::string_view line, std::string_view before_index,
                                      std::string_view before_runs) {
    if (!line.starts_with(before_index)) {
        return std::nullopt;
    }
    std::size_t at = before_index.size();
    const auto index = digits(line, at);
    if (!index || !line.substr(at).starts_with(before_runs)) {
        return std::nullopt;
    }
    at += before_runs.size();
    const auto runs = digits(line, at);
    return runs ? std::optional(RowPlace{*index, *runs}) : std::nullopt;
}

struct MemoryFigure {
    const char* name;
    std::uint64_t scenarios::MemoryResult::* member;
    const char* unit;
};

constexpr MemoryFigure memory_figures[] = {
    {"nodes_live_peak", &scenarios::MemoryResult::nodes_live_peak, "nodes"},
    {"nodes_cached_peak", &scenarios::MemoryResult::nodes_cached_peak, "nodes"},
    {"node_slot_bytes", &scenarios::MemoryResult::node_slot_bytes, "bytes"},
    {"node_array_peak_bytes", &scenarios::MemoryResult::node_array_bytes_peak, "bytes"},
    {"retained_peak_bytes", &scenarios::MemoryResult::retained_bytes_peak, "bytes"},
    {"node_slabs_at_end", &scenarios::MemoryResult::node_slabs_at_end, "slabs"},
};

class JsonlFormat final : public RowFormat {
  public:
    explicit JsonlFormat(const SweepPlan& plan)
        : plan_(plan) {}

    std::string header() const override { return ""; }

    std::string line(const SweepPoint& point, const Result& result) const override {
        ordered_json row = start(point);
        for (const scenarios::PhaseResult& phase : result.phases) {
            row["phases"][phase.name] = {
                {"operations", phase.operations},
                {"rounds", phase.cycles_by_round.size()},
                {"cycles", phase.mean_cycles()},
                {"ns", result.ns(phase.mean_cycles())},
                {"ns_per_operation", ns_per_operation(result, phase)},
                {"cv_percent", statistics(phase).cv_percent},
            };
        }
        for (const auto& [name, value] : result.counters) {
            row["counters"][name] = value;
        }
        for (const MemoryFigure& figure : memory_figures) {
            row["memory"][figure.name] = result.memory.*figure.member;
        }
        row["fingerprint"] = fingerprint_text(result.fingerprint);
        return row.dump() + '\n';
    }

    std::string line(const SweepPoint& point, const std::string& error) const override {
        ordered_json row = start(point);
        row["error"] = error;
        return row.dump() + '\n';
    }

    std::optional<ParsedRow> parse(std::string_view line) const override {
        const auto row = ordered_json::parse(line, nullptr, false);
        const auto place = jsonl_place(line);
        if (!place || !row.is_object() || !row.contains("key") || !row["key"].is_string()) {
            return std::nullopt;
        }
        ParsedRow parsed{place->index, place->runs, row["key"], {}};
        const std::size_t measured = std::min(line.find("\"phases\":"), line.find("\"error\":"));
        if (measured == std::string_view::npos) {
            return std::nullopt;
        }
        parsed.figures.outcome = Hash().add(line.substr(measured)).value();
        if (row.contains("phases")) {
            for (const auto& phase : row["phases"]) {
                parsed.figures.ns_per_operation.push_back(phase.value("ns_per_operation", 0.0));
            }
            parsed.figures.retained_bytes = row["memory"].value("retained_peak_bytes", 0.0);
        }
        return parsed;
    }

  private:
    /// A value as JSON has it: a number, a boolean, else a string.
    static ordered_json value(const std::string& text) {
        if (text == "true" || text == "false") {
            return text == "true";
        }
        std::size_t at = 0;
        const auto number = digits(text, at);
        return number && at == text.size() ? ordered_json(*number) : ordered_json(text);
    }

    ordered_json start(const SweepPoint& point) const {
        ordered_json row;
        row["index"] = point.index;
        row["runs"] = plan_.runs();
        row["key"] = key_text(point.key);
        row["version"] = version();
        row["scenario"] = point.scenario->name;
        row["design"] = point.design.name;
        row["machine"] = point.machine->name;
        row["seed"] = point.scenario->seed;
        row["parameters"] = ordered_json::object();
        for (const scenarios::Parameter& parameter : point.scenario->parameters) {
            row["parameters"][parameter.name] = parameter.value;
        }
        row["knobs"] = ordered_json::object();
        for (const auto& [name, text] : plan_.spec().base.knobs) {
            row["knobs"][name] = value(text);
        }
        for (std::size_t i = 0; i < plan_.axes().size(); ++i) {
            const Axis& axis = plan_.axes()[i];
            if (axis.kind == AxisKind::knob) {
                row["knobs"][axis.name] = value(axis.values[point.choice[i]]);
            }
        }
        return row;
    }

    const SweepPlan& plan_;
};

std::string csv_cell(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : c == '\n' || c == '\r' ? " " : std::string(1, c);
    }
    return quoted + '"';
}

/// The cells of a line, unquoted.
std::vector<std::string> csv_cells(std::string_view line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"') {
            if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
                cells.back() += line[++i];
            } else {
                quoted = !quoted;
            }
        } else if (line[i] == ',' && !quoted) {
            cells.emplace_back();
        } else {
            cells.back() += line[i];
        }
    }
    return cells;
}

class CsvFormat final : public RowFormat {
  public:
    explicit CsvFormat(const SweepPlan& plan)
        : plan_(plan) {
        for (const char* name : {"index", "runs", "key", "version", "scenario", "design", "machine",
                                 "seed"}) {
            columns_.emplace_back(name);
        }
        for (const scenarios::Parameter& parameter : plan.scenario().parameters) {
            column("param:" + parameter.name, parameter.unit);
        }
        for (const Axis& axis : plan.axes()) {
            if (axis.kind == AxisKind::knob) {
                column(axis.name, models::find_knob(axis.name)->unit);
            }
        }
        measured_ = columns_.size();
        for (const scenarios::PhaseSpec& phase : plan.scenario().phases) {
            column(phase.name + ": time per operation", "ns");
            column(phase.name + ": time per round", "ns");
            column(phase.name + ": time per round", "cycles");
            column(phase.name + ": operations per round", "");
            column(phase.name + ": variation of rounds", "percent");
        }
        for (const models::CounterInfo& counter : models::counter_table()) {
            column(std::string(counter.name), counter.unit);
        }
        for (const MemoryFigure& figure : memory_figures) {
            if (std::string_view(figure.name) == "retained_peak_bytes") {
                retained_ = columns_.size();
            }
            column(figure.name, figure.unit);
        }
        column("fingerprint", "");
        column("error", "");
    }

    std::string header() const override { return joined(columns_); }

    std::string line(const SweepPoint& point, const Result& result) const override {
        std::vector<std::string> cells = start(point);
        for (const scenarios::PhaseResult& phase : result.phases) {
            cells.push_back(exact_number(ns_per_operation(result, phase)));
            cells.push_back(exact_number(result.ns(phase.mean_cycles())));
            cells.push_back(exact_number(phase.mean_cycles()));
            cells.push_back(std::to_string(phase.operations));
            cells.push_back(exact_number(statistics(phase).cv_percent));
        }
        for (const auto& [name, value] : result.counters) {
            cells.push_back(std::to_string(value));
        }
        for (const MemoryFigure& figure : memory_figures) {
            cells.push_back(std::to_string(result.memory.*figure.member));
        }
        cells.push_back("0x" + fingerprint_text(result.fingerprint));
        cells.emplace_back();
        return joined(cells);
    }

    std::string line(const SweepPoint& point, const std::string& error) const override {
        std::vector<std::string> cells = start(point);
        cells.resize(columns_.size() - 1);
        cells.push_back(error);
        return joined(cells);
    }

    std::optional<ParsedRow> parse(std::string_view line) const override {
        const auto place = csv_place(line);
        const std::vector<std::string> cells = csv_cells(line);
        if (!place || cells.size() != columns_.size()) {
            return std::nullopt;
        }
        ParsedRow parsed{place->index, place->runs, cells[2].substr(std::min<std::size_t>(2, cells[2].size())), {}};
        Hash hash;
        for (std::size_t i = measured_; i < cells.size(); ++i) {
            hash.add(cells[i]);
        }
        parsed.figures.outcome = hash.value();
        if (cells.back().empty()) {
            for (std::size_t i = 0; i < plan_.scenario().phases.size(); ++i) {
                parsed.figures.ns_per_operation.push_back(number(cells[measured_ + 5 * i]));
            }
            parsed.figures.retained_bytes = number(cells[retained_]);
        }
        return parsed;
    }

  private:
    static double number(const std::string& text) {
        double value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    }

    static std::string joined(const std::vector<std::string>& cells) {
        std::string text;
        for (const std::string& cell : cells) {
            text += csv_cell(cell) + ',';
        }
        text.back() = '\n';
        return text;
    }

    void column(const std::string& name, std::string_view unit) {
        columns_.push_back(unit.empty() ? name : fmt::format("{} [{}]", name, unit));
    }

    std::vector<std::string> start(const SweepPoint& point) const {
        std::vector<std::string> cells{
            std::to_string(point.index),  std::to_string(plan_.runs()),
            "0x" + key_text(point.key),   std::string(version()),
            point.scenario->name,         point.design.name,
            point.machine->name,          std::to_string(point.scenario->seed)};
        for (const scenarios::Parameter& parameter : point.scenario->parameters) {
            cells.push_back(std::to_string(parameter.value));
        }
        for (std::size_t i = 0; i < plan_.axes().size(); ++i) {
            if (plan_.axes()[i].kind == AxisKind::knob) {
                cells.push_back(plan_.axes()[i].values[point.choice[i]]);
            }
        }
        return cells;
    }

    const SweepPlan& plan_;
    std::vector<std::string> columns_;
    std::size_t measured_ = 0;
    std::size_t retained_ = 0;
};

} // namespace

std::string key_text(std::uint64_t key) {
    return fmt::format("{:016x}", key);
}

std::unique_ptr<RowFormat> make_jsonl_format(const SweepPlan& plan) {
    return std::make_unique<JsonlFormat>(plan);
}

std::unique_ptr<RowFormat> make_csv_format(const SweepPlan& plan) {
    return std::make_unique<CsvFormat>(plan);
}

std::optional<RowPlace> jsonl_place(std::string_view line) {
    return place_between(line, "{\"index\":", ",\"runs\":");
}

std::optional<RowPlace> csv_place(std::string_view line) {
    return place_between(line, "", ",");
}

} // namespace uringsim::analysis
