#include "analysis/export/exporter.h"

#include <algorithm>
#include <array>

namespace uringsim::analysis {

namespace {

constexpr std::array formats{
    ExportFormat{"text", "tables of at most 80 columns, for people", &make_text_exporter},
    ExportFormat{"json", "everything, for programs", &make_json_exporter},
    ExportFormat{"csv", "one row a metric of a phase, for spreadsheets", &make_csv_exporter},
    ExportFormat{"markdown", "the tables of text, for web pages", &make_markdown_exporter},
};

} // namespace

std::span<const ExportFormat> export_formats() {
    return formats;
}

std::vector<std::string_view> export_format_names() {
    std::vector<std::string_view> names(formats.size());
    std::ranges::transform(formats, names.begin(), &ExportFormat::name);
    return names;
}

} // namespace uringsim::analysis
