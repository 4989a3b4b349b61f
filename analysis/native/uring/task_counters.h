#pragma once

#include "analysis/native/record.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace uringsim::analysis::native {

/// What the program counts by itself, exactly.
struct ProgramCounts {
    std::uint64_t enters = 0;
    std::uint64_t cqe_reaped = 0;
    std::uint64_t errors_counted = 0;
    std::uint64_t files_installed = 0;
    std::uint64_t files_removed = 0;
    std::uint64_t rings_created = 0;
};

/// Counts kernel events of the calling thread with perf_event_open: tracepoints with a filter on
/// their call site and, where asked for, kprobes. Nothing but a kprobe outlives the process. Where
/// events cannot be had, only the program's own counts are there; absent() says why.
class TaskCounters {
  public:
    /// `end_empty_table` registers a table without files and unregisters it.
    TaskCounters(bool kernel_probes, const std::function<void()>& end_empty_table);
    TaskCounters(const TaskCounters&) = delete;
    TaskCounters& operator=(const TaskCounters&) = delete;
    ~TaskCounters();

    const std::vector<std::string>& names() const { return names_; }
    const std::vector<Absence>& absent() const { return absent_; }

    /// The counts up to now, one a name.
    void read(const ProgramCounts& own, std::vector<std::uint64_t>& counts) const;

  private:
    struct Event {
        int fd = -1;
        std::size_t counter = 0; ///< index into names_
    };
    void open_all(bool kernel_probes, const std::function<void()>& end_empty_table);

    std::vector<std::string> names_;
    std::vector<Absence> absent_;
    std::vector<Event> events_;
};

} // namespace uringsim::analysis::native
