#include "analysis/cli/progress.h"

#include <fmt/format.h>

#include <unistd.h>

namespace uringsim::analysis {

namespace {

std::string duration_text(double seconds) {
    const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
    constexpr std::uint64_t minute = 60;
    constexpr std::uint64_t hour = 60 * minute;
    return fmt::format("{}:{:02}:{:02}", whole / hour, whole / minute % 60, whole % minute);
}

} // namespace

Progress::Progress(std::ostream& err, bool wanted, std::uint64_t total, std::uint64_t before)
    : err_(err)
    , shown_(wanted && ::isatty(STDERR_FILENO) == 1)
    , total_(total)
    , before_(before)
    , done_(before)
    , started_(Clock::now())
    , last_(started_) {}

std::string Progress::line(std::uint64_t done, std::uint64_t total, std::uint64_t before,
                           double seconds) {
    const double rate = seconds > 0 ? static_cast<double>(done - before) / seconds : 0;
    const std::string left =
        rate > 0 ? duration_text(static_cast<double>(total - done) / rate) : "?";
    return fmt::format("{}/{} runs, {:.1f} runs/s, {} left", done, total, rate, left);
}

void Progress::step() {
    ++done_;
    if (!shown_) {
        return;
    }
    const Clock::time_point now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(200)) {
        return;
    }
    last_ = now;
    written_ = true;
    err_ << "\r\x1b[K"
         << line(done_, total_, before_, std::chrono::duration<double>(now - started_).count())
         << std::flush;
}

void Progress::finish() {
    if (written_) {
        err_ << "\r\x1b[K" << std::flush;
    }
}

} // namespace uringsim::analysis
