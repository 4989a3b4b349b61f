#include "models/uring/alloc_cache.h"

#include "models/primitives.h"

#include <stdexcept>

namespace uringsim::models {

void IoAllocCache::init(sim::Cpu& cpu, std::uint32_t capacity) {
    capacity_ = capacity;
    if (capacity > 0) {
        array_ = memory_.alloc(cpu, capacity * pointer_bytes, {});
        entries_.reserve(capacity);
    }
}

void IoAllocCache::grow(sim::Cpu& cpu, std::uint32_t capacity) {
    if (capacity <= capacity_) {
        return;
    }
    cpu.charge(id(Primitive::alloc_cache_grow));
    Allocation larger = memory_.alloc(cpu, capacity * pointer_bytes, {});
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        cpu.touch(larger.line_at(i * pointer_bytes));
    }
    if (array_) {
        memory_.free(cpu, array_);
    }
    array_ = std::move(larger);
    capacity_ = capacity;
    entries_.reserve(capacity);
}

void IoAllocCache::release(sim::Cpu& cpu) {
    if (!entries_.empty()) {
        throw std::logic_error("io_alloc_cache freed while it holds objects");
    }
    if (array_) {
        memory_.free(cpu, array_);
    }
    capacity_ = 0;
}

} // namespace uringsim::models
