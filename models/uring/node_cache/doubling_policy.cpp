#include "models/uring/node_cache/doubling_policy.h"

#include <algorithm>

namespace uringsim::models {

std::unique_ptr<NodeCache> DoublingPolicy::make(sim::Cpu& cpu, const NodeCacheContext& context) {
    return std::make_unique<DoublingPolicy>(cpu, context);
}

Object* DoublingPolicy::get(sim::Cpu& cpu) {
    Object* node = IoAllocCachePolicy::get(cpu);
    out_ += node != nullptr ? 1 : 0;
    return node;
}

void DoublingPolicy::put(sim::Cpu& cpu, Object& node) {
    --out_;
    IoAllocCachePolicy::put(cpu, node);
}

void DoublingPolicy::sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool opt_in) {
    IoAllocCachePolicy::sparse_table_registered(cpu, slots, opt_in);
    slots_ = slots;
    next_ = static_cast<std::uint32_t>(design().node_cache_refill_batch);
}

Object* DoublingPolicy::miss(sim::Cpu& cpu) {
    if (slots_ == 0) {
        return IoAllocCachePolicy::miss(cpu);
    }
    const auto cap = static_cast<std::uint32_t>(design().node_cache_prefill_cap);
    const std::uint32_t empty = slots_ > out_ ? slots_ - out_ : 1;
    const std::uint32_t wanted = std::min({next_, empty, cap});
    next_ = std::min(next_, cap) * 2;
    if (wanted == 1) {
        return nodes().alloc(cpu);
    }
    cache().grow(cpu, wanted - 1);
    return refill(cpu, wanted);
}

} // namespace uringsim::models
