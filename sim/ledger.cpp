#include "sim/ledger.h"

#include <utility>

namespace uringsim::sim {

LedgerAccount::LedgerAccount(std::size_t mechanisms, std::size_t primitives, std::size_t counters)
    : primitives_(primitives), cells_(mechanisms * primitives), counters_(counters, 0) {
    for (std::size_t mechanism = 0; mechanism < mechanisms; ++mechanism) {
        rows_.push_back(cells_.data() + mechanism * primitives);
    }
}

LedgerAccount& Ledger::account(PhaseId phase, TaskId task) {
    auto& account = accounts_[Key{phase, task}];
    if (!account) {
        account = std::make_unique<LedgerAccount>(mechanisms_, primitives_, counters_);
    }
    return *account;
}

std::uint64_t Ledger::total(CounterId counter) const {
    std::uint64_t sum = 0;
    for (const auto& [key, account] : accounts_) {
        sum += std::as_const(*account).counters().at(index_of(counter));
    }
    return sum;
}

} // namespace uringsim::sim
