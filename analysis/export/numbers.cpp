#include "analysis/export/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace uringsim::analysis {

namespace {

int decimals(double value) {
    const double size = std::abs(value);
    if (size >= 9999.95) {
        return 0;
    }
    return size >= 999.995 ? 1 : 2;
}

} // namespace

std::string short_number(double value) {
    return fmt::format("{:.{}f}", value, decimals(value));
}

std::string signed_number(double value) {
    const std::string text = fmt::format("{:+.{}f}", value, decimals(value));
    return text == "-0.00" ? "+0.00" : text;
}

std::string signed_percent(double value) {
    const std::string text = fmt::format("{:+.1f} %", value);
    return text == "-0.0 %" ? "+0.0 %" : text;
}

std::string metric_text(Metric metric, double value) {
    switch (metric) {
    case Metric::latency:
    case Metric::ns_per_operation:
        return short_number(value) + " ns";
    case Metric::us:
        return short_number(value) + " us";
    case Metric::percent:
        return signed_percent(value);
    case Metric::per_second:
        return fmt::format("{:.0f}/s", value);
    case Metric::operations:
    case Metric::counter:
    case Metric::counter_per_round:
    case Metric::snapshot:
    case Metric::memory:
        break;
    }
    return exact_number(value);
}

std::string error_text(Metric metric, double error) {
    if (is_exact(metric)) {
        return error == 0 ? "exact" : fmt::format("{:+}", error);
    }
    return metric == Metric::percent ? fmt::format("{:+.1f} pt", error) : signed_percent(error);
}

std::string exact_number(double value) {
    return fmt::format("{}", value);
}

std::string bytes_text(std::uint64_t bytes) {
    constexpr double step = 1024;
    constexpr std::uint64_t shown_whole = 10240;
    if (bytes < shown_whole) {
        return counted(bytes, "byte");
    }
    double size = static_cast<double>(bytes) / step;
    const char* unit = "KiB";
    for (const char* next : {"MiB", "GiB", "TiB"}) {
        if (size >= step) {
            size /= step;
            unit = next;
        }
    }
    return fmt::format("{:.1f} {}", size, unit);
}

std::string counted(std::uint64_t number, std::string_view noun) {
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string settings_text(const std::vector<scenarios::Setting>& settings) {
    std::string text;
    for (const scenarios::Setting& setting : settings) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", setting.name, setting.value);
    }
    return text;
}

std::string fingerprint_text(std::uint64_t fingerprint) {
    return fmt::format("{:016x}", fingerprint);
}

RoundStatistics statistics(const scenarios::PhaseResult& phase) {
    std::vector<sim::Cycles> rounds = phase.cycles_by_round;
    if (rounds.empty()) {
        return {};
    }
    std::ranges::sort(rounds);
    const std::size_t count = rounds.size();
    RoundStatistics result;
    result.min_cycles = static_cast<double>(rounds.front());
    result.max_cycles = static_cast<double>(rounds.back());
    result.median_cycles =
        (static_cast<double>(rounds[(count - 1) / 2]) + static_cast<double>(rounds[count / 2])) / 2;
    const double mean = phase.mean_cycles();
    double squares = 0;
    for (const sim::Cycles round : rounds) {
        const double off = static_cast<double>(round) - mean;
        squares += off * off;
    }
    if (count > 1 && mean != 0) {
        result.cv_percent = std::sqrt(squares / static_cast<double>(count - 1)) / mean * 100.0;
    }
    return result;
}

} // namespace uringsim::analysis
