#pragma once

#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/export/exporter.h"
#include "scenarios/strict_json.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace uringsim::analysis {

/// A file that is written whole or not at all: to a temporary file beside it, which then takes its
/// name. A device or a pipe is written to as it is.
class OutputFile {
  public:
    /// Tries the path, by making and removing a temporary file, so that a long run does not end at
    /// a misspelt folder. Nothing, with `error` set, where it cannot be written.
    static std::optional<OutputFile> open(const std::string& path, std::string& error);

    /// False, with `error` set and the file as it was, where it could not be written.
    bool write(std::string_view text, std::string& error) const;

  private:
    OutputFile(std::filesystem::path path, bool replaced)
        : path_(std::move(path))
        , replaced_(replaced) {}

    std::filesystem::path path_; ///< symbolic links followed
    bool replaced_;              ///< by renaming; else written in place
};

/// Where and how a result is written, as --format and --output say.
class ResultWriter {
  public:
    /// Nothing after reporting.
    static std::optional<ResultWriter> open(const Options& options,
                                            scenarios::Diagnostics& diagnostics);

    const Exporter& exporter() const { return *exporter_; }

    /// Writes to the file or to standard output. Returns the exit status.
    int write(const std::string& text, const Invocation& invocation) const;

  private:
    std::unique_ptr<Exporter> exporter_;
    std::string path_;
    std::optional<OutputFile> file_; ///< nothing: standard output
};

} // namespace uringsim::analysis
