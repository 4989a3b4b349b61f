#include "analysis/canonical_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace uringsim::analysis {

namespace {

constexpr std::size_t line_columns = 100;
constexpr std::size_t level = 2;

std::string json_string(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

JsonText JsonText::number(double value) {
    JsonText text(Kind::scalar);
    text.text_ = fmt::format("{}", value);
    return text;
}

JsonText JsonText::string(std::string_view value) {
    JsonText text(Kind::scalar);
    text.text_ = json_string(value);
    return text;
}

JsonText JsonText::copy(const scenarios::JsonNode& node) {
    if (node.is_array() || node.is_object()) {
        JsonText text(node.is_array() ? Kind::array : Kind::object);
        for (const scenarios::JsonNode& child : node.children()) {
            text.children_.emplace_back(child.key(), copy(child));
        }
        return text;
    }
    JsonText text(Kind::scalar);
    if (node.is_string()) {
        text.text_ = json_string(node.text());
    } else if (node.is_number()) {
        text.text_ = node.text();
    } else {
        text.text_ = node.is_null() ? "null" : node.boolean() ? "true" : "false";
    }
    return text;
}

void JsonText::set(std::string_view key, JsonText value) {
    set_before(key, std::move(value), "");
}

void JsonText::set_before(std::string_view key, JsonText value, std::string_view next) {
    const auto with_key = [this](std::string_view wanted) {
        return std::ranges::find_if(children_,
                                    [&](const auto& child) { return child.first == wanted; });
    };
    if (const auto found = with_key(key); found != children_.end()) {
        found->second = std::move(value);
    } else {
        children_.emplace(next.empty() ? children_.end() : with_key(next), std::string(key),
                          std::move(value));
    }
}

const JsonText* JsonText::find(std::string_view key) const {
    const auto found =
        std::ranges::find_if(children_, [&](const auto& child) { return child.first == key; });
    return found == children_.end() ? nullptr : &found->second;
}

bool JsonText::is_plain() const {
    return std::ranges::all_of(
        children_, [](const auto& child) { return child.second.kind_ == Kind::scalar; });
}

std::string JsonText::one_line() const {
    if (kind_ == Kind::scalar) {
        return text_;
    }
    std::string inside;
    for (const auto& [key, value] : children_) {
        inside += inside.empty() ? "" : ", ";
        inside += kind_ == Kind::object ? json_string(key) + ": " : "";
        inside += value.one_line();
    }
    if (kind_ == Kind::array) {
        return '[' + inside + ']';
    }
    return inside.empty() ? "{}" : "{ " + inside + " }";
}

std::string JsonText::laid_out(std::size_t indent, std::size_t used) const {
    if (kind_ == Kind::scalar || children_.empty()) {
        return one_line();
    }
    if (is_plain()) {
        std::string line = one_line();
        if (indent > 0 && used + line.size() + 1 <= line_columns) {
            return line;
        }
    }
    const std::string blanks(indent + level, ' ');
    std::string text;
    for (const auto& [key, value] : children_) {
        const std::string name = kind_ == Kind::object ? json_string(key) + ": " : "";
        text += text.empty() ? "\n" : ",\n";
        text += blanks + name;
        text += value.laid_out(indent + level, blanks.size() + name.size());
    }
    const char* const ends = kind_ == Kind::array ? "[]" : "{}";
    return ends[0] + text + '\n' + std::string(indent, ' ') + ends[1];
}

std::string JsonText::to_string() const {
    return laid_out(0, 0) + '\n';
}

} // namespace uringsim::analysis
