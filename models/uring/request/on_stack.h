#pragma once

#include "models/uring/request/slub_bulk.h"

#include <memory>

namespace uringsim::models {

/// The on-stack patches of 2020-05-14: a request whose opcode may live there is one structure on
/// the submitter's stack, used over and over; when it does not complete at once it is copied into a
/// request from the slab allocator. All others are as in SlubBulkRequests.
/// The mailed versions never punt such a request; the copy is what their text says would be needed.
class OnStackRequests final : public SlubBulkRequests {
  public:
    explicit OnStackRequests(const RequestContext& context)
        : SlubBulkRequests(context) {}
    static std::unique_ptr<RequestAllocator> make(const RequestContext& context) {
        return std::make_unique<OnStackRequests>(context);
    }

    Request* alloc(sim::Cpu& cpu, const RequestUse& use) override;
    Request* leave_submitter(sim::Cpu& cpu, Request& request) override;
    void free(sim::Cpu& cpu, Request& request, bool at_once) override;
    std::uint64_t live() const override {
        return SlubBulkRequests::live() + (stack_in_use_ ? 1 : 0);
    }

  private:
    Request stack_{};
    bool stack_in_use_ = false;
};

} // namespace uringsim::models
