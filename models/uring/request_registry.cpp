#include "models/uring/request/free_list.h"
#include "models/uring/request/on_stack.h"
#include "models/uring/request/percpu.h"
#include "models/uring/request/recycle_one.h"
#include "models/uring/request/slub_bulk.h"
#include "models/uring/request_policy.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace uringsim::models {

namespace {

constexpr std::array table{
    RequestPolicy{"free_list",
                  "a list a ring, refilled by bulks of 8, unlimited, emptied at exit (5.10+)",
                  &FreeListRequests::make},
    RequestPolicy{"slub_bulk",
                  "bulks of up to 8 for the length of a submission; freed one by one (5.7 - 5.9)",
                  &SlubBulkRequests::make},
    RequestPolicy{"percpu", "two caches a CPU for all rings (RFC of May 2020)",
                  &PerCpuRequestPolicy::make},
    RequestPolicy{"on_stack",
                  "requests that complete at once live on the submitter's stack (May 2020)",
                  &OnStackRequests::make},
    RequestPolicy{"recycle_one",
                  "one request a ring under uring_lock, replenished on a punt (May 2020)",
                  &RecycleOneRequests::make},
};

} // namespace

std::span<const RequestPolicy> request_policies() {
    return table;
}

std::span<const std::string_view> request_policy_names() {
    static constexpr auto names = [] {
        std::array<std::string_view, table.size()> result{};
        std::ranges::transform(table, result.begin(), &RequestPolicy::name);
        return result;
    }();
    return names;
}

std::unique_ptr<RequestAllocator> make_request_allocator(const RequestContext& context) {
    const auto* const row =
        std::ranges::find(table, context.design.request_policy, &RequestPolicy::name);
    if (row == table.end()) {
        throw std::logic_error("no request policy named " + context.design.request_policy);
    }
    return row->make(context);
}

} // namespace uringsim::models
