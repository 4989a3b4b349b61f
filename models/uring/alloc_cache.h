#pragma once

#include "models/mm/kmalloc.h"
#include "models/mm/slab.h"
#include "models/primitives.h"
#include "sim/cpu.h"

#include <cstdint>
#include <vector>

namespace uringsim::models {

/// io_alloc_cache: a bounded stack of free objects that belongs to a ring, under its uring_lock.
/// Last in, first out. Starts empty and never shrinks by itself.
/// Source: io_uring/alloc_cache.h (6.10 and later): io_alloc_cache_put, io_alloc_cache_get.
class IoAllocCache {
  public:
    explicit IoAllocCache(Kmalloc& memory) : memory_(memory) {}

    /// Allocates the pointer array for `capacity` entries; none for 0.
    void init(sim::Cpu& cpu, std::uint32_t capacity);

    /// Takes the newest entry, or nullptr when there is none.
    Object* get(sim::Cpu& cpu);

    /// Keeps an object; false, and nothing kept, when the stack is full.
    bool put(sim::Cpu& cpu, Object& object);

    /// Moves the entries to a larger array. Does nothing where `capacity` is no larger.
    void grow(sim::Cpu& cpu, std::uint32_t capacity);

    /// Frees the pointer array; the stack must be empty.
    void release(sim::Cpu& cpu);

    std::uint32_t cached() const { return static_cast<std::uint32_t>(entries_.size()); }
    std::uint32_t capacity() const { return capacity_; }
    std::uint64_t array_bytes() const { return array_.bytes; }

  private:
    static constexpr std::uint64_t pointer_bytes = 8;

    Kmalloc& memory_;
    std::vector<Object*> entries_;
    std::uint32_t capacity_ = 0;
    Allocation array_;
};

inline Object* IoAllocCache::get(sim::Cpu& cpu) {
    if (entries_.empty()) {
        cpu.charge(id(Primitive::alloc_cache_miss));
        return nullptr;
    }
    Object* object = entries_.back();
    entries_.pop_back();
    cpu.charge(id(Primitive::alloc_cache_pop));
    cpu.touch(array_.line_at(entries_.size() * pointer_bytes));
    return object;
}

inline bool IoAllocCache::put(sim::Cpu& cpu, Object& object) {
    if (entries_.size() >= capacity_) {
        return false;
    }
    cpu.charge(id(Primitive::alloc_cache_push));
    cpu.touch(array_.line_at(entries_.size() * pointer_bytes));
    entries_.push_back(&object);
    return true;
}

} // namespace uringsim::models
