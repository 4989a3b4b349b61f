#include "models/uring/request/percpu.h"

#include "models/counters.h"

namespace uringsim::models {

Request* PerCpuRequestPolicy::alloc(sim::Cpu& cpu, const RequestUse& use) {
    Request* request = caches_.alloc(cpu, use);
    if (request == nullptr && !fallback_taken_) {
        fallback_taken_ = true;
        fallback_.fallback = true;
        cpu.count(id(Counter::request_fallback));
        request = &fallback_;
    }
    if (request != nullptr) {
        cpu.touch(request->lines);
        request->use = use;
        ++live_;
    }
    return request;
}

void PerCpuRequestPolicy::free(sim::Cpu& cpu, Request& request, bool /*at_once*/) {
    --live_;
    if (request.fallback) {
        fallback_taken_ = false;
        return;
    }
    caches_.free(cpu, request);
}

} // namespace uringsim::models
