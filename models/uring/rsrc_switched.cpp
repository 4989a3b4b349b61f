#include "models/uring/rsrc_switched.h"

#include "models/counters.h"
#include "models/kernel.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

#include <cerrno>

namespace uringsim::models {

namespace {

constexpr std::uint32_t reference_batch = 100; // IO_RSRC_REF_BATCH
constexpr std::uint32_t put_item_bytes = 32;   // struct io_rsrc_put
constexpr std::uint32_t line_bytes = 64;

} // namespace

RsrcSwitched::RsrcSwitched(const Design& design, RsrcOwner& owner)
    : design_(design)
    , owner_(owner)
    , context_{owner.kernel().memory(), owner.kernel().percpu(), owner.kernel().rcu()}
    , put_work_(owner.kernel().workqueue(), *this) {}

RsrcSwitched::~RsrcSwitched() = default;

// --- Nodes and put items ---

RsrcSwitched::Node* RsrcSwitched::alloc_node(sim::Cpu& cpu) {
    const bool cached = owner_.node_cache().cached() > 0;
    Object* memory = alloc_rsrc_node(cpu, owner_.node_cache());
    if (memory == nullptr) {
        return nullptr;
    }
    if (!cached) { // kzalloc; a node from the cache is not cleared
        const auto lines =
            static_cast<std::uint32_t>((design_.node_bytes + line_bytes - 1) / line_bytes);
        cpu.charge(id(Primitive::zero_line), lines);
    }
    if (spare_nodes_.empty()) {
        spare_nodes_.push_back(&nodes_.emplace_back(*this));
    }
    Node& node = *spare_nodes_.back();
    spare_nodes_.pop_back();
    node.memory = memory;
    node.items = nullptr;
    node.done = false;
    memory->emplace<NodeHandle>().node = &node;
    init_references(cpu, node);
    owner_.kernel().note_rsrc_nodes(++nodes_live_);
    return &node;
}

void RsrcSwitched::init_references(sim::Cpu& cpu, Node& node) {
    if (design_.node_references == NodeReferences::percpu) {
        node.init(cpu, context_);
    } else {
        node.references = 1;
    }
}

void RsrcSwitched::destroy(sim::Cpu& cpu, Node& node) {
    if (design_.node_references == NodeReferences::percpu) {
        node.exit(cpu);
    }
    free_rsrc_node(cpu, owner_.node_cache(), *node.memory);
    node.memory = nullptr;
    --nodes_live_;
    spare_nodes_.push_back(&node);
}

RsrcSwitched::PutItem* RsrcSwitched::alloc_item(sim::Cpu& cpu, const Node& node) {
    Object* memory = nullptr;
    // The item inside the node serves the first removal only.
    if (!design_.node_inline_item || node.items != nullptr) {
        memory = context_.memory.cache(put_item_bytes, false).alloc(cpu);
        if (memory == nullptr) {
            return nullptr;
        }
        cpu.touch(memory->line());
        cpu.charge(id(Primitive::zero_line));
    }
    if (spare_items_.empty()) {
        spare_items_.push_back(&items_.emplace_back());
    }
    PutItem* item = spare_items_.back();
    spare_items_.pop_back();
    item->memory = memory;
    return item;
}

// --- Updates ---

int RsrcSwitched::table_registered(sim::Cpu& cpu) {
    if (const int error = begin_update(cpu); error < 0) {
        return error;
    }
    if (current_ == nullptr) {
        current_ = backup_;
        backup_ = nullptr;
    }
    ++tables_;
    return 0;
}

int RsrcSwitched::prepare(sim::Cpu& /*cpu*/, Object*& node) {
    node = nullptr;
    return 0;
}

void RsrcSwitched::abandon(sim::Cpu& /*cpu*/, Object* /*node*/) {}

int RsrcSwitched::begin_update(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node));
    if (backup_ == nullptr) {
        backup_ = alloc_node(cpu);
    }
    return backup_ != nullptr ? 0 : -ENOMEM;
}

int RsrcSwitched::release(sim::Cpu& cpu, RsrcSlot& slot) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node));
    PutItem* item = alloc_item(cpu, *current_);
    if (item == nullptr) {
        return -ENOMEM;
    }
    item->resource = slot.resource;
    item->tag = slot.tag;
    item->next = current_->items;
    current_->items = item;
    cpu.touch(current_->memory->line());
    slot = RsrcSlot{};
    ++files_held_;
    ++removed_;
    return 0;
}

void RsrcSwitched::end_update(sim::Cpu& cpu) {
    if (removed_ > 0) {
        switch_node(cpu);
        cpu.count(id(Counter::removals_held_back), at_rest() ? 0 : removed_);
        removed_ = 0;
    }
}

void RsrcSwitched::switch_node(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node));
    cpu.charge(id(Primitive::rsrc_removal_queue));
    if (cached_references_ > 0) {
        put_many(cpu, *current_, cached_references_);
        cached_references_ = 0;
    }
    Node& old = *current_;
    lock_list(cpu);
    cpu.touch(old.memory->line());
    ref_list_.push_back(&old);
    unlock_list(cpu);
    data_reference(cpu);
    ++retired_;
    current_ = backup_;
    backup_ = nullptr;
    kill(cpu, old);
}

void RsrcSwitched::kill(sim::Cpu& cpu, Node& node) {
    if (design_.node_references == NodeReferences::percpu) {
        node.kill(cpu);
    } else {
        put_many(cpu, node, 1);
    }
}

