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
    std::vector<double> ns_per_operation; ///< by phase of the scenario; empty where it stopped
    double retained_bytes = 0;
    bool stopped = false; ///< with an error
};

/// Which row of which sweep a line is.
struct RowPlace {
    std::uint64_t index = 0;
    std::uint64_t runs = 0;  ///< of the whole sweep
    std::uint64_t sweep = 0; ///< SweepPlan::hash()

    /// Whether both are rows of one sweep.
    bool is_beside(const RowPlace& other) const {
        return runs == other.runs && sweep == other.sweep;
    }
    bool operator==(const RowPlace&) const = default;
};

/// A row that was read back.
struct ParsedRow {
    RowPlace place;
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

    /// What every line of a point starts with: its place and its key.
    virtual std::string start_of(const RowPlace& place, std::uint64_t key) const = 0;
};

/// JSON Lines: an object a row. `plan` must outlive it.
std::unique_ptr<RowFormat> make_jsonl_format(const SweepPlan& plan);
/// Comma-separated values: units in the header, a cell a figure. `plan` must outlive it.
std::unique_ptr<RowFormat> make_csv_format(const SweepPlan& plan);

/// The place of a line of either format; nothing where it is no row.
std::optional<RowPlace> jsonl_place(std::string_view line);
std::optional<RowPlace> csv_place(std::string_view line);

/// What the header of any sweep's CSV starts with.
inline constexpr std::string_view csv_header_start = "index,runs,sweep,key,";

/// The place of a point of a plan.
RowPlace place_of(const SweepPoint& point, const SweepPlan& plan);

/// How a key or the hash of a sweep is written.
std::string key_text(std::uint64_t key);

} // namespace uringsim::analysis
