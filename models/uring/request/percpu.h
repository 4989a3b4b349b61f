#pragma once

#include "models/uring/request_policy.h"

#include <memory>

namespace uringsim::models {

/// One ring's use of the per-CPU caches of the 2020 patch. A request goes to the cache of the CPU
/// that frees it. Nothing is kept for the ring, so a ring's exit frees nothing.
/// Source: io_alloc_req, __io_free_req of the mails of 2020-05-13 and 2020-05-14.
class PerCpuRequestPolicy final : public RequestAllocator {
  public:
    explicit PerCpuRequestPolicy(PerCpuRequests& caches)
        : caches_(caches) {}
    static std::unique_ptr<RequestAllocator> make(const RequestContext& context) {
        return std::make_unique<PerCpuRequestPolicy>(context.per_cpu);
    }

    Request* alloc(sim::Cpu& cpu, const RequestUse& use) override;
    void free(sim::Cpu& cpu, Request& request, bool at_once) override;
    void drain(sim::Cpu& /*cpu*/) override {}
    std::uint64_t live() const override { return live_; }
    std::uint64_t cached() const override { return 0; }

  private:
    PerCpuRequests& caches_;
    std::uint64_t live_ = 0;
    Request fallback_{};
    bool fallback_taken_ = false;
};

} // namespace uringsim::models
