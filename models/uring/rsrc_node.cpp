#include "models/uring/rsrc_node.h"

#include "models/uring/rsrc_per_node.h"
#include "models/uring/rsrc_per_ring.h"

namespace uringsim::models {

std::unique_ptr<RsrcLifetime> make_rsrc_lifetime(const Design& design, RsrcOwner& owner) {
    if (design.node_lifetime == NodeLifetime::per_ring) {
        return std::make_unique<RsrcPerRing>(owner);
    }
    return std::make_unique<RsrcPerNode>(owner);
}

Object* alloc_rsrc_node(sim::Cpu& cpu, NodeCache& cache) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node));
    cpu.count(id(Counter::node_alloc));
    Object* object = cache.get(cpu);
    if (object == nullptr) {
        return nullptr;
    }
    cpu.charge(id(Primitive::node_init));
    cpu.touch(object->line());
    object->emplace<RsrcNode>().references = 1;
    return object;
}

void free_rsrc_node(sim::Cpu& cpu, NodeCache& cache, Object& node) {
    cache.put(cpu, node);
}

} // namespace uringsim::models
