#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::models {

/// "-ENFILE" for -23; "5" for 5.
std::string result_name(int result);

/// -23 for "-ENFILE"; nothing where there is no such error.
std::optional<int> find_errno(std::string_view name);

/// The names that find_errno knows, each with its minus sign.
std::vector<std::string_view> errno_names();

} // namespace uringsim::models
