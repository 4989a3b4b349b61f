#include "analysis/tradeoff/break_even.h"

namespace uringsim::analysis {

namespace {

/// Walks from `from` by `step` while fewer than `neighbours` values in a row have `winner`, within
/// first..last. Returns the last value seen that has the other one; `none` if all agree.
template <class SecondWins>
std::int64_t last_other(const SecondWins& second_wins, bool winner, std::int64_t from,
                        std::int64_t step, std::int64_t first, std::int64_t last,
                        std::int64_t neighbours, std::int64_t none) {
    std::int64_t other = none;
    std::int64_t agreeing = 0;
    for (std::int64_t at = from; at >= first && at <= last && agreeing < neighbours; at += step) {
        const bool agrees = second_wins(at) == winner;
        agreeing = agrees ? agreeing + 1 : 0;
        other = agrees ? other : at;
    }
    return other;
}

} // namespace

BreakEven find_break_even(const Difference& difference, std::int64_t first, std::int64_t last,
                          std::int64_t neighbours) {
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
            WinnerChange crossing{low, high, after, high, high};
            crossing.unsteady_from = last_other(second_wins, before, low - 1, -1, grid[i - 1], last,
                                                neighbours, high);
            crossing.settled = last_other(second_wins, after, high + 1, 1, first, grid[i],
                                          neighbours, low) +
                               1;
            found.crossings.push_back(crossing);
        }
        before = after;
    }
    found.second_wins_at_end = before;
    return found;
}

} // namespace uringsim::analysis
