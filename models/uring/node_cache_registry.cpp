#include "models/uring/node_cache.h"
#include "models/uring/node_cache/doubling_policy.h"
#include "models/uring/node_cache/embedded_policy.h"
#include "models/uring/node_cache/io_alloc_cache_policy.h"
#include "models/uring/node_cache/per_cpu_policy.h"
#include "models/uring/node_cache/prefill_fraction_policy.h"
#include "models/uring/node_cache/prefill_on_miss_policy.h"
#include "models/uring/node_cache/raised_limit_policy.h"
#include "models/uring/node_cache/trimmed_policy.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace uringsim::models {

namespace {

constexpr std::array table{
    NodeCachePolicy{"io_alloc_cache",
                    "a bounded stack a ring; refill batch and prefill by their own knobs",
                    &IoAllocCachePolicy::make},
    NodeCachePolicy{"raised_limit",
                    "a sparse registration raises the limit to its slots (at most prefill_cap) and "
                    "allocates no node: releases fill the cache",
                    &RaisedLimitPolicy::make},
    NodeCachePolicy{"prefill_on_miss",
                    "the first miss after a sparse registration prefills: the program has shown "
                    "that it installs",
                    &PrefillOnMissPolicy::make},
    NodeCachePolicy{"doubling",
                    "each miss allocates twice as many nodes as the one before, never more than "
                    "the table has empty slots",
                    &DoublingPolicy::make},
    NodeCachePolicy{"prefill_fraction",
                    "a sparse registration raises the limit and prefills prefill_percent of it",
                    &PrefillFractionPolicy::make},
    NodeCachePolicy{"embedded",
                    "the nodes of a sparse table are part of it: no allocation at install, memory "
                    "committed at registration",
                    &EmbeddedPolicy::make},
    NodeCachePolicy{"per_cpu", "a bounded stack a CPU, shared by all rings",
                    &PerCpuPolicy::make},
    NodeCachePolicy{"trimmed",
                    "as raised_limit, and after trim_us without use the cache is trimmed to limit",
                    &TrimmedPolicy::make},
};

} // namespace

std::span<const NodeCachePolicy> node_cache_policies() {
    return table;
}

std::span<const std::string_view> node_cache_policy_names() {
    static constexpr auto names = [] {
        std::array<std::string_view, table.size()> result{};
        std::ranges::transform(table, result.begin(), &NodeCachePolicy::name);
        return result;
    }();
    return names;
}

void NodeCache::table_unregistered(sim::Cpu& /*cpu*/) {}

std::unique_ptr<NodeCache> make_node_cache(sim::Cpu& cpu, const NodeCacheContext& context) {
    const auto* const row =
        std::ranges::find(table, context.design.node_cache_policy, &NodeCachePolicy::name);
    if (row == table.end()) {
        throw std::logic_error("no node cache policy named " + context.design.node_cache_policy);
    }
    return row->make(cpu, context);
}

} // namespace uringsim::models
