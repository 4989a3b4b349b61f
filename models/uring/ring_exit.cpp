#include "models/uring/ring_exit.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

#include <cerrno>

namespace uringsim::models {

RingExit::RingExit(Kernel& kernel, Ring& ring, sim::Cpu& cpu)
    : Task("ring exit", kworker_task, cpu), kernel_(kernel), ring_(ring) {}

sim::Step RingExit::step(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::ring_exit));
    // All exits share one account, and two of them may take turns on different CPUs.
    const std::uint64_t freed_before = cpu.counted(id(Counter::node_free));
    const sim::Step next = run_stage(cpu);
    cpu.count(id(Counter::freed_at_ring_exit), cpu.counted(id(Counter::node_free)) - freed_before);
    return next;
}

sim::Step RingExit::run_stage(sim::Cpu& cpu) {
    switch (stage_) {
    case Stage::start:
        cpu.charge(id(Primitive::ring_exit));
        kernel_.wake_for_exit(cpu, ring_);
        drop_polls(cpu);
        next_slot_ = ring_.files().size();
        stage_ = Stage::quiesce;
        return sim::Step::ready();
    case Stage::quiesce:
        if (sim::WaitQueue* queue = ring_.lifetime().quiesce(cpu)) {
            queue->add(*this);
            return sim::Step::blocked();
        }
        ring_.buffers().unregister(cpu);
        stage_ = Stage::files;
        return sim::Step::ready();
    case Stage::files:
        // A stage a slot: what it frees must not be seen before its time.
        while (next_slot_ > 0) {
            --next_slot_;
            if (ring_.files().occupied(next_slot_)) {
                ring_.files().release_at_exit(cpu, next_slot_);
                if (!cpu.may_continue()) {
                    return sim::Step::ready();
                }
            }
        }
        ring_.files().unregister(cpu);
        ring_.lifetime().table_unregistered(cpu); // also where the program had unregistered before
        stage_ = Stage::caches;
        return sim::Step::ready();
    case Stage::caches:
        while (ring_.node_cache().drain_one(cpu)) {
            if (!cpu.may_continue()) {
                return sim::Step::ready();
            }
        }
        stage_ = Stage::rest;
        return sim::Step::ready();
    case Stage::rest:
        ring_.release(cpu);
        cpu.count(id(Counter::rings_exited));
        kernel_.ring_gone(ring_, cpu.now());
        break;
    }
    return sim::Step::done();
}

void RingExit::drop_polls(sim::Cpu& cpu) {
    while (ring_.end_poll(cpu, -ECANCELED) || ring_.end_read(cpu, -ECANCELED)) {
    }
}

} // namespace uringsim::models
