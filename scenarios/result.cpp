#include "scenarios/result.h"

#include <algorithm>
#include <numeric>

namespace uringsim::scenarios {

sim::Cycles PhaseResult::total_cycles() const {
    return std::accumulate(cycles_by_round.begin(), cycles_by_round.end(), sim::Cycles{0});
}

double PhaseResult::mean_cycles() const {
    if (cycles_by_round.empty()) {
        return 0;
    }
    return static_cast<double>(total_cycles()) / static_cast<double>(cycles_by_round.size());
}

const PhaseResult* Result::find_phase(const std::string& name) const {
    const auto found = std::ranges::find(phases, name, &PhaseResult::name);
    return found == phases.end() ? nullptr : &*found;
}

std::uint64_t counter_value(const CounterValues& counters, const std::string& name) {
    for (const auto& [counter, value] : counters) {
        if (counter == name) {
            return value;
        }
    }
    return 0;
}

} // namespace uringsim::scenarios
