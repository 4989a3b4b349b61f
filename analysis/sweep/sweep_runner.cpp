#include "analysis/sweep/sweep_runner.h"

#include "scenarios/replay.h"

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
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
    bool failed = false;
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
        for (unsigned i = 1; i < jobs; ++i) {
            helpers.emplace_back([this] { work(); });
        }
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
            row.failed = true;
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
        outcome_.failed += row.failed ? 1 : 0;
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
    SweepOutcome outcome_;
    std::exception_ptr failure_;
};

} // namespace

SweepOutcome run_sweep(const RowFormat& format, PointWalk& walk, unsigned jobs,
                       const SweepHooks& hooks) {
    return Runner(format, walk, jobs, hooks).run(jobs);
}

} // namespace uringsim::analysis
