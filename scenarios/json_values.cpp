#include "scenarios/json_text.h"
#include "scenarios/strict_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace uringsim::scenarios {

using namespace json_text;

// --- What is allowed ---

namespace {

/// "(unit)" and ", or ..." as they follow a range.
std::string range_suffix(const std::string& unit, const std::string& alternative) {
    std::string result;
    if (!unit.empty())
        result += " (" + unit + ")";
    if (!alternative.empty())
        result += ", or " + alternative;
    return result;
}

} // namespace

std::string IntegerRange::to_string() const {
    return fmt::format("a whole number from {} to {}{}", min, max, range_suffix(unit, alternative));
}

std::string UnsignedRange::to_string() const {
    return fmt::format("a whole number from {} to {}{}", min, max, range_suffix(unit, alternative));
}

std::string NumberRange::to_string() const {
    const bool below = std::isfinite(max);
    std::string result = "a number";
    if (std::isfinite(min) && below && !min_excluded)
        result += fmt::format(" from {} to {}", min, max);
    else if (std::isfinite(min))
        result += fmt::format(" {} {}", min_excluded ? "above" : "of at least", min);
    if (below && (min_excluded || !std::isfinite(min)))
        result += fmt::format(" {} {}", std::isfinite(min) ? "and at most" : "of at most", max);
    return result + range_suffix(unit, alternative);
}

// --- Values given as text ---

