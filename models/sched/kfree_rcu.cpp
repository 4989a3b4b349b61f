#include "models/sched/kfree_rcu.h"

#include "models/mechanisms.h"
#include "sim/engine.h"

#include <algorithm>

namespace uringsim::models {

namespace {

constexpr std::size_t full_page = 510; // KVFREE_BULK_MAX_ENTR
constexpr sim::Cycles drain_ms = 5000; // KFREE_DRAIN_JIFFIES
constexpr sim::Cycles jiffy_ms = 4;
constexpr sim::Cycles grace_ms = 10;
constexpr std::size_t objects_a_stage = 16;

} // namespace

sim::Cycles KfreeRcu::wait() const {
    const sim::Cycles delay = objects_.size() < full_page ? drain_ms : jiffy_ms;
    return (delay + grace_ms) * cycles_per_ms_;
}

void KfreeRcu::add(sim::Cpu& cpu, Object& object) {
    objects_.push_back({&object, cpu.now()});
    if (objects_.size() == 1 || objects_.size() == full_page) {
        cpu.engine().wake(*this, cpu.now() + wait());
    }
}

std::size_t KfreeRcu::ripe(sim::Cycles now) const {
    const sim::Cycles before = now - grace_ms * cycles_per_ms_;
    const auto young = std::ranges::find_if(
        objects_, [before](const Item& item) { return item.added_at > before; });
    return static_cast<std::size_t>(young - objects_.begin());
}

sim::Step KfreeRcu::step(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::slab));
    if (batch_ == 0) {
        batch_ = ripe(cpu.now());
    }
    for (std::size_t i = 0; i < objects_a_stage && freed_ < batch_; ++i) {
        ++freed_;
        kfree(cpu, *objects_[batch_ - freed_].object);
    }
    if (freed_ < batch_) {
        return sim::Step::ready();
    }
    objects_.erase(objects_.begin(), objects_.begin() + static_cast<std::ptrdiff_t>(batch_));
    batch_ = 0;
    freed_ = 0;
    return objects_.empty() ? sim::Step::blocked() : sim::Step::sleep_until(cpu.now() + wait());
}

} // namespace uringsim::models
