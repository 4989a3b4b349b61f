#include "models/uring/request/slub_bulk.h"

#include "models/counters.h"
#include "models/primitives.h"

#include <algorithm>

namespace uringsim::models {

namespace {

constexpr std::uint32_t plug_threshold = 2; // IO_PLUG_THRESHOLD

} // namespace

void SlubBulkRequests::begin_submit(sim::Cpu& /*cpu*/, std::uint32_t count) {
    submitting_ = count > plug_threshold ? count : 0;
}

void SlubBulkRequests::end_submit(sim::Cpu& cpu) {
    if (kept_ > 0) {
        pool_.give_bulk(cpu, std::span(kept_requests_).first(kept_));
        kept_ = 0;
    }
    submitting_ = 0;
}

Request* SlubBulkRequests::alloc(sim::Cpu& cpu, const RequestUse& use) {
    Request* request = take(cpu);
    if (request != nullptr) {
        cpu.touch(request->lines);
        request->use = use;
        ++live_;
    }
    return request;
}

Request* SlubBulkRequests::take(sim::Cpu& cpu) {
    if (kept_ == 0 && submitting_ > 0) {
        // ios_left is lowered for requests with files only, so it stays at the submission's size.
        const std::size_t wanted = std::min<std::size_t>(submitting_, batch);
        if (pool_.take_bulk(cpu, std::span(kept_requests_).first(wanted))) {
            kept_ = wanted;
        }
    }
    return kept_ > 0 ? kept_requests_[--kept_] : take_one(cpu);
}

Request* SlubBulkRequests::take_one(sim::Cpu& cpu) {
    if (Request* request = pool_.take(cpu)) {
        return request;
    }
    if (fallback_taken_) {
        return nullptr;
    }
    fallback_taken_ = true;
    fallback_.fallback = true;
    cpu.count(id(Counter::request_fallback));
    return &fallback_;
}

void SlubBulkRequests::free(sim::Cpu& cpu, Request& request, bool /*at_once*/) {
    cpu.charge(id(Primitive::request_io_kfree));
    --live_;
    if (request.fallback) {
        fallback_taken_ = false;
        return;
    }
    pool_.give(cpu, request);
}

} // namespace uringsim::models
