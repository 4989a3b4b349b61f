#pragma once

#include "analysis/compare.h"
#include "analysis/run.h"
#include "analysis/sensitivity.h"
#include "analysis/validate.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis {

/// Writes results in one format. The same input gives the same bytes, whatever the compiler, the
/// locale and the host.
///
/// To add a format: a file in analysis/export/ with a class and a function that makes it, and a
/// line in exporter.cpp.
class Exporter {
  public:
    Exporter() = default;
    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;
    virtual ~Exporter() = default;

    /// One run. Ends with a newline.
    virtual std::string to_string(const Run& run) const = 0;

    /// One scenario on several designs. Ends with a newline.
    virtual std::string to_string(const Comparison& comparison) const = 0;

    /// Published figures beside simulated ones. Ends with a newline.
    virtual std::string to_string(const Validation& validation) const = 0;

    /// What published conclusions hang on. Ends with a newline.
    virtual std::string to_string(const Sensitivity& sensitivity) const = 0;
};

std::unique_ptr<Exporter> make_text_exporter();
std::unique_ptr<Exporter> make_json_exporter();
std::unique_ptr<Exporter> make_csv_exporter();
std::unique_ptr<Exporter> make_markdown_exporter();

/// One row of the table that declares the formats.
struct ExportFormat {
    std::string_view name;
    std::string_view help;
    std::unique_ptr<Exporter> (*make)();
};

std::span<const ExportFormat> export_formats();

/// Names of all formats, in the order of the table.
std::vector<std::string_view> export_format_names();

} // namespace uringsim::analysis
