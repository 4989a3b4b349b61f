#pragma once

#include "analysis/native/native.h"

#include <string>
#include <vector>

namespace uringsim::analysis::native {

/// The formats of native runs, as of simulated ones.
std::string report_text(const NativeRun& run);
std::string report_markdown(const NativeRun& run);
std::string report_json(const NativeRun& run);
std::string report_csv(const NativeRun& run);

/// "text", "json", "csv" or "markdown": the names that export_formats() has.
std::string report(const NativeRun& run, const std::string& format);

/// What a host is, a line a fact.
std::vector<std::string> host_facts(const Host& host);

} // namespace uringsim::analysis::native
