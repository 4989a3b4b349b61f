#pragma once

#include "models/design.h"
#include "models/mm/slab.h"
#include "models/uring/percpu_requests.h"
#include "models/uring/request.h"
#include "models/uring/request_pool.h"

#include <memory>
#include <span>
#include <string_view>

namespace uringsim::models {

/// What a request allocator is built from.
struct RequestContext {
    const Design& design;
    KmemCache& slab;         ///< the slab cache that requests come from
    RequestPool& pool;       ///< the same, with the host's side of each request
    PerCpuRequests& per_cpu; ///< the caches that all rings share
};

/// One row of the table that declares the policies.
struct RequestPolicy {
    std::string_view name;
    std::string_view help;
    std::unique_ptr<RequestAllocator> (*make)(const RequestContext& context);
};

std::span<const RequestPolicy> request_policies();

/// Names of all policies, in the order of the table: the choices of the knob request.policy.
std::span<const std::string_view> request_policy_names();

/// The allocator that the design asks for, for a new ring.
std::unique_ptr<RequestAllocator> make_request_allocator(const RequestContext& context);

} // namespace uringsim::models
