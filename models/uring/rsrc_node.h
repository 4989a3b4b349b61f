#pragma once

#include "models/counters.h"
#include "models/design.h"
#include "models/mechanisms.h"
#include "models/mm/slab.h"
#include "models/primitives.h"
#include "models/uring/file.h"
#include "models/uring/node_cache.h"
#include "sim/cpu.h"
#include "sim/sync.h"

#include <cstdint>
#include <memory>

namespace uringsim::models {

class Kernel;

/// struct io_rsrc_node as it lies in its slab object.
struct RsrcNode {
    std::uint32_t references = 0;
    RsrcResource* resource = nullptr;
    std::uint64_t tag = 0;
};

/// One slot of a table of registered files or buffers.
struct RsrcSlot {
    RsrcResource* resource = nullptr;
    Object* node = nullptr; ///< per-node lifetime only
    std::uint64_t tag = 0;
};

/// What rsrc nodes need of the ring that they belong to.
class RsrcOwner {
  public:
    virtual ~RsrcOwner() = default;
    virtual Kernel& kernel() = 0;
    virtual NodeCache& node_cache() = 0;

    /// Posts the CQE that tells user space that a tagged resource is no longer in use.
    virtual void post_tag(sim::Cpu& cpu, std::uint64_t tag) = 0;
};

/// How long the nodes behind registered files live: the seam between kernel generations.
class RsrcLifetime {
  public:
    RsrcLifetime() = default;
    RsrcLifetime(const RsrcLifetime&) = delete;
    RsrcLifetime& operator=(const RsrcLifetime&) = delete;
    virtual ~RsrcLifetime() = default;

    /// A table is about to be registered. 0 or -ENOMEM.
    virtual int table_registered(sim::Cpu& cpu) = 0;

    /// Takes what an install needs before the slot is touched. Sets `node` (nullptr where installs
    /// need none); 0 or -ENOMEM.
    virtual int prepare(sim::Cpu& cpu, Object*& node) = 0;

    /// Gives back what prepare() took for an install that then failed.
    virtual void abandon(sim::Cpu& cpu, Object* node) = 0;

    /// The slot's file is removed: now, or once nobody uses it. Empties the slot. 0 or -ENOMEM,
    /// which leaves the slot as it was.
    virtual int release(sim::Cpu& cpu, RsrcSlot& slot) = 0;

    /// Around the removals of one call. begin_update(): 0, or -ENOMEM before anything is done.
    virtual int begin_update(sim::Cpu& /*cpu*/) { return 0; }
    virtual void end_update(sim::Cpu& /*cpu*/) {}

    /// The table goes away: nobody can start to use what is in it any more. Returns nothing when all
    /// that was removed is free, else where to wait for that; ask again after a wake-up.
    virtual sim::WaitQueue* quiesce(sim::Cpu& /*cpu*/) { return nullptr; }

    /// The table goes, with a file in this slot. Drops the file; never fails.
    virtual void drop(sim::Cpu& cpu, RsrcSlot& slot) = 0;

    /// A request starts to use the slot; hand the result to put() when the request is freed.
    virtual Object* get(sim::Cpu& cpu, RsrcSlot& slot) = 0;
    virtual void put(sim::Cpu& cpu, Object& node) = 0;

    /// The table is gone. Frees what the lifetime itself holds.
    virtual void table_unregistered(sim::Cpu& cpu) = 0;

    /// Nodes taken from the cache and not given back.
    virtual std::uint64_t nodes_live() const = 0;

    /// Files whose slot was emptied but which somebody still holds.
    virtual std::uint64_t files_held() const = 0;
};

/// The lifetime that the design asks for.
std::unique_ptr<RsrcLifetime> make_rsrc_lifetime(const Design& design, RsrcOwner& owner);

/// What a node of the design costs in memory: its slab slot and all that is allocated with it, a copy
/// a possible CPU counted.
std::uint64_t rsrc_node_footprint(const Design& design, std::uint32_t possible_cpus);

/// io_rsrc_node_alloc: a node with one reference, or nullptr when memory is out.
inline Object* alloc_rsrc_node(sim::Cpu& cpu, NodeCache& cache) {
    const sim::MechanismScope scope(cpu, id(Mechanism::node));
    cpu.count(id(Counter::node_alloc));
    Object* object = cache.get(cpu);
    if (object == nullptr) {
        return nullptr;
    }
    cpu.charge(id(Primitive::node_init));
    cpu.touch(object->line());
    object->emplace<RsrcNode>().references = 1;
    return object;
}

/// io_free_rsrc_node: back to the ring's cache.
inline void free_rsrc_node(sim::Cpu& cpu, NodeCache& cache, Object& node) {
    cache.put(cpu, node);
}

} // namespace uringsim::models
