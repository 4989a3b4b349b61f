#include "models/uring/rsrc_per_ring.h"

#include <cerrno>

namespace uringsim::models {

int RsrcPerRing::table_registered(sim::Cpu& cpu) {
    if (current_ == nullptr) {
        current_ = alloc_rsrc_node(cpu, owner_.node_cache());
    }
    tables_ += current_ != nullptr ? 1 : 0;
    return current_ != nullptr ? 0 : -ENOMEM;
}

int RsrcPerRing::prepare(sim::Cpu& /*cpu*/, Object*& node) {
    node = nullptr;
    return 0;
}

void RsrcPerRing::abandon(sim::Cpu& /*cpu*/, Object* /*node*/) {}

int RsrcPerRing::release(sim::Cpu& cpu, RsrcSlot& slot) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node));
    Object* fresh = alloc_rsrc_node(cpu, owner_.node_cache());
    if (fresh == nullptr) {
        return -ENOMEM;
    }
    cpu.charge(id(Primitive::rsrc_removal_queue));
    Object& old = *current_;
    RsrcNode& node = old.as<RsrcNode>();
    node.resource = slot.resource;
    node.tag = slot.tag;
    slot = RsrcSlot{};
    retired_.push_back(&old);
    current_ = fresh;
    put(cpu, old);
    cpu.count(id(Counter::removals_held_back), retired_.empty() ? 0 : 1);
    return 0;
}

void RsrcPerRing::drop(sim::Cpu& cpu, RsrcSlot& slot) {
    // __io_sqe_files_unregister: a plain fput, with no node and no CQE for a tag.
    slot.resource->put(cpu);
    slot = RsrcSlot{};
}

Object* RsrcPerRing::get(sim::Cpu& cpu, RsrcSlot& /*slot*/) {
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
        if (node.resource != nullptr) {
            node.resource->put(cpu);
        } else {
            --empty_;
        }
        free_rsrc_node(cpu, owner_.node_cache(), object);
    }
    if (retired_.empty() && !quiesced_.empty()) {
        quiesced_.wake_all(cpu);
    }
}

sim::WaitQueue* RsrcPerRing::quiesce(sim::Cpu& cpu) {
    if (current_ == nullptr) {
        return nullptr;
    }
    // The kernel takes a backup node even where nothing is in flight; that one is left out.
    const bool in_use = current_->as<RsrcNode>().references > 1 || !retired_.empty();
    if (!quiescing_ && in_use) {
        Object* backup = alloc_rsrc_node(cpu, owner_.node_cache());
        if (backup == nullptr) {
            return nullptr;
        }
        // The current node is closed without a file, to wait for the requests that hold it.
        quiescing_ = true;
        Object& old = *current_;
        retired_.push_back(&old);
        ++empty_;
        current_ = backup;
        put(cpu, old);
    }
    if (retired_.empty()) {
        quiescing_ = false;
        return nullptr;
    }
    return &quiesced_;
}

void RsrcPerRing::table_unregistered(sim::Cpu& cpu) {
    if (tables_ == 0 || --tables_ > 0) {
        return;
    }
    if (current_ != nullptr && current_->as<RsrcNode>().references == 1) {
        free_rsrc_node(cpu, owner_.node_cache(), *current_);
        current_ = nullptr;
    }
}

} // namespace uringsim::models
