#pragma once

#include <optional>
#include <string>

namespace uringsim::analysis::native {

/// Where the trace events are described. Mounts tracefs for this process alone where nobody has
/// (the mount goes with the process); call it before any thread starts. Nothing, with the reason in
/// `why`, where that is not possible.
std::optional<std::string> tracefs_root(std::string& why);

/// The first line of a small file; empty where it cannot be read.
std::string read_first_line(const std::string& path);

} // namespace uringsim::analysis::native
