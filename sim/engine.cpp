#include "sim/engine.h"

#include <algorithm>

namespace uringsim::sim {

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

void Engine::wake(Task& task, Cycles at) {
    if (!task.waiting()) {
        return;
    }
    if (task.pending()) {
        if (task.wakes_at_ <= at) {
            return;
        }
        queue_.cancel(task);
    }
    schedule_task(task, at);
}

void Engine::schedule_task(Task& task, Cycles at) {
    task.wakes_at_ = at;
    queue_.schedule(task, at);
}

Cpu* Engine::idle_cpu() {
    const auto found = std::ranges::find_if(cpus_, [](const auto& cpu) { return cpu->idle(); });
    return found == cpus_.end() ? nullptr : found->get();
}

void Engine::run() {
    while (!queue_.empty()) {
        run_one();
    }
}

} // namespace uringsim::sim
