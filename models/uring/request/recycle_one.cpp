#include "models/uring/request/recycle_one.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

#include <utility>

namespace uringsim::models {

Request* RecycleOneRequests::alloc(sim::Cpu& cpu, const RequestUse& use) {
    Request* request = nullptr;
    {
        const sim::MechanismScope scope(cpu, id(Mechanism::request_cache));
        cpu.charge(id(Primitive::request_recycle));
        cpu.count(
            id(cached_ != nullptr ? Counter::request_cache_hit : Counter::request_cache_miss));
        request = cached_ != nullptr ? std::exchange(cached_, nullptr) : pool_.take(cpu);
    }
    if (request != nullptr) {
        cpu.touch(request->lines);
        request->use = use;
        ++live_;
    }
    return request;
}

Request* RecycleOneRequests::leave_submitter(sim::Cpu& cpu, Request& request) {
    if (cached_ == nullptr) {
        const sim::MechanismScope scope(cpu, id(Mechanism::request_cache));
        cached_ = pool_.take(cpu);
    }
    return &request;
}

void RecycleOneRequests::free(sim::Cpu& cpu, Request& request, bool at_once) {
    --live_;
    if (at_once && cached_ == nullptr) {
        const sim::MechanismScope scope(cpu, id(Mechanism::request_cache));
        cpu.charge(id(Primitive::request_recycle));
        cached_ = &request;
        return;
    }
    pool_.give(cpu, request);
}

void RecycleOneRequests::drain(sim::Cpu& cpu) {
    if (cached_ != nullptr) {
        pool_.give(cpu, *std::exchange(cached_, nullptr));
    }
}

} // namespace uringsim::models
