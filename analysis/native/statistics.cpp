#include "analysis/native/statistics.h"

#include <algorithm>

namespace uringsim::analysis::native {

namespace {

/// A process whose undisturbed rounds are fewer than this share of all has all of them counted.
constexpr double least_good_share = 0.25;

std::vector<double> null_calls(const Record& record) {
    std::vector<double> values;
    for (const Round& round : record.rounds) {
        if (round.null_ns > 0) {
            values.push_back(round.null_ns);
        }
    }
    return values;
}

double smallest_null(std::span<const Record> processes) {
    double smallest = 0;
    for (const Record& record : processes) {
        for (const double value : null_calls(record)) {
            smallest = smallest == 0 ? value : std::min(smallest, value);
        }
    }
    return smallest;
}

/// The rounds of a phase that are used.
struct Chosen {
    std::vector<double> ns;
    std::vector<double> ratio; ///< to the round's own null call

    void add(const Round& round) {
        ns.push_back(static_cast<double>(round.ns));
        if (round.null_ns > 0) {
            ratio.push_back(ns.back() / round.null_ns);
        }
    }
};

/// Preempted rounds are left out where enough others are there. Slow ones stay: their own null
/// call, slow as well, takes the slowness out.
Chosen choose(const Record& record, std::size_t phase, double smallest, PhaseTimes& times) {
    Chosen good;
    Chosen all;
    for (const Round& round : record.rounds) {
        if (round.phase != phase) {
            continue;
        }
        ++times.rounds;
        times.preempted += round.switched ? 1 : 0;
        times.slow += round.null_ns > slow_factor * smallest ? 1 : 0;
        all.add(round);
        if (!round.switched) {
            good.add(round);
        }
    }
    const auto enough = least_good_share * static_cast<double>(all.ns.size());
    if (static_cast<double>(good.ns.size()) >= enough) {
        return good;
    }
    times.flagged_used = true;
    return all;
}

} // namespace

double median(std::vector<double> values) {
    if (values.empty()) {
        return 0;
    }
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double half_range_percent(const std::vector<double>& values) {
    if (values.size() < 2) {
        return 0;
    }
    const auto [low, high] = std::ranges::minmax(values);
    const double middle = median(values);
    return middle == 0 ? 0 : 50 * (high - low) / middle;
}

double reference_null(std::span<const Record> processes) {
    double smallest = 0;
    for (const Record& record : processes) {
        const double value = median(null_calls(record));
        if (value > 0) {
            smallest = smallest == 0 ? value : std::min(smallest, value);
        }
    }
    return smallest;
}

PhaseTimes phase_times(std::span<const Record> processes, std::size_t phase,
                       double reference_null_ns) {
    PhaseTimes times;
    times.null_ns = reference_null_ns > 0 ? reference_null_ns : reference_null(processes);
    const double smallest = smallest_null(processes);
    std::vector<double> medians;
    std::vector<double> normalised;
    for (const Record& record : processes) {
        const Chosen chosen = choose(record, phase, smallest, times);
        if (chosen.ns.empty()) {
            continue;
        }
        const double least = *std::ranges::min_element(chosen.ns);
        times.minimum = medians.empty() ? least : std::min(times.minimum, least);
        medians.push_back(median(chosen.ns));
        normalised.push_back(chosen.ratio.empty() ? medians.back()
                                                  : median(chosen.ratio) * times.null_ns);
    }
    times.median = median(medians);
    times.normalised_median = median(normalised);
    times.spread_percent = half_range_percent(normalised);
    return times;
}

} // namespace uringsim::analysis::native
