#pragma once

#include "analysis/published.h"
#include "scenarios/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis {

/// How people read numbers. Nothing here depends on the locale.

/// Five significant digits or a little more: 12345, 1234.5, 119.42, 6.97.
std::string short_number(double value);

/// The same with a sign, also for 0 ("+0.00").
std::string signed_number(double value);

/// "+8.5 %", "-0.1 %".
std::string signed_percent(double value);

/// The shortest text that reads back as the same number.
std::string exact_number(double value);

/// A published figure's value with its unit: "119.42 ns", "+8.5 %", "4096".
std::string metric_text(Metric metric, double value);

/// How far a simulated value is off: "+0.5 %"; for a change "-0.3 pt"; for a count the difference.
std::string error_text(Metric metric, double error);

/// "4096 bytes", or "32.0 KiB" and so on above 10 KiB.
std::string bytes_text(std::uint64_t bytes);

/// "1 row", "2 rows".
std::string counted(std::uint64_t number, std::string_view noun);

/// "slots 4096, batch 64".
std::string settings_text(const std::vector<scenarios::Setting>& settings);

/// Sixteen hexadecimal digits.
std::string fingerprint_text(std::uint64_t fingerprint);

/// How the rounds of a phase scatter.
struct RoundStatistics {
    double min_cycles = 0;
    double median_cycles = 0;
    double max_cycles = 0;
    double cv_percent = 0; ///< standard deviation of the sample, in percent of the mean
};

RoundStatistics statistics(const scenarios::PhaseResult& phase);

} // namespace uringsim::analysis
