#include "models/uring/io_wq.h"

#include "models/counters.h"
#include "models/kernel.h"
#include "models/mechanisms.h"
#include "models/primitives.h"
#include "models/uring/ring.h"

#include <algorithm>

namespace uringsim::models {

IoWorker::IoWorker(sim::Cpu& cpu)
    : Task("io-wq worker", sim::TaskId{0}, cpu) {}

sim::Step IoWorker::step(sim::Cpu& cpu) {
    if (work_.empty()) {
        return sim::Step::blocked();
    }
    const Work work = work_.front();
    if (work.at > cpu.now()) {
        return sim::Step::sleep_until(work.at);
    }
    work_.pop_front();
    const sim::MechanismScope scope(cpu, id(Mechanism::io_wq));
    cpu.charge(id(Primitive::io_wq_work));
    work.ring->complete_later(cpu, *work.request);
    return sim::Step::ready();
}

IoWq::IoWq(Kernel& kernel)
    : kernel_(kernel)
    , workers_(kernel.engine().cpus()) {}

sim::Cpu& IoWq::cpu_after(const sim::Cpu& cpu) {
    sim::Engine& engine = kernel_.engine();
    std::uint16_t id = cpu.id();
    do {
        id = static_cast<std::uint16_t>((id + 1U) % engine.cpus());
    } while (!kernel_.online(id));
    return engine.cpu(id);
}

void IoWq::leave(std::uint16_t cpu) {
    for (auto& worker : workers_) {
        if (worker && worker->cpu().id() == cpu) {
            worker.reset();
        }
    }
}

void IoWq::punt(sim::Cpu& cpu, Ring& ring, Request& request) {
    const sim::MechanismScope scope(cpu, id(Mechanism::io_wq));
    cpu.charge(id(Primitive::io_wq_punt));
    cpu.count(id(Counter::request_punts));
    auto& worker = workers_[cpu.id()];
    if (!worker) {
        worker = std::make_unique<IoWorker>(cpu_after(cpu));
    }
    worker->add(ring, request, cpu.now());
    kernel_.engine().wake(*worker, cpu.now());
}

bool IoWq::busy_on(std::uint16_t cpu) const {
    return std::ranges::any_of(workers_, [&](const auto& worker) {
        return worker && worker->cpu().id() == cpu && !worker->idle();
    });
}

} // namespace uringsim::models
