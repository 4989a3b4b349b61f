#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace uringsim::scenarios {

/// The candidate that `given` was most likely meant to be, or nothing if none is near.
///
/// Near means a Damerau-Levenshtein distance (insertions, deletions, substitutions and swaps of
/// neighbours; no piece of the text edited twice) of at most max(1, given.size() / 3), and less
/// than the length of the longer of the two, so that two words with nothing in common never match.
/// Letters are compared without regard to case, and '-' equals '_'. Of equally near candidates the
/// first wins. Works on bytes; the names compared here are ASCII.
std::optional<std::string> did_you_mean(std::string_view given,
                                        std::span<const std::string_view> candidates);
std::optional<std::string> did_you_mean(std::string_view given,
                                        std::span<const std::string> candidates);

} // namespace uringsim::scenarios
