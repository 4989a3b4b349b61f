#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>

namespace uringsim::analysis {

/// "done/total, rate, time left" on one line of standard error, rewritten a few times a second; says
/// nothing where that is no terminal or `wanted` is false.
class Progress {
  public:
    /// `before` of `total` are done already and do not count for the rate.
    Progress(std::ostream& err, bool wanted, std::uint64_t total, std::uint64_t before);

    /// One more is done.
    void step();
    /// Ends the line.
    void finish();

    /// The line, for `done` of `total` after `seconds` for those that count.
    static std::string line(std::uint64_t done, std::uint64_t total, std::uint64_t before,
                            double seconds);

  private:
    using Clock = std::chrono::steady_clock;

    std::ostream& err_;
    bool shown_;
    std::uint64_t total_;
    std::uint64_t before_;
    std::uint64_t done_;
    Clock::time_point started_;
    Clock::time_point last_;
    bool written_ = false;
};

} // namespace uringsim::analysis
