#include "models/mm/sheaves.h"

#include "models/primitives.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace uringsim::models {

namespace {

constexpr std::uint32_t header_bytes = 32;
constexpr std::uint32_t pointer_bytes = 8;

/// Bytes that kmalloc would give for so many.
std::uint32_t kmalloc_bytes(std::uint32_t bytes) {
    if (bytes > 64 && bytes <= 96) {
        return 96;
    }
    if (bytes > 128 && bytes <= 192) {
        return 192;
    }
    return std::bit_ceil(bytes);
}

} // namespace

std::uint32_t Sheaves::capacity_for(std::uint32_t bytes) {
    std::uint32_t capacity = 60;
    if (bytes >= 4096) {
        capacity = 4;
    } else if (bytes >= 1024) {
        capacity = 12;
    } else if (bytes >= 256) {
        capacity = 26;
    }
    // What the sheaf's own allocation has to spare is used.
    return (kmalloc_bytes(header_bytes + capacity * pointer_bytes) - header_bytes) / pointer_bytes;
}

Sheaves::Sheaves(const SlabCacheSpec& spec, const SlabEnvironment& environment)
    : KmemCache(spec, environment)
    , geometry_(SlabGeometry::of(spec.object_bytes, environment.cpus_seen, spec.order))
    , capacity_(environment.design.slab_sheaf_capacity > 0
                    ? static_cast<std::uint32_t>(environment.design.slab_sheaf_capacity)
                    : capacity_for(spec.object_bytes))
    , slabs_(*this, spec, environment, geometry_)
    , cpus_(environment.cpus_modelled)
    , sheaves_(environment.cpus_modelled) {
    for (CpuSheaves& local : cpus_) {
        local.main.reserve(capacity_);
    }
}

Sheaves::~Sheaves() {
    node_partial_.clear();
}

std::uint64_t Sheaves::sheaf_bytes() const {
    return sheaves_ * kmalloc_bytes(header_bytes + capacity_ * pointer_bytes);
}

Sheaves::Sheaf Sheaves::empty_sheaf(sim::Cpu& cpu) {
    {
        const sim::LockGuard guard(barn_lock_, cpu);
        if (empty_ > 0) {
            --empty_;
        } else {
            ++sheaves_;
        }
    }
    Sheaf sheaf;
    sheaf.reserve(capacity_);
    return sheaf;
}

bool Sheaves::barn_takes_no_more(sim::Cpu& cpu) {
    const sim::LockGuard guard(barn_lock_, cpu);
    return full_.size() >= barn_sheaves;
}

Object& Sheaves::do_alloc(sim::Cpu& cpu) {
    cpu.charge(id(Primitive::sheaf_pop));
    return pop(cpu, cpus_[cpu.id()]);
}

void Sheaves::do_alloc_bulk(sim::Cpu& cpu, std::span<Object*> out) {
    CpuSheaves& local = cpus_[cpu.id()];
    cpu.charge(id(Primitive::slub_bulk_call));
    for (Object*& slot : out) {
        cpu.charge(id(Primitive::slub_bulk_object));
        slot = &pop(cpu, local);
    }
}

Object& Sheaves::pop(sim::Cpu& cpu, CpuSheaves& local) {
    if (local.main.empty()) {
        replace_empty_main(cpu, local);
    }
    Object& object = *local.main.back();
    local.main.pop_back();
    cpu.touch(object.line());
    return object;
}

void Sheaves::replace_empty_main(sim::Cpu& cpu, CpuSheaves& local) {
    slabs_.count(cpu, &SlabCounters::alloc_slow);
    if (local.spare && !local.spare->empty()) {
        cpu.charge(id(Primitive::sheaf_swap));
        std::swap(local.main, *local.spare);
        return;
    }
    cpu.charge(id(Primitive::barn_exchange));
    // The lock is for the barn's lists: filling and flushing sheaves goes on without it.
    if (const sim::LockGuard guard(barn_lock_, cpu); !full_.empty()) {
        std::swap(local.main, full_.back());
        full_.pop_back();
        ++empty_; // there is room: a full one has just left, and the kernel does not ask
        return;
    }
    // A sheaf to fill: the spare, one of the barn, or a new one. The empty main takes its place.
    if (local.spare) {
        refill(cpu, *local.spare);
        std::swap(local.main, *local.spare);
        return;
    }
    Sheaf fresh = empty_sheaf(cpu);
    refill(cpu, fresh);
    local.spare = std::exchange(local.main, std::move(fresh));
}

void Sheaves::do_free(sim::Cpu& cpu, Object& object) {
    CpuSheaves& local = cpus_[cpu.id()];
    cpu.charge(id(Primitive::sheaf_push));
    cpu.touch(object.line());
    if (local.main.size() >= capacity_) {
        replace_full_main(cpu, local);
    }
    push(local, object);
}

void Sheaves::push(CpuSheaves& local, Object& object) {
    local.main.push_back(&object);
}