// --- References of requests ---

void RsrcSwitched::get_many(sim::Cpu& cpu, Node& node, std::uint32_t references) {
    if (design_.node_references == NodeReferences::percpu) {
        static_cast<PercpuRef&>(node).get(cpu, references);
        return;
    }
    if (design_.node_references == NodeReferences::atomic) {
        cpu.charge(id(Primitive::atomic_count));
    }
    node.references += references;
}

void RsrcSwitched::put_many(sim::Cpu& cpu, Node& node, std::uint32_t references) {
    if (design_.node_references == NodeReferences::percpu) {
        static_cast<PercpuRef&>(node).put(cpu, references);
        return;
    }
    const bool atomic = design_.node_references == NodeReferences::atomic;
    cpu.charge(id(atomic ? Primitive::atomic_count : Primitive::node_put));
    node.references -= references;
    if (node.references == 0) {
        ref_zero(cpu, node);
    }
}

Object* RsrcSwitched::get(sim::Cpu& cpu, RsrcSlot& /*slot*/) {
    cpu.touch(current_->memory->line());
    if (cached_references_ == 0) {
        get_many(cpu, *current_, reference_batch);
        cached_references_ = reference_batch;
    }
    --cached_references_;
    return current_->memory;
}

void RsrcSwitched::put(sim::Cpu& cpu, Object& object) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node));
    Node& node = *object.as<NodeHandle>().node;
    cpu.touch(object.line());
    if (&node == current_) {
        ++cached_references_;
    } else {
        put_many(cpu, node, 1);
    }
}

// --- Release in order ---

void RsrcSwitched::ref_zero(sim::Cpu& cpu, Node& node) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node));
    lock_list(cpu);
    node.done = true;
    const bool was_empty = put_list_ == nullptr;
    while (!ref_list_.empty() && ref_list_.front()->done) {
        Node& oldest = *ref_list_.front();
        ref_list_.pop_front();
        cpu.touch(oldest.memory->line());
        oldest.next = put_list_;
        put_list_ = &oldest;
    }
    unlock_list(cpu);
    put_or_defer(cpu, was_empty);
}

void RsrcSwitched::put_or_defer(sim::Cpu& cpu, bool list_was_empty) {
    if (put_list_ == nullptr) {
        return; // an older node is still in use
    }
    if (!design_.node_deferred_free) {
        while (put_next(cpu)) {
        }
    } else if (list_was_empty) {
        const std::int64_t delay_us = quiescing_ ? 0 : design_.node_put_delay_us;
        put_work_.modify(cpu, owner_.kernel().machine().cycles_of_us(delay_us));
    }
}

/// io_rsrc_put_work, one node. False: that was the last one of those that it took.
bool RsrcSwitched::put_next(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node));
    if (putting_ == nullptr) {
        putting_ = put_list_;
        put_list_ = nullptr;
    }
    if (putting_ == nullptr) {
        return false;
    }
    Node& node = *putting_;
    putting_ = node.next;
    if (design_.node_deferred_free) {
        cpu.charge(id(Primitive::put_work_node));
    }
    cpu.touch(node.memory->line());
    put_items(cpu, node);
    destroy(cpu, node);
    data_reference(cpu);
    --retired_;
    if (at_rest()) {
        quiesced_.wake_all(cpu);
    }
    return putting_ != nullptr;
}

void RsrcSwitched::put_items(sim::Cpu& cpu, Node& node) {
    while (node.items != nullptr) {
        PutItem& item = *node.items;
        node.items = item.next;
        if (item.memory != nullptr) {
            cpu.touch(item.memory->line());
        }
        if (item.tag != 0) {
            owner_.post_tag(cpu, item.tag);
        }
        item.resource->put(cpu);
        if (item.memory != nullptr) {
            kfree(cpu, *item.memory);
        }
        spare_items_.push_back(&item);
        --files_held_;
    }
}

void RsrcSwitched::lock_list(sim::Cpu& cpu) {
    if (design_.node_list_lock) {
        cpu.charge(id(Primitive::spinlock));
        list_lock_.acquire(cpu);
    }
}

void RsrcSwitched::unlock_list(sim::Cpu& cpu) {
    if (design_.node_list_lock) {
        list_lock_.release(cpu);
    }
}

/// One change of io_rsrc_data's count.
void RsrcSwitched::data_reference(sim::Cpu& cpu) const {
    if (design_.node_data_atomic) {
        cpu.charge(id(Primitive::atomic_count));
    }
}

// --- The end of a table ---

sim::WaitQueue* RsrcSwitched::quiesce(sim::Cpu& cpu) {
    if (current_ == nullptr) {
        return nullptr;
    }
    if (!quiescing_) {
        if (begin_update(cpu) < 0) {
            return nullptr;
        }
        quiescing_ = true;
        switch_node(cpu);
    }
    put_work_.expedite(cpu);
    if (at_rest()) {
        quiescing_ = false;
        return nullptr;
    }
    return &quiesced_;
}

void RsrcSwitched::drop(sim::Cpu& cpu, RsrcSlot& slot) {
    slot.resource->put(cpu);
    slot = RsrcSlot{};
}

void RsrcSwitched::table_unregistered(sim::Cpu& cpu) {
    if (tables_ == 0 || --tables_ > 0) {
        return;
    }
    for (Node** node : {&current_, &backup_}) {
        if (*node != nullptr) {
            destroy(cpu, **node);
            *node = nullptr;
        }
    }
}

} // namespace uringsim::models
