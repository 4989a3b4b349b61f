#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace uringsim::analysis {

/// Takes text; false, with the reason, where it cannot.
using TextSink = std::function<bool(std::string_view text, std::string& error)>;

/// Writes all it has to a sink; false, with the reason, where it or the sink cannot.
using TextSource = std::function<bool(const TextSink& sink, std::string& error)>;

/// A file that is written whole or not at all: to a temporary file beside it, which then takes its
/// name. A device or a pipe is written to as it is.
class OutputFile {
  public:
    /// Tries the path, by making and removing a temporary file, so that a long run does not end at
    /// a misspelt folder. Nothing, with `error` set, where it cannot be written.
    static std::optional<OutputFile> open(const std::string& path, std::string& error);

    /// False, with `error` set and the file as it was, where it could not be written.
    bool write(std::string_view text, std::string& error) const;
    /// The same with what `source` writes, piece by piece: a file larger than memory. Where the
    /// source gives up the file is as it was, too, unless it is a device or a pipe.
    bool write_from(const TextSource& source, std::string& error) const;

  private:
    OutputFile(std::filesystem::path path, bool replaced)
        : path_(std::move(path))
        , replaced_(replaced) {}

    std::filesystem::path path_; ///< symbolic links followed
    bool replaced_;              ///< by renaming; else written in place
};

} // namespace uringsim::analysis
