#include "models/uring/request/free_list.h"

#include "models/counters.h"
#include "models/primitives.h"

#include <array>

namespace uringsim::models {

namespace {

constexpr std::size_t alloc_batch = 8; // IO_REQ_ALLOC_BATCH

} // namespace

Request* FreeListRequests::alloc(sim::Cpu& cpu, const RequestUse& use) {
    changed_.change(cpu);
    if (free_.empty() && !refill(cpu)) {
        return nullptr;
    }
    Request& request = *free_.back();
    free_.pop_back();
    cpu.touch(request.lines);
    request.use = use;
    return &request;
}

bool FreeListRequests::refill(sim::Cpu& cpu) {
    cpu.charge(id(Primitive::request_bulk_refill));
    cpu.count(id(Counter::request_bulk_calls));
    std::array<Object*, alloc_batch> objects{};
    std::size_t got = objects.size();
    if (!cache_.alloc_bulk(cpu, objects)) {
        // All or nothing: the kernel then tries for a single one.
        objects[0] = cache_.alloc(cpu);
        got = objects[0] != nullptr ? 1 : 0;
    }
    // __io_alloc_req_refill pushes from the array's end, so that its first is handed out first.
    for (std::size_t i = got; i-- > 0;) {
        requests_.emplace_back();
        requests_.back().memory = objects[i];
        free_.push_back(&requests_.back());
    }
    cpu.count(id(Counter::request_alloc), got);
    return got > 0;
}

void FreeListRequests::free(sim::Cpu& cpu, Request& request, bool /*at_once*/) {
    changed_.change(cpu);
    free_.push_back(&request);
}

void FreeListRequests::drain(sim::Cpu& cpu) {
    for (Request* request : free_) {
        kfree(cpu, *request->memory);
    }
    free_.clear();
    requests_.clear();
}

} // namespace uringsim::models
