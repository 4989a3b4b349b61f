#include "models/uring/node_cache/per_cpu_policy.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

namespace uringsim::models {

IoAllocCache& PerCpuNodeCaches::of(sim::Cpu& cpu, std::uint32_t limit) {
    const auto [entry, is_new] = caches_.try_emplace(cpu.id(), memory_);
    if (is_new) {
        entry->second.init(cpu, limit);
    }
    return entry->second;
}

IoAllocCache* PerCpuNodeCaches::any() {
    for (auto& [cpu, cache] : caches_) {
        if (cache.cached() > 0) {
            return &cache;
        }
    }
    return nullptr;
}

void PerCpuNodeCaches::release(sim::Cpu& cpu) {
    for (auto& [id, cache] : caches_) {
        cache.release(cpu);
    }
    caches_.clear();
}

std::uint64_t PerCpuNodeCaches::cached() const {
    std::uint64_t nodes = 0;
    for (const auto& [cpu, cache] : caches_) {
        nodes += cache.cached();
    }
    return nodes;
}

std::uint64_t PerCpuNodeCaches::array_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [cpu, cache] : caches_) {
        bytes += cache.array_bytes();
    }
    return bytes;
}

PerCpuPolicy::PerCpuPolicy(const NodeCacheContext& context,
                           std::shared_ptr<PerCpuNodeCaches> caches)
    : design_(context.design), nodes_(context.nodes), caches_(std::move(caches)) {
    ++caches_->rings;
}

PerCpuPolicy::~PerCpuPolicy() {
    leave();
}

void PerCpuPolicy::leave() {
    if (!left_) {
        left_ = true;
        --caches_->rings;
    }
}

std::unique_ptr<NodeCache> PerCpuPolicy::make(sim::Cpu& /*cpu*/, const NodeCacheContext& context) {
    auto caches = std::static_pointer_cast<PerCpuNodeCaches>(context.share.lock());
    if (!caches) {
        caches = std::make_shared<PerCpuNodeCaches>(context.memory);
        context.share = caches;
    }
    return std::make_unique<PerCpuPolicy>(context, std::move(caches));
}

std::uint32_t PerCpuPolicy::capacity() const {
    return static_cast<std::uint32_t>(design_.node_cache_limit);
}

Object* PerCpuPolicy::get(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node_cache));
    if (Object* node = caches_->of(cpu, capacity()).get(cpu)) {
        cpu.count(id(Counter::node_cache_hit));
        return node;
    }
    cpu.count(id(Counter::node_cache_miss));
    return nodes_.alloc(cpu);
}

void PerCpuPolicy::put(sim::Cpu& cpu, Object& node) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node_cache));
    if (caches_->of(cpu, capacity()).put(cpu, node)) {
        cpu.count(id(Counter::node_cache_put));
        return;
    }
    cpu.count(id(Counter::node_free));
    free_node(cpu, node);
}

void PerCpuPolicy::free_node(sim::Cpu& cpu, Object& node) const {
    if (design_.node_slab_kind == NodeSlab::dedicated) {
        cpu.charge(id(Primitive::slub_cache_check));
    }
    kfree(cpu, node);
}

bool PerCpuPolicy::drain_one(sim::Cpu& cpu) {
    leave();
    if (caches_->rings > 0) {
        return false;
    }
    const sim::MechanismScope scope(cpu, id(Mechanism::node_cache));
    IoAllocCache* cache = caches_->any();
    if (cache == nullptr) {
        caches_->release(cpu);
        return false;
    }
    free_node(cpu, *cache->get(cpu));
    cpu.count(id(Counter::node_free));
    return true;
}

} // namespace uringsim::models
