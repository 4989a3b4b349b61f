#include "scenarios/strict_json.h"

#include "scenarios/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace uringsim::scenarios {

using namespace json_text;

namespace {

/// One diagnostic is one line, whatever a key, a file name or an option holds.
std::string without_control_characters(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7F)
            result += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
        else
            result += c;
    }
    return result;
}

} // namespace

// --- Diagnostics ---

std::string Diagnostic::to_string() const {
    std::string result = file;
    if (at.line != 0)
        result += fmt::format(":{}:{}", at.line, at.column);
    if (!pointer.empty())
        result += ": " + pointer;
    return without_control_characters(result + ": " + message);
}

std::vector<Diagnostic> Diagnostics::sorted() const {
    std::map<std::string_view, std::size_t> rank;
    for (const Diagnostic& diagnostic : all_)
        rank.try_emplace(diagnostic.file, rank.size());
    std::vector<Diagnostic> result = all_;
    std::stable_sort(result.begin(), result.end(), [&](const Diagnostic& a, const Diagnostic& b) {
        return std::pair(rank[a.file], a.at) < std::pair(rank[b.file], b.at);
    });
    return result;
}

std::string Diagnostics::to_string() const {
    std::string result;
    for (const Diagnostic& diagnostic : sorted())
        result += diagnostic.to_string() + '\n';
    return result;
}

// --- JsonNode ---

std::string_view type_name(JsonType type) {
    switch (type) {
    case JsonType::null:
        return "null";
    case JsonType::boolean:
        return "a boolean";
    case JsonType::number:
        return "a number";
    case JsonType::string:
        return "a string";
    case JsonType::array:
        return "an array";
    case JsonType::object:
        return "an object";
    }
    return "";
}

const JsonNode* JsonNode::find(std::string_view key) const {
    if (!is_object())
        return nullptr;
    for (const JsonNode& member : children_) {
        if (member.key_ == key)
            return &member;
    }
    return nullptr;
}

void JsonNode::report(std::string message, Diagnostics& diagnostics) const {
    diagnostics.add({file(), position_, pointer_, std::move(message)});
}

void JsonNode::report_key(std::string message, Diagnostics& diagnostics) const {
    diagnostics.add({file(), key_position_, pointer_, std::move(message)});
}

std::string JsonNode::describe() const {
    switch (type_) {
    case JsonType::boolean:
        return boolean_ ? "true" : "false";
    case JsonType::number:
        return shortened(text_);
    case JsonType::string:
        return "the string " + in_quotes(text_);
    default:
        return std::string(type_name(type_));
    }
}

} // namespace uringsim::scenarios
