#include "analysis/export/latency.h"

#include "analysis/export/numbers.h"

#include <fmt/format.h>

namespace uringsim::analysis {

namespace {

std::string title() {
    return fmt::format("latency in ns (log-linear buckets: percentiles within {:.1f} %)",
                       sim::Histogram::error_percent);
}

} // namespace

Section latency_section(const scenarios::Result& result) {
    std::vector<Column> columns{{"", Align::left}};
    for (const scenarios::LatencyResult& latency : result.latencies) {
        columns.push_back({latency.name});
    }
    Table table(columns);
    const auto add_row = [&](std::string_view name, const auto& value_of) {
        std::vector<std::string> row{std::string(name)};
        for (const scenarios::LatencyResult& latency : result.latencies) {
            row.push_back(value_of(latency.histogram));
        }
        table.add_row(row);
    };
    using sim::Histogram;
    add_row("messages", [](const Histogram& h) { return fmt::format("{}", h.count()); });
    add_row("min", [](const Histogram& h) { return fmt::format("{}", h.min()); });
    for (const Percentile& percentile : percentiles) {
        add_row(percentile.key, [&](const Histogram& h) {
            return fmt::format("{}", h.percentile(percentile.millipercent));
        });
    }
    add_row("max", [](const Histogram& h) { return fmt::format("{}", h.max()); });
    add_row("mean", [](const Histogram& h) { return short_number(h.mean()); });
    return {title(), std::move(table), {}};
}

Section compared_latency(const std::vector<const scenarios::Result*>& results) {
    constexpr std::uint32_t median = 50000;
    constexpr std::uint32_t p99 = 99000;
    Table table({{"latency", Align::left},
                 {"design", Align::left},
                 {"messages"},
                 {"p50"},
                 {"p99"},
                 {"max"},
                 {"p50 times faster"}});
    const std::size_t histograms = results.front()->latencies.size();
    for (std::size_t i = 0; i < histograms; ++i) {
        const double base =
            static_cast<double>(results.front()->latencies[i].histogram.percentile(median));
        for (const scenarios::Result* result : results) {
            const scenarios::LatencyResult& latency = result->latencies[i];
            const std::uint64_t own = latency.histogram.percentile(median);
            const std::string factor =
                own > 0 ? fmt::format("{:.2f}", base / static_cast<double>(own)) : "";
            table.add_row({latency.name, result->design,
                           fmt::format("{}", latency.histogram.count()), fmt::format("{}", own),
                           fmt::format("{}", latency.histogram.percentile(p99)),
                           fmt::format("{}", latency.histogram.max()), factor});
        }
    }
    return {title(), std::move(table), {}};
}

} // namespace uringsim::analysis
