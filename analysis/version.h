#pragma once

#include <string_view>

namespace uringsim::analysis {

/// The version of the program, as results carry it.
std::string_view version();

} // namespace uringsim::analysis
