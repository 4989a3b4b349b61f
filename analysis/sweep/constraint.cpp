#include "analysis/sweep/constraint.h"

#include "scenarios/did_you_mean.h"
#include "scenarios/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uringsim::analysis {

namespace {

using Compare = bool (*)(std::int64_t, std::int64_t);

struct Operator {
    std::string_view text;
    Compare compare;
};

/// Longer ones first, so that "<=" is not read as "<".
constexpr std::array<Operator, 6> operators{{
    {"<=", [](std::int64_t a, std::int64_t b) { return a <= b; }},
    {">=", [](std::int64_t a, std::int64_t b) { return a >= b; }},
    {"==", [](std::int64_t a, std::int64_t b) { return a == b; }},
    {"!=", [](std::int64_t a, std::int64_t b) { return a != b; }},
    {"<", [](std::int64_t a, std::int64_t b) { return a < b; }},
    {">", [](std::int64_t a, std::int64_t b) { return a > b; }},
}};

std::string trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) {
        return "";
    }
    return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

/// The one knob whose name ends in ".name"; swept ones come before all others.
const models::Knob* knob_by_end(const std::string& name, const std::vector<Axis>& axes) {
    const std::string end = "." + name;
    const models::Knob* found = nullptr;
    for (const Axis& axis : axes) {
        if (axis.kind == AxisKind::knob && axis.name.ends_with(end)) {
            return models::find_knob(axis.name);
        }
    }
    for (const models::Knob& knob : models::knob_table()) {
        if (knob.name.ends_with(end)) {
            if (found != nullptr) {
                return nullptr;
            }
            found = &knob;
        }
    }
    return found;
}

} // namespace

std::optional<Constraint::Operand> Constraint::operand(const std::string& text,
                                                       const std::vector<Axis>& axes,
                                                       const scenarios::Scenario& scenario,
                                                       std::string& error) {
    Operand operand;
    std::string ignored;
    if (const auto number = scenarios::parse_integer(text, {}, ignored)) {
        operand.constant = *number;
        return operand;
    }
    const Axis named = axis_of(text);
    const auto parameter =
        std::ranges::find(scenario.parameters, named.name, &scenarios::Parameter::name);
    if (parameter != scenario.parameters.end()) {
        operand.parameter = static_cast<std::size_t>(parameter - scenario.parameters.begin());
        return operand;
    }
    if (named.kind == AxisKind::knob) {
        const models::Knob* knob = models::find_knob(named.name);
        operand.knob = knob != nullptr ? knob : knob_by_end(named.name, axes);
    }
    if (operand.knob == nullptr) {
        std::vector<std::string> names;
        for (const auto& known : scenario.parameters) {
            names.push_back(known.name);
        }
        for (const std::string_view known : models::knob_names()) {
            names.emplace_back(known);
        }
        error = fmt::format("\"{}\" is no number, parameter or knob", text);
        if (const auto near = scenarios::did_you_mean(text, names)) {
            error += fmt::format("; did you mean \"{}\"?", *near);
        }
        return std::nullopt;
    }
    if (operand.knob->type != models::KnobType::integer) {
        error = fmt::format("{} is no number, so it cannot be compared", operand.knob->name);
        return std::nullopt;
    }
    return operand;
}

std::optional<Constraint> Constraint::parse(const std::string& text, const std::vector<Axis>& axes,
                                            const scenarios::Scenario& scenario,
                                            std::string& error) {
    for (const Operator& row : operators) {
        const std::size_t at = text.find(row.text);
        if (at == std::string::npos) {
            continue;
        }
        Constraint constraint;
        constraint.text_ = text;
        constraint.compare_ = row.compare;
        const auto left = operand(trimmed(text.substr(0, at)), axes, scenario, error);
        const auto right =
            left ? operand(trimmed(text.substr(at + row.text.size())), axes, scenario, error)
                 : std::nullopt;
        if (!right) {
            return std::nullopt;
        }
        constraint.left_ = *left;
        constraint.right_ = *right;
        return constraint;
    }
    error = fmt::format("must compare two numbers, such as \"limit <= slots\"; got \"{}\"", text);
    return std::nullopt;
}

std::int64_t Constraint::Operand::value(const models::Design& design,
                                        const scenarios::Scenario& scenario) const {
    if (knob != nullptr) {
        return knob->get(design);
    }
    return parameter ? scenario.parameters.at(*parameter).value : constant;
}

bool Constraint::holds(const models::Design& design, const scenarios::Scenario& scenario) const {
    return compare_(left_.value(design, scenario), right_.value(design, scenario));
}

} // namespace uringsim::analysis
