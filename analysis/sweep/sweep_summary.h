#pragma once

#include "analysis/sweep/row_format.h"
#include "analysis/sweep/sweep_plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis {

/// What the rows of a sweep say together, from one pass over them: marginals of each axis, a heat
/// map of two, and axes that changed nothing. Its size depends on the axes, not on the runs.
class SweepSummary {
  public:
    /// `phase`: the index of the phase whose time is summed up. `map`: the two groups of axes that
    /// the heat map shows; nothing: the first two that move,
    /// knobs and parameters before others.
    SweepSummary(const SweepPlan& plan, std::size_t phase,
                 std::optional<std::pair<std::size_t, std::size_t>> map);

    /// Takes in one row; each point once.
    void add(const SweepPoint& point, const RowFigures& figures);

    /// Axes whose values made no difference: in every pair of runs that differ in that axis by one
    /// step and in nothing else, all that was measured is the same, to the cycle.
    std::vector<std::string> idle_axes() const;

    std::string to_text() const;

    /// Rows of runs that stopped with an error.
    std::uint64_t stopped() const { return stopped_; }

  private:
    struct Cell {
        std::uint64_t runs = 0;
        double sum_ns = 0;
        double min_ns = 0;
        double max_ns = 0;
        double sum_retained = 0;

        void add(double ns, double retained);
    };
    /// Sums of outcomes over pairs of neighbours: equal where each pair is.
    struct Step {
        std::uint64_t lower = 0;
        std::uint64_t upper = 0;
        std::uint64_t pairs = 0;
    };

    void compare_neighbours(const SweepPoint& point, std::uint64_t outcome);
    std::size_t place(const SweepPoint& point, std::size_t group) const;
    std::string group_label(std::size_t group) const;
    std::string value_label(std::size_t group, std::size_t value) const;
    std::string map_text() const;
    std::vector<std::size_t> moving_groups() const;

    const SweepPlan& plan_;
    std::size_t phase_;
    std::optional<std::pair<std::size_t, std::size_t>> map_groups_;
    std::vector<std::vector<Cell>> marginals_; ///< by group and value
    std::vector<std::vector<Step>> steps_;     ///< by group, from each value to the next
    std::vector<Cell> map_;
    std::uint64_t rows_ = 0;
    std::uint64_t stopped_ = 0;
};

} // namespace uringsim::analysis
