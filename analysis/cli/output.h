#pragma once

#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/export/exporter.h"
#include "analysis/output_file.h"
#include "scenarios/strict_json.h"

#include <memory>
#include <optional>
#include <string>

namespace uringsim::analysis {

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
