#pragma once

#include "analysis/library.h"
#include "scenarios/strict_json.h"

#include <filesystem>
#include <optional>
#include <string>

namespace uringsim::analysis {

/// A file that is in order.
struct CheckedFile {
    FileKind kind = FileKind::scenario;
    std::string name;
};

/// Tells what kind of file this is by its keys and reads it as strictly as a run would; a scenario
/// together with the design and the machine that it names. Nothing after reporting.
std::optional<CheckedFile> check_file(const Library& library, const std::filesystem::path& path,
                                      scenarios::Diagnostics& diagnostics);

} // namespace uringsim::analysis
