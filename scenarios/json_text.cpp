#include "scenarios/json_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace uringsim::scenarios::json_text {

namespace {

constexpr std::size_t longest_quote = 60; // bytes of a value repeated in a message

} // namespace

std::string shortened(std::string_view text) {
    if (text.size() <= longest_quote)
        return std::string(text);
    std::size_t end = longest_quote;
    while (end > 0 && is_continuation(text[end]))
        --end;
    return std::string(text.substr(0, end)) + "...";
}

std::string in_quotes(std::string_view text) {
    return nlohmann::json(shortened(text))
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string list_of(std::span<const std::string> names) {
    std::string result;
    for (const std::string& name : names)
        result += (result.empty() ? "" : ", ") + in_quotes(name);
    return result;
}

std::string suggestion(const std::optional<std::string>& meant) {
    return meant ? fmt::format("; did you mean {}?", in_quotes(*meant)) : std::string();
}

} // namespace uringsim::scenarios::json_text
