#pragma once

#include "models/mm/kmalloc.h"
#include "models/mm/percpu_memory.h"
#include "models/sched/rcu.h"
#include "sim/cpu.h"

#include <cstdint>

namespace uringsim::models {

/// What a percpu_ref is made of.
struct PercpuRefContext {
    Kmalloc& memory;
    PercpuMemory& percpu;
    Rcu& rcu;
};

/// struct percpu_ref: a reference count that is cheap to take on any CPU and dear to end. It lives
/// in two pieces of memory (percpu_ref_data from kmalloc-64, a counter a possible CPU). Killing it
/// switches it to atomic mode: that needs an RCU grace period, after which a callback adds up the
/// counters of every possible CPU. Only then can the count reach zero.
/// Source: lib/percpu-refcount.c (6.1): percpu_ref_init, percpu_ref_kill_and_confirm,
/// percpu_ref_switch_to_atomic_rcu, percpu_ref_exit.
class PercpuRef : public RcuCallback {
  public:
    /// Takes its memory; the count starts at one.
    void init(sim::Cpu& cpu, const PercpuRefContext& context);

    /// percpu_ref_get_many, percpu_ref_put_many.
    void get(sim::Cpu& cpu, std::uint32_t references);
    void put(sim::Cpu& cpu, std::uint32_t references);

    /// Drops the first reference, once the switch to atomic mode is done.
    void kill(sim::Cpu& cpu);

    /// percpu_ref_exit: gives the memory back.
    void exit(sim::Cpu& cpu);

    /// percpu_ref_switch_to_atomic_rcu.
    void rcu_callback(sim::Cpu& cpu) final;

    /// The bytes of both pieces, a copy a possible CPU counted.
    static std::uint64_t bytes(std::uint32_t possible_cpus);

  protected:
    ~PercpuRef() override = default;

    /// The last reference is gone. From softirq context, or from whoever put it.
    virtual void released(sim::Cpu& cpu) = 0;

  private:
    enum class Mode : std::uint8_t { percpu, switching, atomic };

    const PercpuRefContext* context_ = nullptr;
    Object* data_ = nullptr;
    PercpuArea area_;
    std::int64_t count_ = 0;
    Mode mode_ = Mode::percpu;
};

} // namespace uringsim::models
