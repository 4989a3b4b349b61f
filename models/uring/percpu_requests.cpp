#include "models/uring/percpu_requests.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

#include <algorithm>
#include <limits>

namespace uringsim::models {

namespace {

/// What keeps others off the CPU's caches while one of them is used.
void charge_exclusion(sim::Cpu& cpu, bool interrupt) {
    cpu.charge(id(interrupt ? Primitive::irq_disable : Primitive::preempt_disable));
}

} // namespace

Request* PerCpuRequests::alloc(sim::Cpu& cpu, const RequestUse& use) {
    const sim::MechanismScope scope(cpu, id(Mechanism::request_cache));
    Entry& entry = caches_[cpu.id()][use.interrupt ? 1 : 0];
    charge_exclusion(cpu, use.interrupt);
    cpu.charge(id(Primitive::request_cache_pop));
    if (entry.alloc_list.empty() && !steal(cpu, entry)) {
        cpu.count(id(Counter::request_cache_miss));
        return pool_.take(cpu);
    }
    Request& request = *entry.alloc_list.front();
    entry.alloc_list.pop_front();
    --cached_;
    cpu.count(id(Counter::request_cache_hit));
    return &request;
}

void PerCpuRequests::free(sim::Cpu& cpu, Request& request) {
    const sim::MechanismScope scope(cpu, id(Mechanism::request_cache));
    Entry& entry = caches_[cpu.id()][request.use.interrupt ? 1 : 0];
    charge_exclusion(cpu, request.use.interrupt);
    cpu.charge(id(Primitive::request_cache_push));
    entry.alloc_list.push_front(&request);
    cached_peak_ = std::max(cached_peak_, ++cached_);
    if (entry.alloc_list.size() > static_cast<std::size_t>(design_.request_cache_limit)) {
        reclaim(cpu, entry);
    }
}

void PerCpuRequests::reclaim(sim::Cpu& cpu, Entry& entry) {
    const std::size_t wanted = design_.request_cache_version == RequestCacheVersion::v1
                                   ? entry.alloc_list.size()
                                   : static_cast<std::size_t>(design_.request_cache_reclaim);
    const std::size_t moved = std::min(wanted, entry.alloc_list.size());
    const sim::LockGuard guard(entry.free_lock, cpu);
    for (std::size_t i = 0; i < moved; ++i) {
        Request& request = *entry.alloc_list.back(); // the coldest
        entry.alloc_list.pop_back();
        cpu.touch(request.lines);
        entry.free_list.push_front(&request);
    }
    cpu.charge(id(Primitive::request_cache_move), static_cast<std::uint32_t>(moved));
    cpu.count(id(Counter::request_cache_moved), moved);
}

bool PerCpuRequests::steal(sim::Cpu& cpu, Entry& entry) {
    const auto batch = static_cast<std::size_t>(design_.request_cache_reclaim);
    if (design_.request_cache_version == RequestCacheVersion::v1 ||
        entry.free_list.size() < batch) {
        return false;
    }
    const sim::LockGuard guard(entry.free_lock, cpu);
    for (std::size_t i = 0; i < batch; ++i) {
        Request& request = *entry.free_list.front();
        entry.free_list.pop_front();
        cpu.touch(request.lines);
        entry.alloc_list.push_front(&request);
    }
    cpu.charge(id(Primitive::request_cache_move), static_cast<std::uint32_t>(batch));
    cpu.count(id(Counter::request_cache_stolen), batch);
    return true;
}

std::uint64_t PerCpuRequests::give_back(sim::Cpu& cpu, std::deque<Request*>& list,
                                        std::uint64_t count) {
    std::uint64_t freed = 0;
    for (; freed < count && !list.empty(); ++freed) {
        pool_.give(cpu, *list.front());
        list.pop_front();
    }
    cached_ -= freed;
    return freed;
}

std::uint64_t PerCpuRequests::shrink(sim::Cpu& cpu, std::uint64_t count) {
    const sim::MechanismScope scope(cpu, id(Mechanism::request_shrink));
    cpu.charge(id(Primitive::shrinker_call));
    std::uint64_t freed = 0;
    for (Pair& pair : caches_) {
        for (Entry& entry : pair) {
            // The kernel frees after it has dropped the lock; nobody can see the difference.
            const sim::LockGuard guard(entry.free_lock, cpu);
            freed += give_back(cpu, entry.free_list, count - freed);
        }
    }
    cpu.count(id(Counter::request_shrunk), freed);
    return freed;
}

std::uint64_t PerCpuRequests::reap(sim::Cpu& cpu, std::uint16_t dead) {
    const sim::MechanismScope scope(cpu, id(Mechanism::request_shrink));
    constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t freed = 0;
    for (Entry& entry : caches_.at(dead)) {
        freed += give_back(cpu, entry.alloc_list, all);
        freed += give_back(cpu, entry.free_list, all);
    }
    cpu.count(id(Counter::request_reaped), freed);
    return freed;
}

PerCpuRequests::Held PerCpuRequests::held(std::uint16_t cpu, bool interrupt) const {
    const Entry& entry = caches_.at(cpu)[interrupt ? 1 : 0];
    return {entry.alloc_list.size(), entry.free_list.size()};
}

} // namespace uringsim::models
