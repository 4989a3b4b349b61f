#pragma once

#include "models/uring/request_policy.h"

#include <memory>

namespace uringsim::models {

/// The counter-proposal of 2020-05-14: the ring keeps one request. A submission takes it under
/// uring_lock and puts it back when the request completed at once; when it is punted, a new one is
/// allocated in its place, still under uring_lock. Requests that others complete go back to the
/// slab allocator. Where the new one cannot be had, the place stays empty and the next submission
/// tries.
class RecycleOneRequests final : public RequestAllocator {
  public:
    explicit RecycleOneRequests(const RequestContext& context)
        : pool_(context.pool) {}
    static std::unique_ptr<RequestAllocator> make(const RequestContext& context) {
        return std::make_unique<RecycleOneRequests>(context);
    }

    Request* alloc(sim::Cpu& cpu, const RequestUse& use) override;
    Request* leave_submitter(sim::Cpu& cpu, Request& request) override;
    void free(sim::Cpu& cpu, Request& request, bool at_once) override;
    void drain(sim::Cpu& cpu) override;
    std::uint64_t live() const override { return live_; }
    std::uint64_t cached() const override { return cached_ != nullptr ? 1 : 0; }

  private:
    RequestPool& pool_;
    Request* cached_ = nullptr; ///< ctx->cache_req
    std::uint64_t live_ = 0;
};

} // namespace uringsim::models
