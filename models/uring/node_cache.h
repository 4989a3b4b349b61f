#pragma once

#include "models/code_paths.h"
#include "models/design.h"
#include "models/mm/kmalloc.h"
#include "models/mm/slab.h"
#include "sim/cpu.h"
#include "sim/task.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace uringsim::models {

/// State that the node caches of all rings share, for policies that have such; each of those caches
/// owns it together with the others.
class NodeCacheShare {
  public:
    NodeCacheShare() = default;
    NodeCacheShare(const NodeCacheShare&) = delete;
    NodeCacheShare& operator=(const NodeCacheShare&) = delete;
    virtual ~NodeCacheShare() = default;

    virtual std::uint64_t cached() const = 0;
    virtual std::uint64_t array_bytes() const = 0;
};

/// What a node cache is built from.
struct NodeCacheContext {
    const Design& design;
    Kmalloc& memory;  ///< for pointer arrays
    KmemCache& nodes; ///< the slab cache that rsrc nodes come from
    std::span<CodePaths> code; ///< by CPU
    std::weak_ptr<NodeCacheShare>& share; ///< what the rings have in common; a policy may set it
    std::vector<std::unique_ptr<sim::Task>>& deferred; ///< owns deferred work until the run ends
    std::int64_t mhz; ///< the machine's clock

    sim::Cycles cycles_of_us(std::int64_t us) const { return us * mhz; }
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

    /// The program unregistered the table; its nodes were put before, but for those that requests
    /// still hold.
    virtual void table_unregistered(sim::Cpu& cpu);

    /// The ring goes away: frees one of the nodes that are kept; false when none is left, after
    /// which nothing but the destructor is called. One at a time, since other CPUs act in between.
    virtual bool drain_one(sim::Cpu& cpu) = 0;

    virtual std::uint32_t cached() const = 0; ///< of this ring alone
    virtual std::uint32_t capacity() const = 0;
    /// Bytes that the cache holds besides cached nodes: pointer arrays, or memory set aside.
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
