#include "models/uring/node_cache/io_alloc_cache_policy.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

#include <algorithm>

namespace uringsim::models {

IoAllocCachePolicy::IoAllocCachePolicy(sim::Cpu& cpu, const NodeCacheContext& context)
    : design_(context.design), nodes_(context.nodes), code_(context.code), cache_(context.memory) {
    cache_.init(cpu, static_cast<std::uint32_t>(design_.node_cache_limit));
}

std::unique_ptr<NodeCache> IoAllocCachePolicy::make(sim::Cpu& cpu,
                                                    const NodeCacheContext& context) {
    return std::make_unique<IoAllocCachePolicy>(cpu, context);
}

Object* IoAllocCachePolicy::get(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node_cache));
    if (cache_.capacity() > 0) {
        if (Object* node = cache_.get(cpu)) {
            cpu.count(id(Counter::node_cache_hit));
            return node;
        }
    }
    cpu.count(id(Counter::node_cache_miss));
    return miss(cpu);
}

Object* IoAllocCachePolicy::miss(sim::Cpu& cpu) {
    if (design_.node_cache_refill_batch == 1) {
        return nodes_.alloc(cpu);
    }
    return refill(cpu, std::min(static_cast<std::uint32_t>(design_.node_cache_refill_batch),
                                cache_.capacity()));
}

Object* IoAllocCachePolicy::refill(sim::Cpu& cpu, std::uint32_t wanted) {
    const std::uint32_t got = allocate(cpu, wanted);
    if (got == 0) {
        return nodes_.alloc(cpu); // the bulk call is all or nothing; one may still be had
    }
    if (design_.node_slab_kind == NodeSlab::dedicated) {
        cpu.count(id(Counter::bulk_calls));
        cpu.count(id(Counter::bulk_objects), got);
    }
    for (std::uint32_t i = 0; i + 1 < got; ++i) {
        cache_.put(cpu, *batch_[i]);
    }
    return batch_[got - 1];
}

void IoAllocCachePolicy::put(sim::Cpu& cpu, Object& node) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node_cache));
    if (cache_.put(cpu, node)) {
        cpu.count(id(Counter::node_cache_put));
        return;
    }
    cpu.count(id(Counter::node_free));
    free_node(cpu, node);
}

void IoAllocCachePolicy::free_node(sim::Cpu& cpu, Object& node) const {
    if (design_.node_slab_kind == NodeSlab::dedicated) {
        cpu.charge(id(Primitive::slub_cache_check));
    }
    kfree(cpu, node);
}

void IoAllocCachePolicy::sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool opt_in) {
    const bool wanted = design_.node_cache_prefill == Prefill::always ||
                        (design_.node_cache_prefill == Prefill::flag && opt_in);
    if (wanted) {
        prefill(cpu, raised(slots));
    }
}

std::uint32_t IoAllocCachePolicy::raised(std::uint32_t slots) const {
    return std::min(slots, static_cast<std::uint32_t>(design_.node_cache_prefill_cap));
}

void IoAllocCachePolicy::prefill(sim::Cpu& cpu, std::uint32_t capacity) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node_prefill));
    cache_.grow(cpu, capacity);
    fill(cpu, std::max(capacity, cache_.cached()) - cache_.cached());
}

void IoAllocCachePolicy::fill(sim::Cpu& cpu, std::uint32_t wanted) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node_prefill));
    const std::uint32_t got = allocate(cpu, wanted);
    cpu.count(id(Counter::prefill_objects), got);
    for (std::uint32_t i = 0; i < got; ++i) {
        cache_.put(cpu, *batch_[i]);
    }
}

std::uint32_t IoAllocCachePolicy::allocate(sim::Cpu& cpu, std::uint32_t wanted) {
    batch_.resize(wanted);
    if (design_.node_slab_kind == NodeSlab::dedicated) {
        return alloc_bulk(cpu) ? wanted : 0;
    }
    for (std::uint32_t i = 0; i < wanted; ++i) {
        batch_[i] = nodes_.alloc(cpu);
        if (batch_[i] == nullptr) {
            return i;
        }
    }
    return wanted;
}

bool IoAllocCachePolicy::alloc_bulk(sim::Cpu& cpu) {
    cpu.touch(code_[cpu.id()].node_refill);
    return nodes_.alloc_bulk(cpu, batch_);
}

bool IoAllocCachePolicy::drain_one(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node_cache));
    if (cache_.cached() == 0) {
        cache_.release(cpu);
        return false;
    }
    free_node(cpu, *cache_.get(cpu));
    cpu.count(id(Counter::node_free));
    return true;
}

} // namespace uringsim::models
