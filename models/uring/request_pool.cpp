#include "models/uring/request_pool.h"

#include "models/counters.h"

#include <algorithm>

namespace uringsim::models {

namespace {

/// The slab allocator touches an object's first line itself; the others go together.
constexpr std::uint32_t other_lines = 3;

/// The making of a slab writes a free pointer into every object's first line, no more: where the
/// other lines of a new object are found depends on who had the page before, so they count as
/// memory. grow() stamps all lines of a slab one after the other and only unwrap() stamps the
/// second line of an object again, so it is one older than the third until the object has been
/// used.
bool never_used(const Object& object) {
    const sim::Line* lines = &object.slab->line_of(object);
    return lines[1].fine + 1 == lines[2].fine;
}

/// What a request's other lines are remembered by.
sim::Line& second_line(Object& object) {
    return (&object.line())[1];
}

} // namespace

Request& RequestPool::wrap(Object& object) {
    if (spare_.empty()) {
        spare_.push_back(&requests_.emplace_back());
    }
    Request& request = *spare_.back();
    spare_.pop_back();
    request = Request{};
    request.lines = {.line = never_used(object) ? sim::Line{} : second_line(object),
                     .weight = other_lines};
    request.memory = &object;
    return request;
}

Object& RequestPool::unwrap(Request& request) {
    Object& object = *request.memory;
    second_line(object) = request.lines.line;
    request.memory = nullptr;
    spare_.push_back(&request);
    return object;
}

void RequestPool::note_taken(sim::Cpu& cpu, std::uint64_t count) {
    cpu.count(id(Counter::request_alloc), count);
    taken_ += count;
    taken_peak_ = std::max(taken_peak_, taken_);
}

Request* RequestPool::take(sim::Cpu& cpu) {
    Object* object = slab_.alloc(cpu);
    if (object == nullptr) {
        return nullptr;
    }
    note_taken(cpu, 1);
    return &wrap(*object);
}

bool RequestPool::take_bulk(sim::Cpu& cpu, std::span<Request*> out) {
    objects_.resize(out.size());
    cpu.count(id(Counter::request_bulk_calls));
    if (!slab_.alloc_bulk(cpu, objects_)) {
        return false;
    }
    note_taken(cpu, out.size());
    std::ranges::transform(objects_, out.begin(), [&](Object* object) { return &wrap(*object); });
    return true;
}

void RequestPool::give(sim::Cpu& cpu, Request& request) {
    --taken_;
    cpu.count(id(Counter::request_free));
    slab_.free(cpu, unwrap(request));
}

void RequestPool::give_bulk(sim::Cpu& cpu, std::span<Request* const> requests) {
    taken_ -= requests.size();
    cpu.count(id(Counter::request_free), requests.size());
    objects_.resize(requests.size());
    std::ranges::transform(requests, objects_.begin(),
                           [&](Request* request) { return &unwrap(*request); });
    slab_.free_bulk(cpu, objects_);
}

} // namespace uringsim::models
