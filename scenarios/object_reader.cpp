#include "scenarios/json_text.h"
#include "scenarios/strict_json.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::scenarios {

using namespace json_text;

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

const JsonNode* ObjectReader::optional(std::string_view key) {
    allow(key);
    return node_.find(key);
}

const JsonNode* ObjectReader::required(std::string_view key) {
    const JsonNode* member = optional(key);
    if (member == nullptr && node_.is_object())
        node_.report(fmt::format("the key {} is missing", in_quotes(key)), diagnostics_);
    return member;
}

std::optional<std::int64_t> ObjectReader::integer(std::string_view key, const IntegerRange& range) {
    const JsonNode* member = required(key);
    return member != nullptr ? get_integer(*member, range, diagnostics_) : std::nullopt;
}

std::optional<std::uint64_t> ObjectReader::unsigned_integer(std::string_view key,
                                                            const UnsignedRange& range) {
    const JsonNode* member = required(key);
    return member != nullptr ? get_unsigned(*member, range, diagnostics_) : std::nullopt;
}

std::optional<double> ObjectReader::number(std::string_view key, const NumberRange& range) {
    const JsonNode* member = required(key);
    return member != nullptr ? get_number(*member, range, diagnostics_) : std::nullopt;
}

std::optional<bool> ObjectReader::boolean(std::string_view key) {
    const JsonNode* member = required(key);
    return member != nullptr ? get_boolean(*member, diagnostics_) : std::nullopt;
}

std::optional<std::string> ObjectReader::string(std::string_view key) {
    const JsonNode* member = required(key);
    return member != nullptr ? get_string(*member, diagnostics_) : std::nullopt;
}

std::optional<std::string> ObjectReader::name(std::string_view key) {
    const JsonNode* member = required(key);
    return member != nullptr ? get_name(*member, diagnostics_) : std::nullopt;
}

std::optional<std::size_t> ObjectReader::choice(std::string_view key,
                                                std::span<const std::string_view> allowed) {
    const JsonNode* member = required(key);
    return member != nullptr ? get_choice(*member, allowed, diagnostics_) : std::nullopt;
}

const JsonNode* ObjectReader::array(std::string_view key, std::size_t min_items) {
    const JsonNode* member = required(key);
    return member != nullptr ? get_array(*member, diagnostics_, min_items) : nullptr;
}

const JsonNode* ObjectReader::object(std::string_view key) {
    const JsonNode* member = required(key);
    return member != nullptr ? get_object(*member, diagnostics_) : nullptr;
}

std::int64_t ObjectReader::integer_or(std::string_view key, const IntegerRange& range,
                                      std::int64_t fallback) {
    const JsonNode* member = optional(key);
    return member != nullptr ? get_integer(*member, range, diagnostics_).value_or(fallback)
                             : fallback;
}

std::uint64_t ObjectReader::unsigned_integer_or(std::string_view key, const UnsignedRange& range,
                                                std::uint64_t fallback) {
    const JsonNode* member = optional(key);
    return member != nullptr ? get_unsigned(*member, range, diagnostics_).value_or(fallback)
                             : fallback;
}

double ObjectReader::number_or(std::string_view key, const NumberRange& range, double fallback) {
    const JsonNode* member = optional(key);
    return member != nullptr ? get_number(*member, range, diagnostics_).value_or(fallback)
                             : fallback;
}

bool ObjectReader::boolean_or(std::string_view key, bool fallback) {
    const JsonNode* member = optional(key);
    return member != nullptr ? get_boolean(*member, diagnostics_).value_or(fallback) : fallback;
}

std::string ObjectReader::string_or(std::string_view key, std::string fallback) {
    const JsonNode* member = optional(key);
    return member != nullptr ? get_string(*member, diagnostics_).value_or(std::move(fallback))
                             : fallback;
}

std::size_t ObjectReader::choice_or(std::string_view key, std::span<const std::string_view> allowed,
                                    std::size_t fallback) {
    const JsonNode* member = optional(key);
    return member != nullptr ? get_choice(*member, allowed, diagnostics_).value_or(fallback)
                             : fallback;
}

const JsonNode* ObjectReader::optional_array(std::string_view key, std::size_t min_items) {
    const JsonNode* member = optional(key);
    return member != nullptr ? get_array(*member, diagnostics_, min_items) : nullptr;
}

const JsonNode* ObjectReader::optional_object(std::string_view key) {
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
