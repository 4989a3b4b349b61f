#pragma once

#include "models/uring/request_policy.h"

#include <array>
#include <memory>

namespace uringsim::models {

/// The base of the 2020 thread: a submission of more than two SQEs asks for min(its size, 8)
/// requests at once and takes them from the array's end; what is left goes back when it ends. A
/// bulk that fails is followed by a single allocation, and that by the ring's one spare request.
/// Completed requests go back to the slab allocator one by one.
/// Source: io_alloc_req, io_submit_state_start and _end, io_get_fallback_req, __io_free_req,
/// fs/io_uring.c (5.8).
class SlubBulkRequests : public RequestAllocator {
  public:
    explicit SlubBulkRequests(const RequestContext& context)
        : pool_(context.pool) {}
    static std::unique_ptr<RequestAllocator> make(const RequestContext& context) {
        return std::make_unique<SlubBulkRequests>(context);
    }

    void begin_submit(sim::Cpu& cpu, std::uint32_t count) override;
    void end_submit(sim::Cpu& cpu) override;
    Request* alloc(sim::Cpu& cpu, const RequestUse& use) override;
    void free(sim::Cpu& cpu, Request& request, bool at_once) override;
    void drain(sim::Cpu& /*cpu*/) override {}
    std::uint64_t live() const override { return live_; }
    std::uint64_t cached() const override { return kept_; }

  private:
    static constexpr std::size_t batch = 8; // IO_IOPOLL_BATCH

    Request* take(sim::Cpu& cpu);
    Request* take_one(sim::Cpu& cpu);

    RequestPool& pool_;
    std::array<Request*, batch> kept_requests_{};
    std::size_t kept_ = 0;
    std::uint32_t submitting_ = 0;
    std::uint64_t live_ = 0;
    Request fallback_{};
    bool fallback_taken_ = false;
};

} // namespace uringsim::models