void Sheaves::replace_full_main(sim::Cpu& cpu, CpuSheaves& local) {
    slabs_.count(cpu, &SlabCounters::free_slow);
    if (!local.spare) {
        cpu.charge(id(Primitive::barn_exchange));
        local.spare = empty_sheaf(cpu);
        std::swap(local.main, *local.spare);
        return;
    }
    if (local.spare->size() < capacity_) {
        cpu.charge(id(Primitive::sheaf_swap));
        std::swap(local.main, *local.spare);
        return;
    }
    cpu.charge(id(Primitive::barn_exchange));
    if (barn_takes_no_more(cpu)) {
        flush(cpu, *local.spare);
        std::swap(local.main, *local.spare);
        return;
    }
    Sheaf fresh = empty_sheaf(cpu);
    const sim::LockGuard guard(barn_lock_, cpu);
    full_.push_back(std::exchange(local.main, std::move(fresh)));
}

void Sheaves::refill(sim::Cpu& cpu, Sheaf& sheaf) {
    cpu.charge(id(Primitive::sheaf_refill));
    {
        const sim::LockGuard guard(list_lock_, cpu);
        while (sheaf.size() < capacity_ && !node_partial_.empty()) {
            Slab& slab = node_partial_.front();
            node_partial_.pop_front();
            slab.on_node = false;
            slabs_.count(cpu, &SlabCounters::get_partial);
            take(cpu, slab, sheaf);
            if (slab.freelist != nullptr) {
                // What was too much goes back one by one; the first makes a full slab partial
                // again, at the list's tail.
                slab.on_node = true;
                node_partial_.push_back(slab);
            }
        }
    }
    while (sheaf.size() < capacity_) {
        refill_from_new_slab(cpu, sheaf);
    }
}

void Sheaves::refill_from_new_slab(sim::Cpu& cpu, Sheaf& sheaf) {
    Slab& slab = slabs_.grow(cpu);
    take(cpu, slab, sheaf);
    if (slab.freelist != nullptr) {
        const sim::LockGuard guard(list_lock_, cpu);
        slab.on_node = true;
        node_partial_.push_front(slab);
    }
}

void Sheaves::take(sim::Cpu& cpu, Slab& slab, Sheaf& sheaf) {
    while (slab.freelist != nullptr && sheaf.size() < capacity_) {
        Object& object = pop_free(slab);
        cpu.charge(id(Primitive::sheaf_refill_object));
        cpu.touch(object.line());
        sheaf.push_back(&object);
    }
}

void Sheaves::flush(sim::Cpu& cpu, Sheaf& sheaf) {
    cpu.charge(id(Primitive::sheaf_flush));
    for (Object* object : sheaf) {
        free_to_slab(cpu, *object);
    }
    sheaf.clear();
}

void Sheaves::free_to_slab(sim::Cpu& cpu, Object& object) {
    Slab& slab = *object.slab;
    cpu.charge(id(Primitive::sheaf_flush_object));
    cpu.touch(object.line());
    push_free(slab, object);
    const bool emptied = slab.in_use() == 0;
    if (slab.on_node && !emptied) {
        return;
    }
    const sim::LockGuard guard(list_lock_, cpu);
    if (!slab.on_node) {
        slab.on_node = true;
        node_partial_.push_back(slab);
        slabs_.count(cpu, &SlabCounters::put_cpu_partial);
    }
    if (emptied && node_partial_.size() > geometry_.min_partial) {
        node_partial_.erase(node_partial_.iterator_to(slab));
        slab.on_node = false;
        slabs_.discard(cpu, slab);
    }
}

void Sheaves::do_flush_cpu(sim::Cpu& cpu, std::uint16_t dead) {
    CpuSheaves& local = cpus_.at(dead);
    flush(cpu, local.main);
    if (local.spare) {
        flush(cpu, *local.spare);
        local.spare.reset();
        --sheaves_;
    }
}

void Sheaves::add_resident(sim::Cpu& cpu, std::uint32_t slabs, std::uint32_t live) {
    const std::uint32_t held = std::min(live, geometry_.objects);
    for (std::uint32_t i = 0; i < slabs; ++i) {
        Slab& slab = slabs_.grow(cpu);
        slabs_.hold_resident(slab, held);
        if (slab.free > 0) {
            slab.on_node = true;
            node_partial_.push_back(slab);
        }
    }
}

SlabCensus Sheaves::census() const {
    SlabCensus census = slabs_.census();
    for (const CpuSheaves& local : cpus_) {
        census.free += local.main.size() + (local.spare ? local.spare->size() : 0);
    }
    for (const Sheaf& sheaf : full_) {
        census.free += sheaf.size();
    }
    return census;
}

std::vector<SlabHolding> Sheaves::holdings() const {
    std::vector<SlabHolding> list;
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
        const std::string cpu = "CPU " + std::to_string(i);
        list.push_back({cpu + " main sheaf", cpus_[i].main.size()});
        list.push_back({cpu + " spare sheaf", cpus_[i].spare ? cpus_[i].spare->size() : 0});
    }
    list.push_back({"barn", full_.size() * capacity_});
    std::uint64_t in_slabs = 0;
    for (const Slab& slab : node_partial_) {
        in_slabs += slab.free;
    }
    list.push_back({"partial slabs", in_slabs});
    std::erase_if(list, [](const SlabHolding& holding) { return holding.objects == 0; });
    return list;
}

} // namespace uringsim::models
