#pragma once

#include "analysis/tradeoff/break_even.h"
#include "analysis/tradeoff/workload.h"
#include "models/machine.h"
#include "sim/cycles.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uringsim::analysis {

/// Reports where a workload with two designs cannot be run on both, at either end of a range.
void check_range(const Library& library, const PlannedWorkload& planned,
                 const BreakEvenRange& range, scenarios::Diagnostics& diagnostics);

/// Two designs on one workload over a range of one parameter or knob: which of them is cheaper where.
class Duel {
  public:
    /// `planned`: a workload with exactly two designs; it must outlive this, and so must `library`.
    /// Throws scenarios::RunError where one of them makes no sense.
    Duel(const Library& library, const PlannedWorkload& planned, BreakEvenRange range);

    /// Bisects; on another machine than the workload's without looking at the neighbours. Throws
    /// scenarios::RunError where a value cannot be run on both designs.
    BreakEven find(const models::Machine* machine = nullptr) const;

    /// "B is cheaper than A from installs = 3000 on, 73 % of 4096 slots (at 1: 12.0 us against
    /// 1.0 us; at 4096: ...), in phase life of table-life."
    std::string sentence(const BreakEven& found) const;

    /// Where the only crossing goes when each cost of the machine is `percent` off, one at a time.
    struct Sensitivity {
        std::int64_t least = 0;
        std::int64_t most = 0;
        std::vector<std::string> movers; ///< costs that move it most, furthest first
        bool may_vanish = false;         ///< some cost makes it none, or several
    };
    /// Nothing where there is not exactly one crossing.
    std::optional<Sensitivity> sensitivity(const BreakEven& found, std::int64_t percent) const;

    const BreakEvenRange& range() const { return range_; }

  private:
    /// Cycles of the phase in all its rounds.
    struct Costs {
        sim::Cycles first = 0;
        sim::Cycles second = 0;
        std::size_t rounds = 1;
    };
    Costs costs(std::int64_t value, const models::Machine* machine) const;
    sim::Cycles difference(std::int64_t value, const models::Machine* machine) const;
    std::string share_of_slots(std::int64_t value) const;
    std::string costs_text(std::int64_t value) const;

    const Library& library_;
    const PlannedWorkload& planned_;
    BreakEvenRange range_;
    SweepSpec spec_;
    std::pair<std::string, std::string> names_; ///< of the designs
    std::shared_ptr<const models::Machine> machine_;
};

} // namespace uringsim::analysis
