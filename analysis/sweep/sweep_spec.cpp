#include "analysis/sweep/sweep_spec.h"

#include "scenarios/did_you_mean.h"
#include "scenarios/key_shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::analysis {

using scenarios::Diagnostics;
using scenarios::JsonNode;
using scenarios::ObjectReader;

namespace {

constexpr std::uint64_t max_repeats = 1'000'000;

bool has_ranges(AxisKind kind) {
    return kind != AxisKind::design && kind != AxisKind::machine;
}

/// A value of the file as the command line would have it.
std::string value_text(const JsonNode& node) {
    return node.is_boolean() ? (node.boolean() ? "true" : "false") : node.text();
}

/// The values of an axis: an array of values and ranges, or one text.
std::string values_text(const JsonNode& node, Diagnostics& diagnostics) {
    if (!node.is_array()) {
        return value_text(node);
    }
    std::string text;
    for (const JsonNode& child : node.children()) {
        if (child.is_array() || child.is_object() || child.is_null()) {
            child.report("must be a number, a boolean or a string; got " + child.describe(),
                         diagnostics);
            continue;
        }
        text += text.empty() ? "" : ",";
        text += value_text(child);
    }
    return text;
}

/// For the schema: values are read as the command line's.
void describe_values(const ObjectReader& reader) {
    scenarios::KeyShape shape;
    shape.types = {"array", "string", "integer", "boolean"};
    shape.required = true;
    shape.help = "numbers, names, and as text ranges with both ends in: 1..9, 1..9+2, 64..4096x2";
    reader.describe("values", shape);
}

class SpecReader {
  public:
    SpecReader(const JsonNode& root, SweepSpec& spec, Diagnostics& diagnostics)
        : root_(root), spec_(spec), diagnostics_(diagnostics) {}

    /// {"axis": label, "values": ...}, or {"zip": [axis, axis, ...]}.
    void axis(const JsonNode& node, std::size_t group) {
        ObjectReader reader(node, diagnostics_);
        reader.ignore("comment");
        if (node.find("zip") != nullptr) {
            if (const JsonNode* zipped = reader.array("zip", 2)) {
                for (const JsonNode& child : zipped->children()) {
                    single(child, group);
                }
            }
        } else {
            single(reader, node, group);
        }
        reader.finish();
    }

    void assignments(ObjectReader& reader, std::string_view key,
                     std::vector<std::pair<std::string, std::string>>& target) {
        if (const JsonNode* object = reader.optional_object(key)) {
            for (const JsonNode& child : object->children()) {
                target.emplace_back(child.key(), value_text(child));
            }
        }
    }

  private:
    void single(const JsonNode& node, std::size_t group) {
        ObjectReader reader(node, diagnostics_);
        reader.ignore("comment");
        single(reader, node, group);
        reader.finish();
    }

    void single(ObjectReader& reader, const JsonNode& node, std::size_t group) {
        const auto label = reader.name("axis");
        const JsonNode* values = reader.required("values");
        if (reader.is_observed()) {
            describe_values(reader);
        }
        if (!label || values == nullptr) {
            return;
        }
        Axis axis = axis_of(*label);
        axis.group = group;
        std::string error;
        const auto list =
            expand_values(values_text(*values, diagnostics_), has_ranges(axis.kind), error);
        if (!list) {
            node.report(error, diagnostics_);
            return;
        }
        axis.values = *list;
        if (!has_ranges(axis.kind)) {
            for (std::string& value : axis.values) {
                value = named_in(root_, value);
            }
        }
        spec_.axes.push_back(std::move(axis));
    }

    const JsonNode& root_;
    SweepSpec& spec_;
    Diagnostics& diagnostics_;
};

} // namespace

void SweepSpec::add_axis(const std::string& label, const std::string& values,
                         const std::string& option, Diagnostics& diagnostics) {
    Axis axis = axis_of(label);
    axis.group = axes.empty() ? 0 : axes.back().group + 1;
    std::string error;
    const auto list = expand_values(values, has_ranges(axis.kind), error);
    if (!list) {
        diagnostics.add_option(option, error);
        return;
    }
    axis.values = *list;
    axes.push_back(std::move(axis));
}

void SweepSpec::zip(const std::vector<std::string>& labels, const std::string& option,
                    Diagnostics& diagnostics) {
    if (labels.size() < 2) {
        diagnostics.add_option(option, "must name two axes or more: A,B");
        return;
    }
    std::vector<std::string> known(axes.size());
    std::ranges::transform(axes, known.begin(), &Axis::label);
    std::optional<std::size_t> group;
    for (const std::string& label : labels) {
        const auto found = std::ranges::find(known, axis_of(label).label());
        if (found == known.end()) {
            std::string message =
                fmt::format("\"{}\" is none of the axes {}", label, fmt::join(known, ", "));
            if (const auto near = scenarios::did_you_mean(label, known)) {
                message += fmt::format("; did you mean \"{}\"?", *near);
            }
            diagnostics.add_option(option, message);
            continue;
        }
        Axis& axis = axes[static_cast<std::size_t>(found - known.begin())];
        group = group.value_or(axis.group);
        axis.group = *group;
    }
}

bool is_sweep(const JsonNode& root) {
    return root.find("axes") != nullptr;
}

std::optional<SweepSpec> read_sweep(const JsonNode& root, Diagnostics& diagnostics) {
    const std::size_t reported_before = diagnostics.size();
    SweepSpec spec;
    SpecReader values(root, spec, diagnostics);
    ObjectReader reader(root, diagnostics);
    reader.ignore("$schema");
    reader.ignore("summary");
    spec.name = reader.name("name").value_or("");
    spec.base.scenario = named_in(root, reader.name("scenario").value_or(""));
    values.assignments(reader, "set", spec.base.knobs);
    values.assignments(reader, "parameters", spec.base.parameters);
    reader.describe("seed", scenarios::shape_of(scenarios::UnsignedRange{}));
    if (const JsonNode* seed = reader.optional("seed")) {
        spec.base.seed = scenarios::get_unsigned(*seed, {}, diagnostics);
    }
    if (const JsonNode* axes = reader.array("axes", 1)) {
        std::size_t group = 0;
        for (const JsonNode& node : axes->children()) {
            values.axis(node, group++);
        }
    }
    if (const JsonNode* constraints = reader.optional_array("constraints")) {
        for (const JsonNode& node : constraints->children()) {
            spec.constraints.push_back(scenarios::get_name(node, diagnostics).value_or(""));
        }
    }
    spec.repeats = reader.unsigned_integer_or("repeats", {1, max_repeats, "runs a point"}, 1);
    spec.max_runs =
        reader.unsigned_integer_or("max_runs", {1, 1'000'000'000'000, "runs"}, default_max_runs);
    reader.finish();
    if (diagnostics.size() > reported_before) {
        return std::nullopt;
    }
    return spec;
}

} // namespace uringsim::analysis
