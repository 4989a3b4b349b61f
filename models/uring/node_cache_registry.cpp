#include "models/uring/node_cache.h"
#include "models/uring/node_cache/io_alloc_cache_policy.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace uringsim::models {

namespace {

constexpr std::array table{
    NodeCachePolicy{"io_alloc_cache",
                    "a bounded stack a ring; refill batch and prefill by their own knobs",
                    &IoAllocCachePolicy::make},
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

std::unique_ptr<NodeCache> make_node_cache(sim::Cpu& cpu, const NodeCacheContext& context) {
    const auto* const row =
        std::ranges::find(table, context.design.node_cache_policy, &NodeCachePolicy::name);
    if (row == table.end()) {
        throw std::logic_error("no node cache policy named " + context.design.node_cache_policy);
    }
    return row->make(cpu, context);
}

} // namespace uringsim::models
