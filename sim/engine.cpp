#include "sim/engine.h"

#include <algorithm>

namespace uringsim::sim {

Engine::Engine(EngineConfig config, CostTable costs, std::size_t mechanisms, std::size_t counters)
    : config_(config), costs_(std::move(costs)), ledger_(mechanisms, costs_.size(), counters) {
    for (std::uint16_t id = 0; id < config_.cpus; ++id) {
        cpus_.push_back(std::make_unique<Cpu>(*this, ledger_, costs_, config_.primitives,
                                              config_.geometry, id));
    }
}

void Engine::wake(Task& task, Cycles at) {
    if (task.waiting() && !task.pending()) {
        queue_.schedule(task, at);
    }
}

Cpu* Engine::idle_cpu() {
    const auto found = std::ranges::find_if(cpus_, [](const auto& cpu) { return cpu->idle(); });
    return found == cpus_.end() ? nullptr : found->get();
}

void Engine::run() {
    while (!queue_.empty()) {
        const Cycles now = queue_.next_time();
        queue_.pop().fire(now);
    }
}

} // namespace uringsim::sim
