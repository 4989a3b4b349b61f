#pragma once

#include "models/mm/slab.h"
#include "models/uring/request.h"
#include "sim/cpu.h"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace uringsim::models {

/// Requests as slab objects: what kmem_cache_alloc and _free of req_cachep do, for the policies
/// whose requests go back to the slab allocator while a ring lives.
///
/// The temperature of a request is that of its object's lines, so it follows the object's identity.
class RequestPool {
  public:
    explicit RequestPool(KmemCache& slab)
        : slab_(slab) {}

    /// One request, or nullptr when memory is out.
    Request* take(sim::Cpu& cpu);

    /// Fills `out` in one bulk call, or leaves it untouched and returns false: all or nothing.
    bool take_bulk(sim::Cpu& cpu, std::span<Request*> out);

    void give(sim::Cpu& cpu, Request& request);

    /// kmem_cache_free_bulk.
    void give_bulk(sim::Cpu& cpu, std::span<Request* const> requests);

    /// Requests out of the slab allocator now, and at most so far.
    std::uint64_t taken() const { return taken_; }
    std::uint64_t taken_peak() const { return taken_peak_; }

  private:
    Request& wrap(Object& object);
    Object& unwrap(Request& request);
    void note_taken(sim::Cpu& cpu, std::uint64_t count);

    KmemCache& slab_;
    std::deque<Request> requests_;
    std::vector<Request*> spare_;
    std::vector<Object*> objects_;
    std::uint64_t taken_ = 0;
    std::uint64_t taken_peak_ = 0;
};

} // namespace uringsim::models
