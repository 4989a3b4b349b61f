#include "models/uring/interrupts.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"
#include "models/uring/ring.h"

#include <algorithm>

namespace uringsim::models {

void Interrupts::raise(const sim::Cpu& cpu, Ring& ring, Request& request, sim::Cycles due) {
    auto& queue = pending_[cpu.id()];
    const auto place = std::upper_bound(
        queue.begin(), queue.end(), due,
        [](sim::Cycles time, const Completion& other) { return time < other.due; });
    queue.insert(place, {due, &ring, &request});
}

bool Interrupts::take(sim::Cpu& cpu, bool wait) {
    auto& queue = pending_[cpu.id()];
    if (queue.empty() || (!wait && queue.front().due > cpu.now())) {
        return false;
    }
    if (queue.front().due > cpu.now()) {
        const sim::MechanismScope scope(cpu, id(Mechanism::scheduler));
        cpu.elapse(id(Primitive::waiting), queue.front().due - cpu.now());
    }
    const sim::MechanismScope scope(cpu, id(Mechanism::interrupt));
    cpu.charge(id(Primitive::irq_entry));
    while (!queue.empty() && queue.front().due <= cpu.now()) {
        const Completion completion = queue.front();
        queue.pop_front();
        cpu.count(id(Counter::request_irq_completions));
        completion.ring->complete_later(cpu, *completion.request);
    }
    return true;
}

bool Interrupts::outstanding(const sim::Cpu& cpu, const Ring& ring) const {
    return std::ranges::any_of(
        pending_[cpu.id()], [&](const Completion& completion) { return completion.ring == &ring; });
}

} // namespace uringsim::models
