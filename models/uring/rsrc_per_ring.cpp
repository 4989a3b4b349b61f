#include "models/uring/rsrc_per_ring.h"

#include <cerrno>

namespace uringsim::models {

int RsrcPerRing::table_registered(sim::Cpu& cpu) {
    if (current_ == nullptr) {
        current_ = alloc_rsrc_node(cpu, owner_.node_cache());
    }
    return current_ != nullptr ? 0 : -ENOMEM;
}

int RsrcPerRing::prepare(sim::Cpu& /*cpu*/, Object*& node) {
    node = nullptr;
    return 0;
}

void RsrcPerRing::abandon(sim::Cpu& /*cpu*/, Object* /*node*/) {}

int RsrcPerRing::release(sim::Cpu& cpu, FileSlot& slot) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node));
    Object* fresh = alloc_rsrc_node(cpu, owner_.node_cache());
    if (fresh == nullptr) {
        return -ENOMEM;
    }
    cpu.charge(id(Primitive::rsrc_removal_queue));
    Object& old = *current_;
    RsrcNode& node = old.as<RsrcNode>();
    node.file = slot.file;
    node.tag = slot.tag;
    slot = FileSlot{};
    retired_.push_back(&old);
    current_ = fresh;
    put(cpu, old);
    return 0;
}

void RsrcPerRing::drop(sim::Cpu& cpu, FileSlot& slot) {
    // __io_sqe_files_unregister: a plain fput, with no node and no CQE for a tag.
    slot.file->put(cpu);
    slot = FileSlot{};
}

Object* RsrcPerRing::get(sim::Cpu& cpu, FileSlot& /*slot*/) {
    cpu.touch(current_->line());
    ++current_->as<RsrcNode>().references;
    return current_;
}

void RsrcPerRing::put(sim::Cpu& cpu, Object& object) {
    cpu.charge(id(Primitive::node_put));
    cpu.touch(object.line());
    if (--object.as<RsrcNode>().references == 0) {
        drain_in_order(cpu);
    }
}

void RsrcPerRing::drain_in_order(sim::Cpu& cpu) {
    while (!retired_.empty() && retired_.front()->as<RsrcNode>().references == 0) {
        Object& object = *retired_.front();
        retired_.pop_front();
        RsrcNode& node = object.as<RsrcNode>();
        if (node.tag != 0) {
            owner_.post_tag(cpu, node.tag);
        }
        node.file->put(cpu);
        free_rsrc_node(cpu, owner_.node_cache(), object);
    }
}

void RsrcPerRing::table_unregistered(sim::Cpu& cpu) {
    if (current_ != nullptr && current_->as<RsrcNode>().references == 1) {
        free_rsrc_node(cpu, owner_.node_cache(), *current_);
        current_ = nullptr;
    }
}

} // namespace uringsim::models
