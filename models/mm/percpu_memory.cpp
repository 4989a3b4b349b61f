#include "models/mm/percpu_memory.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

#include <algorithm>

namespace uringsim::models {

PercpuArea PercpuMemory::alloc(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::percpu));
    PercpuArea area;
    {
        const sim::LockGuard guard(lock_, cpu);
        cpu.charge(id(Primitive::percpu_alloc));
        area.chunk = chunk_with_room();
        Chunk& chunk = chunks_[area.chunk];
        empty_chunks_ -= chunk.used == 0 ? 1 : 0;
        area.offset = take(cpu, chunk);
        if (++chunk.used == areas_a_chunk) {
            with_room_.erase(area.chunk);
        }
    }
    cpu.charge(id(Primitive::percpu_zero_cpu), possible_cpus_);
    cpu.count(id(Counter::percpu_allocs));
    peak_areas_ = std::max(peak_areas_, ++areas_);
    return area;
}

std::uint32_t PercpuMemory::chunk_with_room() {
    if (with_room_.empty()) {
        with_room_.insert(static_cast<std::uint32_t>(chunks_.size()));
        chunks_.emplace_back();
        ++empty_chunks_;
    }
    return *with_room_.begin();
}

std::uint32_t PercpuMemory::take(sim::Cpu& cpu, Chunk& chunk) {
    if (!chunk.freed.empty()) {
        const std::uint32_t offset = chunk.freed.back();
        chunk.freed.pop_back();
        return offset;
    }
    if (chunk.untouched == chunk.pages * areas_a_page) {
        ++chunk.pages;
        cpu.charge(id(Primitive::percpu_populate_page), possible_cpus_);
        cpu.count(id(Counter::percpu_pages), possible_cpus_);
    }
    return chunk.untouched++;
}

void PercpuMemory::free(sim::Cpu& cpu, const PercpuArea& area) {
    const sim::MechanismScope scope(cpu, id(Mechanism::percpu));
    const sim::LockGuard guard(lock_, cpu);
    cpu.charge(id(Primitive::percpu_free));
    Chunk& chunk = chunks_.at(area.chunk);
    chunk.freed.push_back(area.offset);
    with_room_.insert(area.chunk);
    --areas_;
    if (--chunk.used > 0) {
        return;
    }
    if (empty_chunks_ > 0) {
        chunk = Chunk{}; // its pages go back; its place in the list is used again
    }
    ++empty_chunks_;
}

std::uint64_t PercpuMemory::populated_bytes() const {
    std::uint64_t pages = 0;
    for (const Chunk& chunk : chunks_) {
        pages += chunk.pages;
    }
    return pages * page_bytes * possible_cpus_;
}

} // namespace uringsim::models
