#include "models/uring/node_cache/prefill_fraction_policy.h"

#include "models/mechanisms.h"

namespace uringsim::models {

std::unique_ptr<NodeCache> PrefillFractionPolicy::make(sim::Cpu& cpu,
                                                       const NodeCacheContext& context) {
    return std::make_unique<PrefillFractionPolicy>(cpu, context);
}

void PrefillFractionPolicy::sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots,
                                                    bool /*opt_in*/) {
    constexpr std::uint64_t whole = 100;
    const sim::MechanismScope scope(cpu, id(Mechanism::node_prefill));
    cache().grow(cpu, raised(slots));
    const auto percent = static_cast<std::uint64_t>(design().node_cache_prefill_percent);
    const auto wanted = static_cast<std::uint32_t>(raised(slots) * percent / whole);
    if (wanted > cache().cached()) {
        fill(cpu, wanted - cache().cached());
    }
}

} // namespace uringsim::models
