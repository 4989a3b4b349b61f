#include "sim/idle.h"

namespace uringsim::sim {

namespace {

constexpr std::uint64_t million = 1'000'000;

} // namespace

IdleModel::IdleModel(IdleConfig config, std::uint64_t seed, std::uint16_t cpus)
    : config_(std::move(config)) {
    if (!enabled()) {
        return;
    }
    for (std::uint16_t id = 0; id < cpus; ++id) {
        cpus_.push_back({RandomStream(seed, "idle.cpu" + std::to_string(id)),
                         std::vector<Cycles>(config_.states.size(), 0)});
        enter(id);
    }
}

void IdleModel::enter(std::uint16_t cpu) {
    PerCpu& own = cpus_[cpu];
    for (std::size_t i = 0; i < config_.states.size(); ++i) {
        const IdleState& state = config_.states[i];
        if (state.chance_ppm < million && own.stream.below(million) >= state.chance_ppm) {
            own.reached_at[i] = -1;
            continue;
        }
        const auto range = static_cast<std::uint64_t>(state.after_max - state.after_min);
        own.reached_at[i] =
            state.after_min +
            (range > 0 ? static_cast<Cycles>(own.stream.below(range + 1)) : Cycles{0});
    }
}

const IdleState& IdleModel::state(std::uint16_t cpu, Cycles idle_for) const {
    const PerCpu& own = cpus_[cpu];
    std::size_t deepest = 0;
    for (std::size_t i = 0; i < config_.states.size(); ++i) {
        if (own.reached_at[i] >= 0 && own.reached_at[i] <= idle_for) {
            deepest = i;
        }
    }
    return config_.states[deepest];
}

Cycles IdleModel::exit_latency(std::uint16_t cpu, Cycles idle_for) {
    const Jitter& shape = idle_for < 0 ? config_.turn_round : state(cpu, idle_for).exit;
    return shape.draw(cpus_[cpu].stream);
}

} // namespace uringsim::sim
