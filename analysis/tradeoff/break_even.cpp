#include "analysis/tradeoff/break_even.h"

namespace uringsim::analysis {

BreakEven find_break_even(const Difference& difference, std::int64_t first, std::int64_t last) {
    BreakEven found;
    const auto second_wins = [&](std::int64_t value) {
        ++found.evaluations;
        return difference(value) < 0;
    };
    std::vector<std::int64_t> grid{first};
    for (std::int64_t power = 1; power < last && power > 0; power *= 2) {
        if (power > first) {
            grid.push_back(power);
        }
    }
    if (last > first) {
        grid.push_back(last);
    }
    bool before = second_wins(first);
    found.second_wins_at_start = before;
    for (std::size_t i = 1; i < grid.size(); ++i) {
        const bool after = second_wins(grid[i]);
        if (after != before) {
            std::int64_t low = grid[i - 1];
            std::int64_t high = grid[i];
            while (high - low > 1) {
                const std::int64_t middle = low + (high - low) / 2;
                (second_wins(middle) == before ? low : high) = middle;
            }
            found.crossings.push_back({low, high, after});
        }
        before = after;
    }
    found.second_wins_at_end = before;
    return found;
}

} // namespace uringsim::analysis
