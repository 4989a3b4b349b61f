#include "models/uring/rsrc_per_node.h"

#include <cerrno>

namespace uringsim::models {

int RsrcPerNode::table_registered(sim::Cpu& /*cpu*/) {
    return 0;
}

int RsrcPerNode::prepare(sim::Cpu& cpu, Object*& node) {
    node = alloc_rsrc_node(cpu, cache_);
    nodes_live_ += node != nullptr ? 1 : 0;
    return node != nullptr ? 0 : -ENOMEM;
}

void RsrcPerNode::abandon(sim::Cpu& cpu, Object* node) {
    --nodes_live_;
    free_rsrc_node(cpu, cache_, *node);
}

inline void RsrcPerNode::remove(sim::Cpu& cpu, RsrcSlot& slot) {
    Object& object = *slot.node;
    RsrcNode& node = object.as<RsrcNode>();
    node.resource = slot.resource;
    node.tag = slot.tag;
    slot = RsrcSlot{};
    ++files_held_;
    cpu.count(id(Counter::removals_held_back), node.references > 1 ? 1 : 0);
    drop_reference(cpu, object);
}

int RsrcPerNode::release(sim::Cpu& cpu, RsrcSlot& slot) {
    remove(cpu, slot);
    return 0;
}

void RsrcPerNode::drop(sim::Cpu& cpu, RsrcSlot& slot) {
    remove(cpu, slot);
}

Object* RsrcPerNode::get(sim::Cpu& cpu, RsrcSlot& slot) {
    cpu.touch(slot.node->line());
    ++slot.node->as<RsrcNode>().references;
    return slot.node;
}

void RsrcPerNode::put(sim::Cpu& cpu, Object& object) {
    drop_reference(cpu, object);
}

inline void RsrcPerNode::drop_reference(sim::Cpu& cpu, Object& object) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node));
    RsrcNode& node = object.as<RsrcNode>();
    cpu.charge(id(Primitive::node_put));
    cpu.touch(object.line());
    if (--node.references > 0) {
        return;
    }
    --files_held_;
    if (node.tag != 0) {
        owner_.post_tag(cpu, node.tag);
    }
    node.resource->put(cpu);
    --nodes_live_;
    free_rsrc_node(cpu, cache_, object);
}

void RsrcPerNode::table_unregistered(sim::Cpu& /*cpu*/) {}

} // namespace uringsim::models
