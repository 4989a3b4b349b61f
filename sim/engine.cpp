#include "sim/engine.h"

#include <algorithm>

namespace uringsim::sim {

namespace {

/// The rows of one task in one phase; sums over phases do not tell which phase a charge was in.
std::uint64_t digest(TaskId task, const LedgerAccount& account, const Ledger& ledger) {
    std::uint64_t sum = 0;
    for (std::size_t mechanism = 0; mechanism < ledger.mechanisms(); ++mechanism) {
        const LedgerCell* cells = account.cells(static_cast<MechanismId>(mechanism));
        for (std::size_t primitive = 0; primitive < ledger.primitives(); ++primitive) {
            const LedgerCell& cell = cells[primitive];
            if (cell.count > 0) {
                const std::uint64_t row =
                    (index_of(task) * ledger.mechanisms() + mechanism) * ledger.primitives() +
                    primitive;
                sum += cell.count * Fingerprint::weight(2 * row) +
                       static_cast<std::uint64_t>(cell.cycles) * Fingerprint::weight(2 * row + 1);
            }
        }
    }
    return sum;
}

} // namespace

Engine::Engine(EngineConfig config, CostTable costs, std::size_t mechanisms, std::size_t counters)
    : config_(std::move(config))
    , costs_(std::move(costs))
    , ledger_(mechanisms, costs_.size(), counters)
    , idle_(config_.idle, config_.seed, config_.cpus) {
    for (std::uint16_t id = 0; id < config_.cpus; ++id) {
        cpus_.push_back(std::make_unique<Cpu>(*this, ledger_, costs_, config_.primitives,
                                              config_.geometry, id));
    }
}

void Engine::wake(Task& task, Cycles at, Cycles flight) {
    if (!task.waiting()) {
        return;
    }
    if (task.pending()) {
        if (task.wakes_at_ <= at) {
            return;
        }
        queue_.cancel(task);
    }
    task.wake_flight_ = flight;
    schedule_task(task, at);
}

void Engine::schedule_task(Task& task, Cycles at) {
    check_time(at);
    task.wakes_at_ = at;
    queue_.schedule(task, at);
}

// Out of line, for a debugger to stop at.
void Engine::note_causality_violation() {
    ++causality_violations_;
}

Cpu* Engine::idle_cpu() {
    const auto found = std::ranges::find_if(cpus_, [](const auto& cpu) { return cpu->idle(); });
    return found == cpus_.end() ? nullptr : found->get();
}

Fingerprint Engine::fingerprint() const {
    Fingerprint result = stages_;
    for (const auto& cpu : cpus_) {
        result.add(cpu->id(), cpu->now(), cpu->trail());
    }
    std::uint64_t rows = 0;
    for (const auto& [key, account] : ledger_.accounts()) {
        rows += digest(key.task, *account, ledger_);
    }
    result.add(0, 0, rows);
    return result;
}

void Engine::run() {
    while (!queue_.empty()) {
        run_one();
    }
}

} // namespace uringsim::sim
