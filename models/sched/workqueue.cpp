#include "models/sched/workqueue.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

#include <cassert>

namespace uringsim::models {

Workqueue::Workqueue(sim::Engine& engine)
    : engine_(engine) {
    for (std::uint16_t i = 0; i < engine.cpus(); ++i) {
        workers_.push_back(std::make_unique<Worker>(engine.cpu(i)));
    }
}

Workqueue::~Workqueue() {
    for (const auto& worker : workers_) {
        if (worker->pending()) {
            engine_.cancel(*worker);
        }
    }
}

void Workqueue::queue(std::uint16_t cpu, Work& work, sim::Cycles at) {
    if (work.queued_) {
        return;
    }
    work.queued_ = true;
    Worker& worker = *workers_.at(work.running_on_.value_or(cpu));
    worker.works.push_back(&work);
    engine_.wake(worker, at);
}

void Workqueue::forget(Work& work) {
    if (!work.queued_) {
        return;
    }
    for (const auto& worker : workers_) {
        std::erase(worker->works, &work);
    }
    work.queued_ = false;
}

sim::Step Workqueue::Worker::step(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::workqueue));
    if (running_ == nullptr) {
        if (works.empty()) {
            return sim::Step::blocked();
        }
        running_ = works.front();
        works.pop_front();
        running_->queued_ = false;
        running_->running_on_ = cpu.id();
        cpu.charge(id(Primitive::work_start));
        cpu.count(id(Counter::works_run));
    }
    if (!running_->run(cpu)) {
        running_->running_on_.reset();
        running_ = nullptr;
    }
    return sim::Step::ready();
}

Workqueue::DelayedWork::~DelayedWork() {
    assert(!is_running());
    if (pending()) {
        queue_.engine_.cancel(*this);
    }
    queue_.forget(*this);
}

void Workqueue::DelayedWork::modify(sim::Cpu& cpu, sim::Cycles delay) {
    const sim::MechanismScope scope(cpu, id(Mechanism::workqueue));
    cpu.charge(id(Primitive::work_queue));
    if (pending()) {
        queue_.engine_.cancel(*this);
    }
    queue_.forget(*this);
    cpu_ = cpu.id();
    queue_.engine_.schedule(*this, cpu.now() + delay);
}

void Workqueue::DelayedWork::expedite(sim::Cpu& cpu) {
    if (pending()) {
        queue_.engine_.cancel(*this);
        queue_.engine_.schedule(*this, cpu.now());
    }
}

void Workqueue::DelayedWork::fire(sim::Cycles now) {
    queue_.queue(cpu_, *this, now);
}

} // namespace uringsim::models
