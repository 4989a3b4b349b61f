#pragma once

#include "sim/cost.h"
#include "sim/cycles.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace uringsim::sim {

/// Index of a phase. Phase 0 is everything outside the phases that are measured.
enum class PhaseId : std::uint16_t { outside = 0 };

/// Index of a task.
enum class TaskId : std::uint16_t {};

/// How often a primitive was charged, and what those charges came to.
struct LedgerCell {
    std::uint64_t count = 0;
    Cycles cycles = 0;
};

/// The accounts of one task in one phase: cells by mechanism and primitive, and event counters.
class LedgerAccount {
  public:
    LedgerAccount(std::size_t mechanisms, std::size_t primitives, std::size_t counters);

    LedgerAccount(const LedgerAccount&) = delete; // rows_ points into cells_
    LedgerAccount& operator=(const LedgerAccount&) = delete;

    /// The cells of one mechanism, indexed by primitive.
    LedgerCell* cells(MechanismId mechanism) { return rows_[index_of(mechanism)]; }
    const LedgerCell* cells(MechanismId mechanism) const { return rows_[index_of(mechanism)]; }

    /// The same for all mechanisms, indexed by mechanism.
    LedgerCell* const* rows() const { return rows_.data(); }

    /// The mechanism that these cells are of, as cells() returned them.
    MechanismId mechanism_of(const LedgerCell* cells) const {
        return static_cast<MechanismId>(static_cast<std::size_t>(cells - cells_.data()) / primitives_);
    }
    /// Whether cells are of this account.
    bool holds(const LedgerCell* cells) const {
        return cells >= cells_.data() && cells < cells_.data() + cells_.size();
    }

    std::uint64_t* counters() { return counters_.data(); }
    const std::vector<std::uint64_t>& counters() const { return counters_; }

  private:
    std::size_t primitives_;
    std::vector<LedgerCell> cells_;
    std::vector<LedgerCell*> rows_; ///< by mechanism: where its cells begin
    std::vector<std::uint64_t> counters_;
};

/// Where every charged cycle and every counted event is written down: by phase, task, mechanism and
/// primitive. Whatever moves a CPU's clock is in here, so the sums are exact.
class Ledger {
  public:
    struct Key {
        PhaseId phase;
        TaskId task;
        auto operator<=>(const Key&) const = default;
    };

    Ledger(std::size_t mechanisms, std::size_t primitives, std::size_t counters)
        : mechanisms_(mechanisms), primitives_(primitives), counters_(counters) {}

    /// The account of one task in one phase; made on first use. The reference stays valid.
    LedgerAccount& account(PhaseId phase, TaskId task);

    /// All accounts, ordered by phase, then task.
    const std::map<Key, std::unique_ptr<LedgerAccount>>& accounts() const { return accounts_; }

    /// One counter summed over every phase and task.
    std::uint64_t total(CounterId counter) const;

    std::size_t mechanisms() const { return mechanisms_; }
    std::size_t primitives() const { return primitives_; }
    std::size_t counters() const { return counters_; }

  private:
    std::size_t mechanisms_;
    std::size_t primitives_;
    std::size_t counters_;
    std::map<Key, std::unique_ptr<LedgerAccount>> accounts_;
};

} // namespace uringsim::sim
