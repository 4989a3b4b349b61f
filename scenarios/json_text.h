#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The wording that the parts of the strict JSON layer share.
namespace uringsim::scenarios::json_text {

inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
inline bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
/// A byte that a number may hold.
inline bool is_number_byte(char c) {
    return is_digit(c) || c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E';
}
/// A byte of a UTF-8 sequence that is not its first.
inline bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// At most 60 bytes of a value, for a message.
std::string shortened(std::string_view text);

/// As a JSON string: control characters and quotes escaped, invalid UTF-8 replaced, shortened.
std::string in_quotes(std::string_view text);

/// "a", "b", "c"
std::string list_of(std::span<const std::string> names);

/// `; did you mean "x"?`, or nothing.
std::string suggestion(const std::optional<std::string>& meant);

} // namespace uringsim::scenarios::json_text
