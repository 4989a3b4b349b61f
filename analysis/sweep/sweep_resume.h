#pragma once

#include "analysis/sweep/row_file.h"
#include "analysis/sweep/row_format.h"
#include "analysis/sweep/sweep_plan.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace uringsim::analysis {

/// What an earlier, unfinished sweep left in its file. The rows that are in place stay where they
/// are; rows that come later in this sweep (one was deleted, or an axis grew) are moved to a file
/// beside it, `OUT.kept`, before anything is cut off, and are taken from there by their key.
///
/// Nothing is lost that this sweep does not write again: a file with rows of another sweep or
/// shard, or with something else in it, is refused and stays as it is. Only the last line may be
/// incomplete.
class ResumeState {
  public:
    using Written = std::function<void(const SweepPoint&, const RowFigures&)>;

    /// Reads the file, moves `walk` behind the rows that are in place, tells `written` of each, and
    /// leaves the file ready to append to. `walk` has to be at its start. Nothing, with `error` set
    /// and the file as it was, where the file is no sweep's or another's.
    static std::optional<ResumeState> read(RowFile& file, const RowFormat& format,
                                           const SweepPlan& plan, PointWalk& walk,
                                           const Written& written, std::string& error);

    /// Rows in place.
    std::uint64_t rows() const { return rows_; }

    /// The row of a point that was kept, placed for this sweep.
    std::optional<std::string> find(const SweepPoint& point, const SweepPlan& plan) const;

    /// The sweep is complete: no rows beside its file are needed any more.
    static void finish(const std::string& path);

  private:
    /// Reads the kept rows beside the file, of this resume or of an earlier one that did not end.
    void load_kept(const std::string& path, const RowFormat& format);

    const RowFormat* format_ = nullptr;
    std::uint64_t rows_ = 0;
    std::map<std::string, std::uint64_t> kept_; ///< by key: where the line starts
    std::shared_ptr<LineReader> reader_;
};

} // namespace uringsim::analysis
