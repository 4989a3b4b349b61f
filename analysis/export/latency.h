#pragma once

#include "analysis/export/document.h"
#include "scenarios/result.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace uringsim::analysis {

/// A percentile as results name it, and as sim::Histogram takes it.
struct Percentile {
    std::string_view key;
    std::uint32_t millipercent;
};

/// The percentiles that fio prints by default.
inline constexpr std::array<Percentile, 17> percentiles{{{"p1", 1000},
                                                         {"p5", 5000},
                                                         {"p10", 10000},
                                                         {"p20", 20000},
                                                         {"p30", 30000},
                                                         {"p40", 40000},
                                                         {"p50", 50000},
                                                         {"p60", 60000},
                                                         {"p70", 70000},
                                                         {"p80", 80000},
                                                         {"p90", 90000},
                                                         {"p95", 95000},
                                                         {"p99", 99000},
                                                         {"p99.5", 99500},
                                                         {"p99.9", 99900},
                                                         {"p99.95", 99950},
                                                         {"p99.99", 99990}}};

/// The percentiles of all histograms of a run, side by side.
Section latency_section(const scenarios::Result& result);

/// The medians and tails of several runs, a row a histogram and design.
Section compared_latency(const std::vector<const scenarios::Result*>& results);

} // namespace uringsim::analysis
