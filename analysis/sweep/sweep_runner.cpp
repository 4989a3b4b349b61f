#include "analysis/sweep/sweep_runner.h"

#include "scenarios/replay.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace uringsim::analysis {

namespace {

constexpr std::uint64_t window_per_job = 64;

/// A row that waits for those before it.
struct ReadyRow {
    SweepPoint point;
    std::string line;
    RowFigures figures;
    bool reused = false;
};

class Runner {
  public:
    Runner(const RowFormat& format, PointWalk& walk, unsigned jobs, const SweepHooks& hooks)
        : format_(format)
        , walk_(walk)
        , hooks_(hooks)
        , window_(window_per_job * jobs) {}

    SweepOutcome run(unsigned jobs) {
        std::vector<std::thread> helpers;
        start(helpers, jobs - 1);
        work();
        for (std::thread& helper : helpers) {
            helper.join();
        }
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        return outcome_;
    }

  private:
    /// Starts helpers, who begin when all are there. Where the system does not give so many, half
    /// of those that it gave are sent home: it has come to a limit, and the runs need memory, too.
    void start(std::vector<std::thread>& helpers, unsigned wanted) {
        unsigned working = wanted;
        try {
            helpers.reserve(wanted);
            while (helpers.size() < wanted) {
                helpers.emplace_back([this, place = static_cast<unsigned>(helpers.size())] {
                    if (may_begin(place)) {
                        work();
                    }
                });
            }
        } catch (const std::exception&) { // std::system_error or std::bad_alloc
            working = static_cast<unsigned>(helpers.size() / 2);
        }
        outcome_.threads = working + 1;
        tell(working, false);
        while (helpers.size() > working) { // their stacks are there until they are joined
            helpers.back().join();
            helpers.pop_back();
        }
        tell(working, true);
    }

    void tell(unsigned working, bool begin) {
        const std::lock_guard guard(mutex_);
        working_ = working;
        begin_ = begin;
        room_.notify_all();
    }

    /// Waits until it is known who works; whether the helper of this place is among them.
    bool may_begin(unsigned place) {
        std::unique_lock lock(mutex_);
        room_.wait(lock, [&] { return begin_ || (working_ && place >= *working_); });
        return place < *working_;
    }

    void work() {
        try {
            std::uint64_t place = 0;
            while (auto row = take(place)) {
                if (!row->reused) {
                    simulate(*row);
                }
                row->figures = format_.parse(std::string_view(row->line)
                                                 .substr(0, row->line.size() - 1))
                                   .value_or(ParsedRow{})
                                   .figures;
                deliver(place, *std::move(row));
            }
        } catch (...) {
            const std::lock_guard guard(mutex_);
            failure_ = failure_ ? failure_ : std::current_exception();
            ended_ = true;
            room_.notify_all();
        }
    }

    /// The next point; `place` is its place in the walk. Waits while too many rows are held back.
    std::optional<ReadyRow> take(std::uint64_t& place) {
        std::unique_lock lock(mutex_);
        room_.wait(lock, [this] { return ended_ || taken_ < next_to_write_ + window_; });
        if (ended_) {
            return std::nullopt;
        }
        if (hooks_.stop()) {
            outcome_.interrupted = true;
            ended_ = true;
            return std::nullopt;
        }
        auto point = walk_.next();
        if (!point) {
            ended_ = true;
            return std::nullopt;
        }
        ReadyRow row;
        if (auto line = hooks_.known(*point)) {
            row.line = *std::move(line);
            row.reused = true;
        }
        row.point = *std::move(point);
        place = taken_++;
        return row;
    }

    void simulate(ReadyRow& row) const {
        try {
            const auto result = scenarios::replay(*row.point.scenario, row.point.design,
                                                  *row.point.machine);
            row.line = format_.line(row.point, result);
        } catch (const scenarios::RunError& error) {
            row.line = format_.line(row.point, error.what());
        }
    }

    void deliver(std::uint64_t place, ReadyRow row) {
        const std::lock_guard guard(mutex_);
        ready_.emplace(place, std::move(row));
        while (!ready_.empty() && ready_.begin()->first == next_to_write_) {
            write(ready_.begin()->second);
            ready_.erase(ready_.begin());
            ++next_to_write_;
        }
        room_.notify_all();
    }

    void write(const ReadyRow& row) {
        if (!outcome_.write_error.empty()) {
            return;
        }
        if (!hooks_.write(row.line, outcome_.write_error)) {
            ended_ = true;
            return;
        }
        ++outcome_.written;
        outcome_.reused += row.reused ? 1 : 0;
        hooks_.written(row.point, row.figures);
    }

    const RowFormat& format_;
    PointWalk& walk_;
    const SweepHooks& hooks_;
    std::uint64_t window_;

    std::mutex mutex_;
    std::condition_variable room_;
    std::map<std::uint64_t, ReadyRow> ready_;
    std::uint64_t taken_ = 0;
    std::uint64_t next_to_write_ = 0;
    bool ended_ = false;
    std::optional<unsigned> working_; ///< helpers that work, once it is known
    bool begin_ = false;
    SweepOutcome outcome_;
    std::exception_ptr failure_;
};

} // namespace

SweepOutcome run_sweep(const RowFormat& format, PointWalk& walk, unsigned jobs,
                       const SweepHooks& hooks) {
    const std::uint64_t useful = std::max<std::uint64_t>(walk.left(), 1);
    const auto threads = static_cast<unsigned>(std::min<std::uint64_t>(jobs, useful));
    return Runner(format, walk, threads, hooks).run(threads);
}

} // namespace uringsim::analysis
