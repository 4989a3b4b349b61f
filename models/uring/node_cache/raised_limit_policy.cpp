#include "models/uring/node_cache/raised_limit_policy.h"

#include "models/mechanisms.h"

namespace uringsim::models {

std::unique_ptr<NodeCache> RaisedLimitPolicy::make(sim::Cpu& cpu, const NodeCacheContext& context) {
    return std::make_unique<RaisedLimitPolicy>(cpu, context);
}

void RaisedLimitPolicy::sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool opt_in) {
    IoAllocCachePolicy::sparse_table_registered(cpu, slots, opt_in);
    const sim::MechanismScope scope(cpu, id(Mechanism::node_cache));
    cache().grow(cpu, raised(slots));
}

} // namespace uringsim::models
