#include "models/uring/node_cache/prefill_on_miss_policy.h"

#include <utility>

namespace uringsim::models {

std::unique_ptr<NodeCache> PrefillOnMissPolicy::make(sim::Cpu& cpu,
                                                     const NodeCacheContext& context) {
    return std::make_unique<PrefillOnMissPolicy>(cpu, context);
}

void PrefillOnMissPolicy::sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool opt_in) {
    IoAllocCachePolicy::sparse_table_registered(cpu, slots, opt_in);
    waiting_ = raised(slots);
}

Object* PrefillOnMissPolicy::miss(sim::Cpu& cpu) {
    if (waiting_ > 0) {
        prefill(cpu, std::exchange(waiting_, 0));
        if (cache().cached() > 0) {
            return cache().get(cpu);
        }
    }
    return IoAllocCachePolicy::miss(cpu);
}

} // namespace uringsim::models
