#include "models/sched/rcu.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

#include <algorithm>

namespace uringsim::models {

namespace {

constexpr std::uint64_t usual_limit = 10;     // blimit
constexpr std::uint64_t flood_limit = 10'000; // DEFAULT_MAX_RCU_BLIMIT
constexpr std::uint64_t flood_mark = 10'000;  // qhimark
constexpr std::uint64_t divisor_shift = 7;    // rcu_divisor
constexpr std::uint64_t timed_above = 100;    // longer batches look at the clock
constexpr unsigned softirq_restarts = 10;     // MAX_SOFTIRQ_RESTART

} // namespace

std::int64_t RcuTiming::jiffies() const {
    constexpr std::int64_t medium_hz = 250;
    constexpr std::int64_t high_hz = 500;
    constexpr std::int64_t cpus_a_jiffy = 256; // RCU_JIFFIES_FQS_DIV
    const std::int64_t first_force = 1 + (hz > medium_hz ? 1 : 0) + (hz > high_hz ? 1 : 0);
    return first_force + possible_cpus / cpus_a_jiffy + 1;
}

void Rcu::List::push(RcuCallback& callback) {
    callback.next_ = nullptr;
    (first == nullptr ? first : last->next_) = &callback;
    last = &callback;
}

RcuCallback* Rcu::List::pop() {
    RcuCallback* callback = first;
    first = callback->next_;
    return callback;
}

void Rcu::List::append(List& other) {
    if (other.empty()) {
        return;
    }
    (first == nullptr ? first : last->next_) = other.first;
    last = other.last;
    other = List{};
}

Rcu::Rcu(sim::Engine& engine, const RcuTiming& timing)
    : engine_(engine)
    , timing_(timing) {
    for (std::uint16_t i = 0; i < engine.cpus(); ++i) {
        cpus_.emplace_back(*this);
    }
}

Rcu::~Rcu() {
    if (grace_period_.pending()) {
        engine_.cancel(grace_period_);
    }
}

void Rcu::call(sim::Cpu& cpu, RcuCallback& callback) {
    const sim::MechanismScope scope(cpu, id(Mechanism::rcu));
    cpu.charge(id(Primitive::call_rcu));
    cpu.count(id(Counter::rcu_calls));
    CpuCallbacks& local = cpus_[cpu.id()];
    ++local.count;
    peak_pending_ = std::max(peak_pending_, ++pending_);
    if (grace_period_.pending()) {
        local.next.push(callback);
        return;
    }
    local.waiting.push(callback);
    engine_.schedule(grace_period_, cpu.now() + grace_period());
}

void Rcu::grace_period_ends(sim::Cycles now) {
    bool more = false;
    for (CpuCallbacks& local : cpus_) {
        local.done.append(local.waiting);
        local.waiting.append(local.next);
        more = more || !local.waiting.empty();
    }
    if (more) {
        engine_.schedule(grace_period_, now + grace_period());
    }
    for (std::uint16_t i = 0; i < engine_.cpus(); ++i) {
        if (!cpus_[i].done.empty()) {
            engine_.cpu(i).raise(cpus_[i], now);
        }
    }
}

bool Rcu::CpuCallbacks::serve(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::rcu));
    const sim::Cycles until = cpu.now() + rcu_.timing_.softirq_limit;
    for (unsigned i = 0; i < softirq_restarts && !done.empty(); ++i) {
        cpu.charge(id(Primitive::softirq));
        if (!batch(cpu) || cpu.now() >= until) {
            break;
        }
    }
    return !done.empty();
}

/// rcu_do_batch. False: another CPU has to catch up before this one goes on.
bool Rcu::CpuCallbacks::batch(sim::Cpu& cpu) {
    const std::uint64_t base = count > flood_mark ? flood_limit : usual_limit;
    const std::uint64_t limit = std::max(base, count >> divisor_shift);
    const sim::Cycles until = cpu.now() + rcu_.timing_.batch_limit;
    for (std::uint64_t run = 1; !done.empty(); ++run) {
        RcuCallback& callback = *done.pop();
        --count;
        --rcu_.pending_;
        cpu.charge(id(Primitive::rcu_callback));
        cpu.count(id(Counter::rcu_callbacks));
        callback.rcu_callback(cpu);
        if (!cpu.may_continue()) {
            return false;
        }
        if ((run >= limit && cpu.has_task()) || (limit > timed_above && cpu.now() >= until)) {
            break;
        }
    }
    return true;
}

} // namespace uringsim::models
