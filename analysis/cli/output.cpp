#include "analysis/cli/output.h"

#include "analysis/cli/cli.h"

#include <fmt/format.h>

namespace uringsim::analysis {

std::optional<ResultWriter> ResultWriter::open(const Options& options,
                                               scenarios::Diagnostics& diagnostics) {
    ResultWriter writer;
    std::string error;
    const auto index = scenarios::parse_choice(options.get("format").value_or("text"),
                                               export_format_names(), error);
    if (index) {
        writer.exporter_ = export_formats()[*index].make();
    } else {
        diagnostics.add_option("--format", error);
    }
    if (const auto path = options.get("output"); path && *path != "-") {
        writer.path_ = *path;
        writer.file_ = OutputFile::open(*path, error);
        if (!writer.file_) {
            diagnostics.add_option("--output " + *path, "cannot be written: " + error);
            return std::nullopt;
        }
    }
    return index ? std::optional(std::move(writer)) : std::nullopt;
}

int ResultWriter::write(const std::string& text, const Invocation& invocation) const {
    if (!file_) {
        invocation.out << text;
        return exit_status::done;
    }
    std::string error;
    if (!file_->write(text, error)) {
        invocation.err << "uringsim: " << path_ << " cannot be written: " << error << '\n';
        return exit_status::failed;
    }
    return exit_status::done;
}

} // namespace uringsim::analysis
