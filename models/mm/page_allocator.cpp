#include "models/mm/page_allocator.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

#include <algorithm>

namespace uringsim::models {

PageBlock& PageAllocator::alloc(sim::Cpu& cpu, unsigned order) {
    const sim::MechanismScope scope(cpu, id(Mechanism::pages));
    CpuLists& lists = lists_.at(cpu.id());
    if (lists.free[order].empty()) {
        refill(cpu, lists, order);
    }
    PageBlock& block = *lists.free[order].back();
    lists.free[order].pop_back();
    lists.pages -= std::size_t{1} << order;
    bytes_in_use_ += block.bytes();
    cpu.charge(id(Primitive::page_alloc));
    cpu.count(id(Counter::page_alloc));
    return block;
}

void PageAllocator::free(sim::Cpu& cpu, PageBlock& block) {
    const sim::MechanismScope scope(cpu, id(Mechanism::pages));
    CpuLists& lists = lists_.at(cpu.id());
    lists.free[block.order].push_back(&block);
    lists.pages += std::size_t{1} << block.order;
    bytes_in_use_ -= block.bytes();
    cpu.charge(id(Primitive::page_free));
    cpu.count(id(Counter::page_free));
    if (lists.pages > high_pages) {
        drain(cpu, lists, block.order);
    }
}

void PageAllocator::refill(sim::Cpu& cpu, CpuLists& lists, unsigned order) {
    const std::size_t blocks = std::max<std::size_t>(batch_pages >> order, 1);
    for (std::size_t i = 0; i < blocks; ++i) {
        lists.free[order].push_back(&take_from_buddy(order));
    }
    lists.pages += blocks << order;
    cpu.charge(id(Primitive::page_refill), static_cast<std::uint32_t>(blocks));
}

void PageAllocator::drain(sim::Cpu& cpu, CpuLists& lists, unsigned order) {
    // The oldest blocks go first: the newest are the warm ones.
    auto& list = lists.free[order];
    const std::size_t blocks = std::min(std::max<std::size_t>(batch_pages >> order, 1), list.size());
    for (std::size_t i = 0; i < blocks; ++i) {
        buddy_[order].push_back(list[i]);
    }
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(blocks));
    lists.pages -= blocks << order;
    cpu.charge(id(Primitive::page_drain), static_cast<std::uint32_t>(blocks));
}

PageBlock& PageAllocator::take_from_buddy(unsigned order) {
    if (!buddy_[order].empty()) {
        PageBlock& block = *buddy_[order].back();
        buddy_[order].pop_back();
        return block;
    }
    blocks_.push_back(std::make_unique<PageBlock>(order));
    return *blocks_.back();
}

} // namespace uringsim::models
