#include "models/uring/node_cache/embedded_policy.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

#include <algorithm>
#include <bit>

namespace uringsim::models {

namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t line_bytes = 64;

} // namespace

std::unique_ptr<NodeCache> EmbeddedPolicy::make(sim::Cpu& /*cpu*/,
                                                const NodeCacheContext& context) {
    return std::make_unique<EmbeddedPolicy>(context);
}

Object* EmbeddedPolicy::get(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node_cache));
    if (!tables_.empty() && !tables_.back()->retired && !tables_.back()->unused.empty()) {
        Table& table = *tables_.back();
        Object* node = table.unused.front();
        table.unused.pop_front();
        cpu.count(id(Counter::node_cache_hit));
        return node;
    }
    cpu.count(id(Counter::node_cache_miss));
    return nodes_.alloc(cpu);
}

void EmbeddedPolicy::put(sim::Cpu& cpu, Object& node) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node_cache));
    if (node.slab->cache != nullptr) {
        cpu.count(id(Counter::node_free));
        if (design_.node_slab_kind == NodeSlab::dedicated) {
            cpu.charge(id(Primitive::slub_cache_check));
        }
        kfree(cpu, node);
        return;
    }
    Table& table = static_cast<Table&>(*node.slab);
    table.unused.push_back(&node);
    cpu.count(id(Counter::node_cache_put));
    release_if_unused(cpu, table);
}

void EmbeddedPolicy::sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool /*opt_in*/) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node_prefill));
    const auto node_bytes = static_cast<std::uint32_t>(design_.node_bytes);
    const std::uint64_t bytes = std::uint64_t{slots} * node_bytes;
    auto table = std::make_unique<Table>();
    table->memory = memory_.alloc(cpu, bytes, {.account = true, .zero = true});
    table->slot_bytes = node_bytes;
    table->pages = table->memory.pages;
    if (table->pages == nullptr) {
        const std::uint64_t pages = (bytes + page_bytes - 1) / page_bytes;
        table->block = std::make_unique<PageBlock>(static_cast<unsigned>(std::bit_width(pages - 1)));
        table->pages = table->block.get();
    }
    table->lines = table->pages->lines.data();
    if (table->block != nullptr) {
        for (std::uint64_t line = 0; line * line_bytes < bytes; ++line) {
            cpu.stream(table->lines[line]); // just zeroed
        }
    }
    table->objects.resize(slots);
    for (Object& object : table->objects) {
        object.slab = table.get();
        table->unused.push_back(&object);
    }
    tables_.push_back(std::move(table));
}

void EmbeddedPolicy::table_unregistered(sim::Cpu& cpu) {
    if (!tables_.empty() && !tables_.back()->retired) {
        const sim::MechanismScope scope(cpu, id(Mechanism::node_cache));
        tables_.back()->retired = true;
        release_if_unused(cpu, *tables_.back());
    }
}

void EmbeddedPolicy::release_if_unused(sim::Cpu& cpu, Table& table) {
    if (!table.retired || table.unused.size() != table.objects.size()) {
        return;
    }
    memory_.free(cpu, table.memory);
    std::erase_if(tables_, [&](const auto& entry) { return entry.get() == &table; });
}

bool EmbeddedPolicy::drain_one(sim::Cpu& cpu) {
    table_unregistered(cpu); // the ring's exit put all nodes before
    return false;
}

std::uint32_t EmbeddedPolicy::capacity() const {
    return tables_.empty() || tables_.back()->retired
               ? 0
               : static_cast<std::uint32_t>(tables_.back()->objects.size());
}

std::uint64_t EmbeddedPolicy::array_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& table : tables_) {
        bytes += table->unused.size() * table->slot_bytes;
    }
    return bytes;
}

} // namespace uringsim::models
