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

/// Reads a row's place from the front of a line, piece by piece.
class PlaceReader {
  public:
    explicit PlaceReader(std::string_view line)
        : rest_(line) {}

    PlaceReader& skip(std::string_view text) {
        good_ = good_ && rest_.starts_with(text);
        rest_.remove_prefix(good_ ? text.size() : 0);
        return *this;
    }

    PlaceReader& number(std::uint64_t& value, int base) {
        const auto [end, error] =
            std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
        good_ = good_ && error == std::errc{};
        rest_.remove_prefix(good_ ? static_cast<std::size_t>(end - rest_.data()) : 0);
        return *this;
    }

    bool good() const { return good_; }
    bool at_end() const { return rest_.empty(); }

  private:
    std::string_view rest_;
    bool good_ = true;
};

constexpr int decimal = 10;
constexpr int hexadecimal = 16;

/// The place of a line that has these texts before its index, its runs and its sweep, and behind
/// them.
std::optional<RowPlace> place_among(std::string_view line,
                                    const std::array<std::string_view, 4>& texts) {
    RowPlace place;
    const bool good = PlaceReader(line)
                          .skip(texts[0])
                          .number(place.index, decimal)
                          .skip(texts[1])
                          .number(place.runs, decimal)
                          .skip(texts[2])
                          .number(place.sweep, hexadecimal)
                          .skip(texts[3])
                          .good();
    return good ? std::optional(place) : std::nullopt;
}

struct MemoryFigure {
    const char* name;
    std::uint64_t scenarios::MemoryResult::*member;
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

    std::string start_of(const RowPlace& place, std::uint64_t key) const override {
        return fmt::format(R"({{"index":{},"runs":{},"sweep":"{}","key":"{}")", place.index,
                           place.runs, key_text(place.sweep), key_text(key));
    }

    std::optional<ParsedRow> parse(std::string_view line) const override {
        const auto row = ordered_json::parse(line, nullptr, false);
        const auto place = jsonl_place(line);
        if (!place || !row.is_object() || !row.contains("key") || !row["key"].is_string()) {
            return std::nullopt;
        }
        ParsedRow parsed{*place, row["key"], {}};
        std::size_t measured = std::string_view::npos;
        for (const std::string_view first : {"\"phases\":", "\"counters\":", "\"error\":"}) {
            measured = std::min(measured, line.find(first));
        }
        if (measured == std::string_view::npos) {
            return std::nullopt;
        }
        parsed.figures.outcome = Hash().add(line.substr(measured)).value();
        parsed.figures.stopped = row.contains("error");
        if (const auto phases = row.find("phases"); phases != row.end()) {
            for (const auto& phase : *phases) {
                parsed.figures.ns_per_operation.push_back(number_in(phase, "ns_per_operation"));
            }
        }
        if (const auto memory = row.find("memory"); memory != row.end()) {
            parsed.figures.retained_bytes = number_in(*memory, "retained_peak_bytes");
        }
        return parsed;
    }

  private:
    static double number_in(const ordered_json& object, const char* name) {
        const auto found = object.is_object() ? object.find(name) : object.end();
        return found != object.end() && found->is_number() ? found->get<double>() : 0;
    }

    /// A value as JSON has it: a number, a boolean, else a string.
    static ordered_json value(const std::string& text) {
        if (text == "true" || text == "false") {
            return text == "true";
        }
        std::uint64_t number = 0;
        PlaceReader reader(text);
        const bool all = reader.number(number, decimal).good() && reader.at_end();
        return all ? ordered_json(number) : ordered_json(text);
    }

    ordered_json start(const SweepPoint& point) const {
        ordered_json row;
        const RowPlace place = place_of(point, plan_);
        row["index"] = place.index;
        row["runs"] = place.runs;
        row["sweep"] = key_text(place.sweep);
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
        for (const models::Knob* knob : plan_.knobs()) {
            row["knobs"][std::string(knob->name)] = value(knob->format(knob->get(point.design)));
        }
        return row;
    }

    const SweepPlan& plan_;
};

/// Lest a spreadsheet takes 16 digits for a number that it may round.
constexpr std::string_view hex_prefix = "0x";

std::string hex_text(std::uint64_t number) {
    return std::string(hex_prefix) + key_text(number);
}

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
        for (const char* name : {"index", "runs", "sweep", "key", "version", "scenario", "design",
                                 "machine", "seed"}) {
            columns_.emplace_back(name);
        }
        for (const scenarios::Parameter& parameter : plan.scenario().parameters) {
            column(parameter_label(parameter.name), parameter.unit);
        }
        for (const models::Knob* knob : plan.knobs()) {
            column(std::string(knob->name), knob->unit);
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
        cells.push_back(std::string(hex_prefix) + fingerprint_text(result.fingerprint));
        cells.emplace_back();
        return joined(cells);
    }

    std::string line(const SweepPoint& point, const std::string& error) const override {
        std::vector<std::string> cells = start(point);
        cells.resize(columns_.size() - 1);
        cells.push_back(error);
        return joined(cells);
    }

    std::string start_of(const RowPlace& place, std::uint64_t key) const override {
        return fmt::format("{},{},{}{},{}{}", place.index, place.runs, hex_prefix,
                           key_text(place.sweep), hex_prefix, key_text(key));
    }

    std::optional<ParsedRow> parse(std::string_view line) const override {
        const auto place = csv_place(line);
        const std::vector<std::string> cells = csv_cells(line);
        if (!place || cells.size() != columns_.size()) {
            return std::nullopt;
        }
        constexpr std::size_t key_column = 3;
        std::string_view key = cells[key_column];
        key.remove_prefix(std::min(hex_prefix.size(), key.size()));
        ParsedRow parsed{*place, std::string(key), {}};
        Hash hash;
        for (std::size_t i = measured_; i < cells.size(); ++i) {
            hash.add(cells[i]);
        }
        parsed.figures.outcome = hash.value();
        parsed.figures.stopped = !cells.back().empty();
        if (!parsed.figures.stopped) {
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
        const RowPlace place = place_of(point, plan_);
        std::vector<std::string> cells{std::to_string(place.index),
                                       std::to_string(place.runs),
                                       hex_text(place.sweep),
                                       hex_text(point.key),
                                       std::string(version()),
                                       point.scenario->name,
                                       point.design.name,
                                       point.machine->name,
                                       std::to_string(point.scenario->seed)};
        for (const scenarios::Parameter& parameter : point.scenario->parameters) {
            cells.push_back(std::to_string(parameter.value));
        }
        for (const models::Knob* knob : plan_.knobs()) {
            cells.push_back(knob->format(knob->get(point.design)));
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

RowPlace place_of(const SweepPoint& point, const SweepPlan& plan) {
    return {point.index, plan.runs(), plan.hash()};
}

std::optional<RowPlace> jsonl_place(std::string_view line) {
    return place_among(line, {"{\"index\":", ",\"runs\":", ",\"sweep\":\"", "\",\"key\":\""});
}

std::optional<RowPlace> csv_place(std::string_view line) {
    return place_among(line, {"", ",", ",0x", ",0x"});
}

} // namespace uringsim::analysis
