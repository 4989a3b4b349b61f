#pragma once

#include "analysis/sweep/row_format.h"
#include "analysis/sweep/sweep_plan.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace uringsim::analysis {

/// How the runner speaks to its surroundings. All are called by one thread at a time.
struct SweepHooks {
    /// Writes whole lines, in order; false, with the reason, where that fails.
    std::function<bool(std::string_view lines, std::string& error)> write;
    /// A row that is there already for a key, with the index and number of runs of this sweep.
    std::function<std::optional<std::string>(const SweepPoint& point)> known;
    /// A row was written.
    std::function<void(const SweepPoint& point, const RowFigures& figures)> written;
    /// True where the sweep shall end after what is being run.
    std::function<bool()> stop;
};

struct SweepOutcome {
    std::uint64_t written = 0; ///< rows
    std::uint64_t reused = 0;  ///< of those, known before
    unsigned threads = 1;      ///< that ran; fewer than asked for where the system gave no more
    bool interrupted = false;
    std::string write_error; ///< empty unless writing failed
};

/// Runs what is left of a walk in `jobs` threads, or in as many as there are runs or as the system
/// gives, and writes the rows in the order of the walk, so that the bytes do not depend on `jobs`.
/// At most a window of rows is held back for a slow one.
SweepOutcome run_sweep(const RowFormat& format, PointWalk& walk, unsigned jobs,
                       const SweepHooks& hooks);

} // namespace uringsim::analysis
