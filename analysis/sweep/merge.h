#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis {

/// Takes text; false, with the reason, where it cannot.
using TextSink = std::function<bool(std::string_view text, std::string& error)>;

/// Gives the rows of all files to `sink` in the order of their indices, holding one row a file.
/// False, with `error` set, unless together they are all rows of one sweep, each once.
bool merge_rows(const std::vector<std::string>& files, const TextSink& sink, std::string& error);

/// The same into a file, which takes its name only when it is complete.
bool merge_to_file(const std::vector<std::string>& files, const std::string& path,
                   std::string& error);

} // namespace uringsim::analysis
