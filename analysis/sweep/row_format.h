#pragma once

#include "analysis/sweep/sweep_plan.h"
#include "scenarios/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis {

/// What a summary needs of one row.
struct RowFigures {
    std::uint64_t outcome = 0;            ///< hash of all that was measured; equal: the same run
    std::vector<double> ns_per_operation; ///< by phase of the scenario; empty where the run stopped
    double retained_bytes = 0;
};

/// A row that was read back.
struct ParsedRow {
    std::uint64_t index = 0;
    std::uint64_t runs = 0; ///< of the whole sweep
    std::string key;
    RowFigures figures;
};

/// How a run is written as one line, and read back. The same run gives the same bytes always.
class RowFormat {
  public:
    virtual ~RowFormat() = default;

    /// The first line of the file, with its newline; empty where there is none.
    virtual std::string header() const = 0;

    /// One line with its newline: a run that is done, or that stopped with `error`.
    virtual std::string line(const SweepPoint& point, const scenarios::Result& result) const = 0;
    virtual std::string line(const SweepPoint& point, const std::string& error) const = 0;

    /// Reads a line, without its newline. Nothing where it is no row of this format.
    virtual std::optional<ParsedRow> parse(std::string_view line) const = 0;
};

/// JSON Lines: an object a row. `plan` must outlive it.
std::unique_ptr<RowFormat> make_jsonl_format(const SweepPlan& plan);
/// Comma-separated values: units in the header, a cell a figure. `plan` must outlive it.
std::unique_ptr<RowFormat> make_csv_format(const SweepPlan& plan);

/// "index" and "runs" of a line of either format; nothing where it is neither.
struct RowPlace {
    std::uint64_t index = 0;
    std::uint64_t runs = 0;
};
std::optional<RowPlace> jsonl_place(std::string_view line);
std::optional<RowPlace> csv_place(std::string_view line);

/// How a key is written.
std::string key_text(std::uint64_t key);

} // namespace uringsim::analysis
