#pragma once

#include "models/design.h"
#include "models/machine.h"
#include "models/mm/kmalloc.h"
#include "models/mm/page_allocator.h"
#include "models/mm/percpu_memory.h"
#include "models/sched/rcu.h"
#include "models/sched/workqueue.h"
#include "models/uring/buffer_table.h"
#include "models/uring/file.h"
#include "models/uring/ring.h"
#include "sim/engine.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace uringsim::models {

/// The task under which the ledger books deferred kernel work.
inline constexpr sim::TaskId kworker_task{0};

/// The instructions of a kernel path, a CPU: a group of lines that cools over an idle gap.
struct CodePaths {
    sim::LineGroup submit{.weight = 350, .kind = sim::LineKind::code};
    sim::LineGroup registration{.weight = 230, .kind = sim::LineKind::code};
};

/// The high-water marks of memory that the resource paths hold.
struct MemoryPeaks {
    std::uint64_t nodes_live = 0;        ///< in slots or held by requests
    std::uint64_t nodes_cached = 0;      ///< in caches of live rings
    std::uint64_t node_array_bytes = 0;  ///< pointer arrays of those caches
    std::uint64_t retained_bytes = 0;    ///< cached nodes and their pointer arrays together
    std::uint64_t live_bytes = 0; ///< of nodes in use or waiting to be freed, with all that is theirs
};

/// One simulated kernel: the state that all its CPUs share.
class Kernel {
  public:
    Kernel(const Design& design, const Machine& machine, std::uint64_t seed);
    ~Kernel();
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    const Design& design() const { return design_; }
    const Machine& machine() const { return machine_; }
    sim::Engine& engine() { return engine_; }
    const sim::Engine& engine() const { return engine_; }
    Kmalloc& memory() { return memory_; }
    PageAllocator& pages() { return pages_; }
    PercpuMemory& percpu() { return percpu_; }
    const PercpuMemory& percpu() const { return percpu_; }
    Rcu& rcu() { return rcu_; }
    const Rcu& rcu() const { return rcu_; }
    Workqueue& workqueue() { return workqueue_; }
    PinnedMemory& pinned() { return pinned_; }
    const PinnedMemory& pinned() const { return pinned_; }
    KmemCache& node_slab() { return *node_slab_; }
    KmemCache& request_slab() { return *request_slab_; }
    /// What the node cache of a new ring is built from.
    NodeCacheContext node_cache_context() {
        return {design_, memory_, *node_slab_, node_cache_share_, exits_, machine_.mhz};
    }
    CodePaths& code(const sim::Cpu& cpu) { return code_.at(cpu.id()); }

    /// Makes what is there before the program starts: the resident slabs of other users.
    void boot();

    /// io_uring_setup, with parameters that RingParams::check() accepts.
    Ring& create_ring(sim::Cpu& cpu, const std::string& name, const RingParams& params);

    /// close: the exit work follows later, on the last CPU. The ring's name is free again at once.
    void close_ring(sim::Cpu& cpu, Ring& ring);

    /// A new open file.
    File& open_file() { return files_.emplace_back(); }

    /// The soft RLIMIT_NOFILE of the program.
    std::uint64_t rlimit_nofile = 1U << 20U;

    std::uint64_t rings_alive() const { return rings_.size(); }
    const std::vector<std::unique_ptr<Ring>>& rings() const { return rings_; }

    /// exit_task_work: what ring exits left for this CPU's task to free on its way to user mode.
    void run_exit_task_work(sim::Cpu& cpu);

    /// Notes the high-water marks; called where they can rise.
    void note_memory();
    /// Notes how many nodes a ring has that are in use or wait to be freed.
    void note_rsrc_nodes(std::uint64_t nodes);
    const MemoryPeaks& peaks() const { return peaks_; }

    /// What one node costs in memory, with all that is allocated for it.
    std::uint64_t node_footprint() const { return node_footprint_; }

    /// What went wrong with conservation; empty when all is accounted for. Call it after the run.
    std::vector<std::string> audit() const;

  private:
    friend class RingExit;
    /// What the exit work of a ring left for the task that used it, and since when.
    struct ExitTaskWork {
        Object* node;
        sim::Cycles since;
    };

    void ring_gone(Ring& ring, sim::Cycles now);
    sim::Cpu& exit_cpu(const sim::Cpu& closer);
    SlabCensus audit_slab(const KmemCache& cache, std::vector<std::string>& problems) const;

    Design design_;
    Machine machine_;
    sim::Engine engine_;
    PageAllocator pages_;
    Kmalloc memory_;
    PercpuMemory percpu_;
    Rcu rcu_;
    Workqueue workqueue_;
    PinnedMemory pinned_{memory_};
    KmemCache* node_slab_ = nullptr;
    KmemCache* request_slab_ = nullptr;
    std::vector<CodePaths> code_;
    std::deque<File> files_;
    std::weak_ptr<NodeCacheShare> node_cache_share_;
    std::vector<std::unique_ptr<Ring>> rings_;
    std::vector<std::unique_ptr<sim::Task>> exits_; ///< and other deferred work
    std::vector<std::vector<ExitTaskWork>> exit_task_work_; ///< by CPU, oldest first
    std::vector<std::string> problems_;
    MemoryPeaks peaks_;
    std::uint64_t node_footprint_ = 0;
};

} // namespace uringsim::models
