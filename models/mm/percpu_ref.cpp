#include "models/mm/percpu_ref.h"

#include "models/mechanisms.h"
#include "models/primitives.h"

namespace uringsim::models {

namespace {

constexpr std::uint32_t data_bytes = 56; // struct percpu_ref_data by BTF: kmalloc-64

} // namespace

std::uint64_t PercpuRef::bytes(std::uint32_t possible_cpus) {
    return Kmalloc::size_class(data_bytes) + PercpuMemory::unit_bytes * possible_cpus;
}

void PercpuRef::init(sim::Cpu& cpu, const PercpuRefContext& context) {
    const sim::MechanismScope scope(cpu, id(Mechanism::percpu));
    context_ = &context;
    area_ = context.percpu.alloc(cpu);
    data_ = context.memory.cache(data_bytes, false).alloc(cpu);
    cpu.touch(data_->line());
    cpu.charge(id(Primitive::zero_line));
    count_ = 1;
    mode_ = Mode::percpu;
}

void PercpuRef::get(sim::Cpu& cpu, std::uint32_t references) {
    const sim::MechanismScope scope(cpu, id(Mechanism::percpu));
    cpu.charge(id(mode_ == Mode::percpu ? Primitive::percpu_count : Primitive::atomic_count));
    count_ += references;
}

void PercpuRef::put(sim::Cpu& cpu, std::uint32_t references) {
    const sim::MechanismScope scope(cpu, id(Mechanism::percpu));
    cpu.charge(id(mode_ == Mode::percpu ? Primitive::percpu_count : Primitive::atomic_count));
    count_ -= references;
    if (mode_ == Mode::atomic && count_ == 0) {
        released(cpu);
    }
}

void PercpuRef::kill(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::percpu));
    cpu.charge(id(Primitive::percpu_ref_kill));
    cpu.touch(data_->line());
    mode_ = Mode::switching;
    context_->rcu.call(cpu, *this);
}

void PercpuRef::rcu_callback(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::percpu));
    cpu.touch(data_->line());
    cpu.charge(id(Primitive::percpu_sum_cpu), context_->percpu.possible_cpus());
    mode_ = Mode::atomic;
    put(cpu, 1);
}

void PercpuRef::exit(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::percpu));
    context_->percpu.free(cpu, area_);
    cpu.touch(data_->line());
    kfree(cpu, *data_);
    data_ = nullptr;
}

} // namespace uringsim::models