namespace {

std::string must_be(std::string_view allowed, std::string_view got) {
    return fmt::format("must be {}; got {}", allowed, got);
}

/// Numbers, also malformed ones, read better without quotes.
std::string describe_text(std::string_view text) {
    const bool bare = !text.empty() && std::all_of(text.begin(), text.end(), is_number_byte);
    return bare ? shortened(text) : in_quotes(text);
}

bool is_json_number(std::string_view text) {
    if (text.empty() || !std::all_of(text.begin(), text.end(), is_number_byte))
        return false;
    try {
        return nlohmann::json::parse(text).is_number();
    } catch (const nlohmann::json::out_of_range&) {
        return true; // well-formed, but beyond the range of a double
    } catch (const nlohmann::json::exception&) {
        return false;
    }
}

template <typename Number>
std::optional<Number> converted(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// What `text` would be if whole numbers could be written as 1e3, 2.0, +5, 007, 65_536 or " 5".
template <typename Integer>
std::optional<Integer> meant_integer(std::string_view text) {
    std::string clean(text);
    std::erase_if(clean, [](char c) { return c == '_' || is_blank(c); });
    // Blanks inside are no slip of the pen: two numbers, perhaps.
    if (text.find_first_of(" \t\n\r", text.find_first_not_of(" \t\n\r")) <
        text.find_last_not_of(" \t\n\r"))
        return std::nullopt;
    if (clean.starts_with('+'))
        clean.erase(0, 1);
    const std::size_t zeros = clean.find_first_not_of('0');
    if (zeros != clean.npos && zeros > 0 && is_digit(clean[zeros]))
        clean.erase(0, zeros);
    if (!is_json_number(clean))
        return std::nullopt;
    if (const auto exact = converted<Integer>(clean))
        return exact;
    constexpr double exactly_representable = 9007199254740992.0; // 2^53
    const auto value = converted<double>(clean);
    if (!value || std::floor(*value) != *value || std::abs(*value) > exactly_representable)
        return std::nullopt;
    return converted<Integer>(fmt::format("{:.0f}", *value));
}

template <typename Integer, typename Range>
std::optional<Integer> parse_whole(std::string_view text, const Range& range, std::string& error) {
    if (is_json_number(text)) {
        const auto value = converted<Integer>(text);
        if (value && *value >= range.min && *value <= range.max)
            return value;
    }
    error = must_be(range.to_string(), describe_text(text));
    const auto meant = meant_integer<Integer>(text);
    if (meant && *meant >= range.min && *meant <= range.max)
        error += suggestion(std::to_string(*meant));
    return std::nullopt;
}

} // namespace

std::optional<std::int64_t> parse_integer(std::string_view text, const IntegerRange& range,
                                          std::string& error) {
    return parse_whole<std::int64_t>(text, range, error);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text, const UnsignedRange& range,
                                            std::string& error) {
    return parse_whole<std::uint64_t>(text, range, error);
}

std::optional<double> parse_number(std::string_view text, const NumberRange& range,
                                   std::string& error) {
    const bool is_number = is_json_number(text);
    const auto value = is_number ? converted<double>(text) : std::nullopt;
    const bool enough = value && (range.min_excluded ? *value > range.min : *value >= range.min);
    if (enough && *value <= range.max)
        return value;
    error = must_be(range.to_string(), describe_text(text));
    if (is_number && !value)
        error += ", which is beyond the range of a double";
    return std::nullopt;
}

std::optional<bool> parse_boolean(std::string_view text, std::string& error) {
    if (text == "true" || text == "false")
        return text == "true";
    static constexpr std::array<std::string_view, 2> literals{"true", "false"};
    error = must_be("true or false", in_quotes(text)) + suggestion(did_you_mean(text, literals));
    return std::nullopt;
}

namespace {

std::string one_of(std::span<const std::string_view> allowed) {
    const std::vector<std::string> names(allowed.begin(), allowed.end());
    return (names.size() > 1 ? "one of " : "") + list_of(names);
}

} // namespace

std::optional<std::size_t>
parse_choice(std::string_view text, std::span<const std::string_view> allowed, std::string& error) {
    const auto found = std::find(allowed.begin(), allowed.end(), text);
    if (found != allowed.end())
        return static_cast<std::size_t>(found - allowed.begin());
    error = must_be(one_of(allowed), in_quotes(text)) + suggestion(did_you_mean(text, allowed));
    return std::nullopt;
}

// --- Values of a file ---

namespace {

/// Judges a node of type `type` by its text; `parse` is one of the functions above, its range
/// bound.
template <typename Parse>
auto get_as(const JsonNode& node, JsonType type, const std::string& allowed,
            Diagnostics& diagnostics, Parse parse)
    -> decltype(parse(std::string_view(), std::declval<std::string&>())) {
    std::string error;
    if (node.type() == type) {
        auto value = parse(node.text(), error);
        if (!value)
            node.report(std::move(error), diagnostics);
        return value;
    }
    std::string message = must_be(allowed, node.describe());
    if (node.is_string() && parse(node.text(), error))
        message += "; write it without the quotes";
    node.report(std::move(message), diagnostics);
    return std::nullopt;
}

} // namespace

std::optional<std::int64_t> get_integer(const JsonNode& node, const IntegerRange& range,
                                        Diagnostics& diagnostics) {
    return get_as(node, JsonType::number, range.to_string(), diagnostics,
                  [&](std::string_view text, std::string& error) {
                      return parse_integer(text, range, error);
                  });
}

std::optional<std::uint64_t> get_unsigned(const JsonNode& node, const UnsignedRange& range,
                                          Diagnostics& diagnostics) {
    return get_as(node, JsonType::number, range.to_string(), diagnostics,
                  [&](std::string_view text, std::string& error) {
                      return parse_unsigned(text, range, error);
                  });
}

std::optional<double> get_number(const JsonNode& node, const NumberRange& range,
                                 Diagnostics& diagnostics) {
    return get_as(node, JsonType::number, range.to_string(), diagnostics,
                  [&](std::string_view text, std::string& error) {
                      return parse_number(text, range, error);
                  });
}

std::optional<bool> get_boolean(const JsonNode& node, Diagnostics& diagnostics) {
    if (node.is_boolean())
        return node.boolean();
    // Never a boolean here, so this only words the error.
    return get_as(node, JsonType::boolean, "true or false", diagnostics, parse_boolean);
}

std::optional<std::string> get_string(const JsonNode& node, Diagnostics& diagnostics) {
    if (node.is_string())
        return node.text();
    node.report(must_be("a string", node.describe()), diagnostics);
    return std::nullopt;
}

std::optional<std::string> get_name(const JsonNode& node, Diagnostics& diagnostics) {
    if (node.is_string() && !node.text().empty())
        return node.text();
    node.report(must_be("a string that is not empty", node.describe()), diagnostics);
    return std::nullopt;
}

std::optional<std::size_t> get_choice(const JsonNode& node,
                                      std::span<const std::string_view> allowed,
                                      Diagnostics& diagnostics) {
    return get_as(node, JsonType::string, one_of(allowed), diagnostics,
                  [&](std::string_view text, std::string& error) {
                      return parse_choice(text, allowed, error);
                  });
}

const JsonNode* get_array(const JsonNode& node, Diagnostics& diagnostics, std::size_t min_items) {
    if (node.is_array() && node.children().size() >= min_items)
        return &node;
    std::string allowed = "an array";
    if (min_items > 0)
        allowed += fmt::format(" of at least {} item{}", min_items, min_items == 1 ? "" : "s");
    const std::string got =
        node.is_array() ? fmt::format("{}", node.children().size()) : node.describe();
    node.report(must_be(allowed, got), diagnostics);
    return nullptr;
}

const JsonNode* get_object(const JsonNode& node, Diagnostics& diagnostics) {
    if (node.is_object())
        return &node;
    node.report(must_be("an object", node.describe()), diagnostics);
    return nullptr;
}

} // namespace uringsim::scenarios
