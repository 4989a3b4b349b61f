#include "models/uring/rsrc_node.h"

#include "models/uring/rsrc_per_node.h"
#include "models/uring/rsrc_per_ring.h"
#include "models/uring/rsrc_switched.h"

namespace uringsim::models {

std::unique_ptr<RsrcLifetime> make_rsrc_lifetime(const Design& design, RsrcOwner& owner) {
    if (design.node_lifetime == NodeLifetime::per_ring) {
        return std::make_unique<RsrcPerRing>(owner);
    }
    if (design.node_lifetime == NodeLifetime::per_ring_switched) {
        return std::make_unique<RsrcSwitched>(design, owner);
    }
    return std::make_unique<RsrcPerNode>(owner);
}

std::uint64_t rsrc_node_footprint(const Design& design, std::uint32_t possible_cpus) {
    constexpr std::uint32_t put_item_bytes = 32; // struct io_rsrc_put, where it is allocated
    std::uint64_t bytes = Kmalloc::size_class(static_cast<std::uint32_t>(design.node_bytes));
    if (design.node_references == NodeReferences::percpu) {
        bytes += PercpuRef::bytes(possible_cpus);
    }
    return bytes + (design.node_inline_item ? 0 : put_item_bytes);
}

} // namespace uringsim::models
