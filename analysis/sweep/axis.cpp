#include "analysis/sweep/axis.h"

#include "scenarios/strict_json.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <set>

namespace uringsim::analysis {

namespace {

using scenarios::parse_integer;

constexpr std::string_view knob_prefix = "knob:";

/// A range as it is written.
struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t by = 1;
    bool factor = false;
};

std::optional<Range> parse_range(std::string_view text, std::string& error) {
    const std::size_t dots = text.find("..");
    const std::size_t by = text.find_first_of("+x", dots + 2);
    Range range;
    range.factor = by != std::string_view::npos && text[by] == 'x';
    const auto number = [&](std::string_view part, std::int64_t min) {
        return parse_integer(part, {min, std::numeric_limits<std::int64_t>::max() / 2}, error);
    };
    const auto first = number(text.substr(0, dots), 0);
    const std::size_t length = by == std::string_view::npos ? by : by - dots - 2;
    const auto last = first ? number(text.substr(dots + 2, length), 0) : std::nullopt;
    const auto step = !last ? std::nullopt
                      : by == std::string_view::npos
                          ? std::optional<std::int64_t>(1)
                          : number(text.substr(by + 1), range.factor ? 2 : 1);
    if (!step) {
        return std::nullopt;
    }
    range.first = *first;
    range.last = *last;
    range.by = *step;
    if (range.first > range.last) {
        error = "must end above its start";
    } else if (range.factor && range.first == 0) {
        error = "must start above 0, for a factor leads nowhere from 0";
    } else if (!range.factor &&
               (range.last - range.first) / range.by >= static_cast<std::int64_t>(max_axis_values)) {
        error = fmt::format("must have at most {} values", max_axis_values);
    } else {
        return range;
    }
    return std::nullopt;
}

void expand(const Range& range, std::vector<std::string>& values) {
    std::int64_t at = range.first;
    while (at < range.last) {
        values.push_back(std::to_string(at));
        const bool beyond = range.factor ? at > range.last / range.by : at > range.last - range.by;
        at = beyond ? range.last : (range.factor ? at * range.by : at + range.by);
    }
    values.push_back(std::to_string(range.last));
}

} // namespace

std::string Axis::label() const {
    return kind == AxisKind::parameter ? parameter_label(name) : name;
}

std::string parameter_label(std::string_view name) {
    return std::string(parameter_prefix) + std::string(name);
}

Axis axis_of(std::string_view label) {
    Axis axis;
    if (label.starts_with(parameter_prefix)) {
        axis.kind = AxisKind::parameter;
        label.remove_prefix(parameter_prefix.size());
    } else if (label.starts_with(knob_prefix)) {
        label.remove_prefix(knob_prefix.size());
    } else if (label == "design") {
        axis.kind = AxisKind::design;
    } else if (label == "machine") {
        axis.kind = AxisKind::machine;
    } else if (label == "seed") {
        axis.kind = AxisKind::seed;
    }
    axis.name = label;
    return axis;
}

std::optional<std::vector<std::string>> expand_values(std::string_view text, bool ranges,
                                                      std::string& error) {
    std::vector<std::string> values;
    std::size_t at = 0;
    while (at <= text.size()) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        const std::string_view item = text.substr(at, comma - at);
        at = comma + 1;
        if (item.empty()) {
            error = fmt::format("a value is missing in \"{}\"", text);
            return std::nullopt;
        }
        if (!ranges || item.find("..") == std::string_view::npos) {
            values.emplace_back(item);
            continue;
        }
        const auto range = parse_range(item, error);
        if (!range) {
            error = fmt::format("range {}: {} (A..B, A..B+STEP or A..BxFACTOR)", item, error);
            return std::nullopt;
        }
        expand(*range, values);
    }
    std::set<std::string_view> seen;
    for (const std::string& value : values) {
        if (!seen.insert(value).second) {
            error = fmt::format("\"{}\" given twice", value);
            return std::nullopt;
        }
    }
    return values;
}

} // namespace uringsim::analysis
