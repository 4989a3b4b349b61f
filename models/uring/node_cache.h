#pragma once

#include "models/code_paths.h"
#include "models/design.h"
#include "models/mm/kmalloc.h"
#include "models/mm/slab.h"
#include "sim/cpu.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace uringsim::models {

/// What a node cache is built from.
struct NodeCacheContext {
    const Design& design;
    Kmalloc& memory;  ///< for pointer arrays
    KmemCache& nodes; ///< the slab cache that rsrc nodes come from
    std::span<CodePaths> code; ///< by CPU
};

/// Who keeps the rsrc nodes of one ring between uses: the seam for cache policies.
///
/// To add one: a file in models/uring/node_cache/ with a class and a `make` function, a line in
/// node_cache_registry.cpp, and a design or scenario that selects it by `node_cache.policy`.
class NodeCache {
  public:
    NodeCache() = default;
    NodeCache(const NodeCache&) = delete;
    NodeCache& operator=(const NodeCache&) = delete;
    virtual ~NodeCache() = default;

    /// A node for an install; nullptr when memory is out.
    virtual Object* get(sim::Cpu& cpu) = 0;

    /// A node was released. The policy keeps it or frees it.
    virtual void put(sim::Cpu& cpu, Object& node) = 0;

    /// A sparse table of `slots` was registered; `opt_in` says whether the registration carried the
    /// flag that the RFC asks about.
    virtual void sparse_table_registered(sim::Cpu& cpu, std::uint32_t slots, bool opt_in) = 0;

    /// The ring goes away: frees one of the nodes that are kept; false when none is left, after
    /// which nothing but the destructor is called. One at a time, since other CPUs act in between.
    virtual bool drain_one(sim::Cpu& cpu) = 0;

    virtual std::uint32_t cached() const = 0;
    virtual std::uint32_t capacity() const = 0;
    virtual std::uint64_t array_bytes() const = 0;
};

/// One row of the table that declares the policies.
struct NodeCachePolicy {
    std::string_view name;
    std::string_view help;
    /// Makes the cache of a new ring, charging its memory to `cpu`.
    std::unique_ptr<NodeCache> (*make)(sim::Cpu& cpu, const NodeCacheContext& context);
};

std::span<const NodeCachePolicy> node_cache_policies();

/// Names of all policies, in the order of the table: the choices of the knob node_cache.policy.
std::span<const std::string_view> node_cache_policy_names();

/// The cache that the design asks for.
std::unique_ptr<NodeCache> make_node_cache(sim::Cpu& cpu, const NodeCacheContext& context);

} // namespace uringsim::models
