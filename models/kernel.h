#pragma once

#include "models/code_paths.h"
#include "models/design.h"
#include "models/machine.h"
#include "models/mm/kmalloc.h"
#include "models/mm/page_allocator.h"
#include "models/mm/percpu_memory.h"
#include "models/sched/rcu.h"
#include "models/sched/workqueue.h"
#include "models/uring/buffer_table.h"
#include "models/sched/kfree_rcu.h"
#include "models/uring/file.h"
#include "models/uring/interrupts.h"
#include "models/uring/io_wq.h"
#include "models/uring/ring.h"
#include "sim/engine.h"
#include "sim/random.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace uringsim::models {

/// The task under which the ledger books deferred kernel work.
inline constexpr sim::TaskId kworker_task{0};

/// The high-water marks of memory that the resource paths hold.
struct MemoryPeaks {
    std::uint64_t nodes_live = 0;        ///< in slots or held by requests
    std::uint64_t nodes_cached = 0;      ///< in caches of live rings
    std::uint64_t node_array_bytes = 0;  ///< pointer arrays of those caches
    std::uint64_t retained_bytes = 0;    ///< cached nodes and their pointer arrays together
    std::uint64_t live_bytes = 0; ///< of nodes in use or waiting to be freed, with all that is theirs
    std::uint64_t requests_in_flight = 0; ///< of one ring: submitted and not yet completed
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
        return {design_, memory_, *node_slab_, code_, node_cache_share_, exits_, machine_.mhz};
    }
    /// kmalloc-N, or kmalloc-cg-N, with the slabs that others have left in it.
    KmemCache& shared_cache(sim::Cpu& cpu, std::uint32_t bytes, bool account);
    RequestContext request_context();
    RequestPool& request_pool() { return request_pool_; }
    const RequestPool& request_pool() const { return request_pool_; }
    PerCpuRequests& per_cpu_requests() { return per_cpu_requests_; }
    const PerCpuRequests& per_cpu_requests() const { return per_cpu_requests_; }
    Interrupts& interrupts() { return interrupts_; }
    IoWq& io_wq() { return io_wq_; }
    CodePaths& code(const sim::Cpu& cpu) { return code_.at(cpu.id()); }

    /// Makes what is there before the program starts: the resident slabs of other users.
    void boot();

    /// io_uring_setup, with parameters that RingParams::check() accepts.
    Ring& create_ring(sim::Cpu& cpu, const std::string& name, const RingParams& params);

    /// close: the exit work follows later, on the last CPU. The ring's name is free again at once.
    void close_ring(sim::Cpu& cpu, Ring& ring);

    /// cpuhp: a CPU goes offline, and what caches keep for it is given back, on `cpu`. -EBUSY where
    /// kernel work is waiting for it or it is the last one; -EINVAL where it is offline or not
    /// there.
    int take_cpu_offline(sim::Cpu& cpu, std::uint16_t dead);

    /// A CPU comes back, with empty caches. -EINVAL where it is online or not there.
    int bring_cpu_online(std::uint16_t id);
    bool online(std::uint16_t id) const { return online_.at(id); }

    /// Memory pressure: the shrinkers are asked for `objects`. Returns how many they gave.
    std::uint64_t shrink(sim::Cpu& cpu, std::uint64_t objects);

    /// A request was submitted: somebody else may want memory (knob slab.other_users).
    void other_users(sim::Cpu& cpu) {
        if (design_.slab_other_users > 0) {
            use_memory_elsewhere(cpu);
        }
    }

    /// A new open file.
    File& open_file() { return files_.emplace_back(); }

    /// The soft RLIMIT_NOFILE of the program.
    std::uint64_t rlimit_nofile = 1U << 20U;

    std::uint64_t rings_alive() const { return rings_.size(); }
    const std::vector<std::unique_ptr<Ring>>& rings() const { return rings_; }

    /// The io_uring side of the task that runs on a CPU; nullptr when none does.
    UringTask* current(const sim::Cpu& cpu);
    /// The io_uring side of a program's task.
    UringTask& uring_task(sim::Task& task);

    /// The task exits: it runs what task_work it has, and messages to its rings fail from now on.
    void task_exits(sim::Task& task);

    /// io_queue_async: hands a message to io-wq, on the CPU that does deferred work.
    void punt(sim::Cpu& cpu, const MessageIssue& issue);

    /// kfree_rcu.
    void kfree_rcu(sim::Cpu& cpu, Object& object) { kfree_rcu_->add(cpu, object); }

    /// When a timer set for `at` fires: up to the slack later, at once when a tick comes by.
    sim::Cycles timer_fires(sim::Cycles at) const;

    /// What an entry into the kernel, or a wake-up in it, costs more than the steps that it takes:
    /// it is dearer after a pause (predictors, TLB and caches have cooled), and it scatters.
    void enter_noise(sim::Cpu& cpu);
    void wake_noise(sim::Cpu& cpu);

    /// exit_task_work: what ring exits left for this CPU's task to free on its way to user mode.
    void run_exit_task_work(sim::Cpu& cpu);

    /// A ring has so many requests in flight.
    void note_requests(std::uint64_t in_flight) {
        peaks_.requests_in_flight = std::max(peaks_.requests_in_flight, in_flight);
    }

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
    void use_memory_elsewhere(sim::Cpu& cpu);
    /// Objects in use in each slab that is there before the program starts.
    std::uint32_t resident_objects(const KmemCache& cache) const;
    std::uint64_t held_elsewhere() const;

    /// What the exit work of a ring left for the task that used it, and since when.
    struct ExitTaskWork {
        Object* node;
        sim::Cycles since;
    };

    void ring_gone(Ring& ring, sim::Cycles now);
    /// io_ring_exit_work first waits until the creator has dropped its link to the ring
    /// (io_tctx_exit_cb): a task that sleeps is woken for it and sleeps on.
    void wake_for_exit(sim::Cpu& cpu, Ring& ring);
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
    RequestPool request_pool_;
    PerCpuRequests per_cpu_requests_;
    Interrupts interrupts_;
    IoWq io_wq_;
    std::vector<bool> online_;
    std::int64_t submitted_since_other_use_ = 0;
    std::deque<Object*> other_objects_; ///< what other users hold, oldest first
    std::vector<CodePaths> code_;
    std::deque<File> files_;
    std::weak_ptr<NodeCacheShare> node_cache_share_;
    std::vector<std::unique_ptr<Ring>> rings_;
    std::vector<std::unique_ptr<sim::Task>> exits_; ///< and other deferred work
    std::vector<std::vector<ExitTaskWork>> exit_task_work_; ///< by CPU, oldest first
    struct Warmth {
        sim::Cycles last = 0;
        std::uint32_t level = 0;
    };
    void charge_cold(sim::Cpu& cpu, Primitive primitive);

    std::vector<std::unique_ptr<UringTask>> uring_tasks_; ///< by TaskId
    std::unique_ptr<KfreeRcu> kfree_rcu_;
    std::vector<Warmth> warmth_; ///< by CPU
    sim::RandomStream noise_stream_;
    std::vector<std::string> problems_;
    MemoryPeaks peaks_;
    std::uint64_t node_footprint_ = 0;
};

} // namespace uringsim::models
