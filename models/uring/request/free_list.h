#pragma once

#include "models/uring/request_policy.h"
#include "sim/sync.h"

#include <deque>
#include <memory>
#include <vector>

namespace uringsim::models {

/// Today's form: a free list a ring, refilled by bulks of 8, unlimited, emptied only at exit.
/// Source: io_alloc_req, __io_alloc_req_refill, io_free_batch_list, io_uring/io_uring.c (6.12).
class FreeListRequests final : public RequestAllocator {
  public:
    explicit FreeListRequests(KmemCache& cache)
        : cache_(cache) {}
    static std::unique_ptr<RequestAllocator> make(const RequestContext& context) {
        return std::make_unique<FreeListRequests>(context.slab);
    }

    Request* alloc(sim::Cpu& cpu, const RequestUse& use) override;
    void free(sim::Cpu& cpu, Request& request, bool at_once) override;
    void drain(sim::Cpu& cpu) override;
    std::uint64_t live() const override { return requests_.size() - free_.size(); }
    std::uint64_t cached() const override { return free_.size(); }

  private:
    bool refill(sim::Cpu& cpu);

    KmemCache& cache_;
    std::deque<Request> requests_;
    std::vector<Request*> free_;
    sim::ChangeTime changed_; ///< of free_: workers on other CPUs free requests too
};

} // namespace uringsim::models
