#pragma once

#include "analysis/compare.h"
#include "analysis/export/table.h"
#include "analysis/run.h"
#include "analysis/sensitivity.h"
#include "analysis/validate.h"

#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis {

/// A part of a report: a title, then a table, then lines.
struct Section {
    std::string title;
    std::optional<Table> table;
    std::vector<std::string> lines;
};

/// What people read about a run or a comparison, before it is laid out.
struct Document {
    std::string title;
    std::vector<std::string> facts;
    std::vector<Section> sections;
};

Document describe(const Run& run);
Document describe(const Comparison& comparison);
Document describe(const Validation& validation);
Document describe(const Sensitivity& sensitivity);

/// A document laid out in at most text_columns columns. Ends with a newline.
std::string to_text(const Document& document);

/// A document as GitHub's Markdown. Ends with a newline.
std::string to_markdown(const Document& document);

} // namespace uringsim::analysis
