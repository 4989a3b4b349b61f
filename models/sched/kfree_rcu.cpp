#include "models/sched/kfree_rcu.h"

#include "models/mechanisms.h"
#include "sim/engine.h"

namespace uringsim::models {

namespace {

constexpr std::size_t full_page = 510; // KVFREE_BULK_MAX_ENTR
constexpr sim::Cycles drain_ms = 5000; // KFREE_DRAIN_JIFFIES
constexpr sim::Cycles jiffy_ms = 4;
constexpr sim::Cycles grace_ms = 10;
constexpr std::size_t objects_a_stage = 16;

} // namespace

void KfreeRcu::add(sim::Cpu& cpu, Object& object) {
    objects_.push_back(&object);
    const sim::Cycles delay = objects_.size() < full_page ? drain_ms : jiffy_ms;
    if (objects_.size() == 1 || objects_.size() == full_page) {
        cpu.engine().wake(*this, cpu.now() + (delay + grace_ms) * cycles_per_ms_);
    }
}

sim::Step KfreeRcu::step(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::slab));
    for (std::size_t i = 0; i < objects_a_stage && !objects_.empty(); ++i) {
        kfree(cpu, *objects_.back());
        objects_.pop_back();
    }
    return objects_.empty() ? sim::Step::blocked() : sim::Step::ready();
}

} // namespace uringsim::models
