#include "scenarios/json_text.h"
#include "scenarios/key_shape.h"
#include "scenarios/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

namespace uringsim::scenarios {

using namespace json_text;

namespace {

KeyShape shape_of(std::span<const std::string_view> allowed) {
    return shape_of_choice(allowed);
}

KeyShape shape_of(std::string_view type) {
    return shape_of_type(type);
}

/// A value as JSON writes it.
template <class Value> std::string json_of(const Value& value) {
    if constexpr (std::is_same_v<Value, std::string_view>) {
        return in_quotes(value);
    } else {
        return fmt::format("{}", value); // numbers; true and false
    }
}

KeyShape array_shape(std::size_t min_items) {
    KeyShape shape = shape_of_type("array");
    shape.min_items = min_items;
    return shape;
}

} // namespace

ObjectReader::ObjectReader(const JsonNode& node, Diagnostics& diagnostics)
    : node_(node)
    , diagnostics_(diagnostics)
    , reported_before_(diagnostics.size()) {
    get_object(node, diagnostics);
}

ObjectReader::~ObjectReader() {
    finish();
}

void ObjectReader::allow(std::string_view key) {
    if (std::find(allowed_.begin(), allowed_.end(), key) == allowed_.end())
        allowed_.emplace_back(key);
}

void ObjectReader::describe(std::string_view key, const KeyShape& shape) const {
    if (is_observed()) {
        diagnostics_.observer()->asked(node_, key, shape);
    }
}

// A shape is only made where somebody wants to know it.

template <class Allowed>
void ObjectReader::note_required(std::string_view key, const Allowed& allowed) const {
    if (is_observed()) {
        KeyShape shape = shape_of(allowed);
        shape.required = true;
        describe(key, shape);
    }
}

template <class Value, class Allowed>
void ObjectReader::note_fallback(std::string_view key, const Value& fallback,
                                 const Allowed& allowed) const {
    if (is_observed()) {
        KeyShape shape = shape_of(allowed);
        shape.fallback = json_of(fallback);
        describe(key, shape);
    }
}

void ObjectReader::ignore(std::string_view key) {
    allow(key);
    if (is_observed()) {
        describe(key, {});
    }
}

const JsonNode* ObjectReader::optional(std::string_view key) {
    allow(key);
    if (is_observed()) {
        describe(key, {});
    }
    return node_.find(key);
}

const JsonNode* ObjectReader::required(std::string_view key) {
    const JsonNode* member = optional(key);
    if (is_observed()) {
        KeyShape shape;
        shape.required = true;
        describe(key, shape);
    }
    if (member == nullptr && node_.is_object())
        node_.report(fmt::format("the key {} is missing", in_quotes(key)), diagnostics_);
    return member;
}

std::optional<std::int64_t> ObjectReader::integer(std::string_view key, const IntegerRange& range) {
    note_required(key, range);
    const JsonNode* member = required(key);
    return member != nullptr ? get_integer(*member, range, diagnostics_) : std::nullopt;
}

std::optional<std::uint64_t> ObjectReader::unsigned_integer(std::string_view key,
                                                            const UnsignedRange& range) {
    note_required(key, range);
    const JsonNode* member = required(key);
    return member != nullptr ? get_unsigned(*member, range, diagnostics_) : std::nullopt;
}

std::optional<double> ObjectReader::number(std::string_view key, const NumberRange& range) {
    note_required(key, range);
    const JsonNode* member = required(key);
    return member != nullptr ? get_number(*member, range, diagnostics_) : std::nullopt;
}

std::optional<bool> ObjectReader::boolean(std::string_view key) {
    note_required(key, std::string_view("boolean"));
    const JsonNode* member = required(key);
    return member != nullptr ? get_boolean(*member, diagnostics_) : std::nullopt;
}

std::optional<std::string> ObjectReader::string(std::string_view key) {
    note_required(key, std::string_view("string"));
    const JsonNode* member = required(key);
    return member != nullptr ? get_string(*member, diagnostics_) : std::nullopt;
}

std::optional<std::string> ObjectReader::name(std::string_view key) {
    note_required(key, std::string_view("string"));
    const JsonNode* member = required(key);
    return member != nullptr ? get_name(*member, diagnostics_) : std::nullopt;
}

std::optional<std::size_t> ObjectReader::choice(std::string_view key,
                                                std::span<const std::string_view> allowed) {
    note_required(key, allowed);
    const JsonNode* member = required(key);
    return member != nullptr ? get_choice(*member, allowed, diagnostics_) : std::nullopt;
}

const JsonNode* ObjectReader::array(std::string_view key, std::size_t min_items) {
    if (is_observed()) {
        describe(key, array_shape(min_items));
    }
    const JsonNode* member = required(key);
    return member != nullptr ? get_array(*member, diagnostics_, min_items) : nullptr;
}

const JsonNode* ObjectReader::object(std::string_view key) {
    note_required(key, std::string_view("object"));
    const JsonNode* member = required(key);
    return member != nullptr ? get_object(*member, diagnostics_) : nullptr;
}

std::int64_t ObjectReader::integer_or(std::string_view key, const IntegerRange& range,
                                      std::int64_t fallback) {
    note_fallback(key, fallback, range);
    const JsonNode* member = optional(key);
    return member != nullptr ? get_integer(*member, range, diagnostics_).value_or(fallback)
                             : fallback;
}

std::uint64_t ObjectReader::unsigned_integer_or(std::string_view key, const UnsignedRange& range,
                                                std::uint64_t fallback) {
    note_fallback(key, fallback, range);
    const JsonNode* member = optional(key);
    return member != nullptr ? get_unsigned(*member, range, diagnostics_).value_or(fallback)
                             : fallback;
}

double ObjectReader::number_or(std::string_view key, const NumberRange& range, double fallback) {
    note_fallback(key, fallback, range);
    const JsonNode* member = optional(key);
    return member != nullptr ? get_number(*member, range, diagnostics_).value_or(fallback)
                             : fallback;
}

bool ObjectReader::boolean_or(std::string_view key, bool fallback) {
    note_fallback(key, fallback, std::string_view("boolean"));
    const JsonNode* member = optional(key);
    return member != nullptr ? get_boolean(*member, diagnostics_).value_or(fallback) : fallback;
}

std::string ObjectReader::string_or(std::string_view key, std::string fallback) {
    note_fallback(key, std::string_view(fallback), std::string_view("string"));
    const JsonNode* member = optional(key);
    return member != nullptr ? get_string(*member, diagnostics_).value_or(std::move(fallback))
                             : fallback;
}

std::size_t ObjectReader::choice_or(std::string_view key, std::span<const std::string_view> allowed,
                                    std::size_t fallback) {
    note_fallback(key, allowed[fallback], allowed);
    const JsonNode* member = optional(key);
    return member != nullptr ? get_choice(*member, allowed, diagnostics_).value_or(fallback)
                             : fallback;
}

const JsonNode* ObjectReader::optional_array(std::string_view key, std::size_t min_items) {
    if (is_observed()) {
        describe(key, array_shape(min_items));
    }
    const JsonNode* member = optional(key);
    return member != nullptr ? get_array(*member, diagnostics_, min_items) : nullptr;
}

const JsonNode* ObjectReader::optional_object(std::string_view key) {
    if (is_observed()) {
        describe(key, shape_of_type("object"));
    }
    const JsonNode* member = optional(key);
    return member != nullptr ? get_object(*member, diagnostics_) : nullptr;
}

void ObjectReader::report_unknown(const JsonNode& member) {
    const std::string& key = member.key();
    const std::string allowed =
        allowed_.empty() ? "no keys are allowed here" : "allowed: " + list_of(allowed_);
    member.report_key(
        fmt::format("unknown key {}; {}{}", in_quotes(key), allowed,
                    suggestion(did_you_mean(key, std::span<const std::string>(allowed_)))),
        diagnostics_);
}

bool ObjectReader::finish() {
    if (!finished_ && node_.is_object()) {
        for (const JsonNode& member : node_.children()) {
            const bool known =
                std::find(allowed_.begin(), allowed_.end(), member.key()) != allowed_.end();
            // A second member of that name has been reported as a duplicate.
            if (!known && node_.find(member.key()) == &member)
                report_unknown(member);
        }
    }
    finished_ = true;
    return diagnostics_.size() == reported_before_;
}

} // namespace uringsim::scenarios
