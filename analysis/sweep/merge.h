#pragma once

#include "analysis/output_file.h"

#include <string>
#include <vector>

namespace uringsim::analysis {

/// Gives the rows of all files to `sink` in the order of their indices, holding one row a file.
/// False, with `error` set, unless together they are all rows of one sweep, each once.
bool merge_rows(const std::vector<std::string>& files, const TextSink& sink, std::string& error);

} // namespace uringsim::analysis
