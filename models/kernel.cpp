#include "models/kernel.h"

#include "models/code_lengths.h"
#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"
#include "models/uring/msg_punt.h"
#include "models/uring/ring_exit.h"

#include <algorithm>
#include <cerrno>

namespace uringsim::models {

namespace {

constexpr std::uint32_t request_bytes = 256; // struct io_kiocb: 248 bytes, aligned to lines

sim::EngineConfig engine_config(const Machine& machine, std::uint64_t seed) {
    sim::EngineConfig config;
    config.cpus = static_cast<std::uint16_t>(machine.cpus);
    config.geometry = machine.memory;
    config.time_slice = machine.cycles_of_us(machine.time_slice_us);
    config.geometry.aging_idle = machine.cycles_of_us(machine.aging_idle_us);
    config.primitives.memory = {
        .l2 = id(Primitive::line_l2),
        .llc = id(Primitive::line_llc),
        .memory = id(Primitive::line_memory),
        .remote = id(Primitive::line_remote),
        .aged = id(Primitive::line_aged),
        .cold_code = id(Primitive::line_cold_code),
    };
    config.primitives.context_switch = id(Primitive::context_switch);
    config.primitives.waiting = id(Primitive::waiting);
    config.primitives.lock_wait = id(Primitive::lock_wait);
    config.primitives.schedule_out = id(Primitive::schedule_out);
    config.primitives.idle_exit = id(Primitive::idle_exit);
    config.idle = machine.timing.idle;
    config.seed = seed;
    config.primitives.scheduler = id(Mechanism::scheduler);
    return config;
}

sim::CostTable cost_table(const Machine& machine, const Design& design) {
    sim::CostTable costs(primitive_count);
    for (const PrimitiveInfo& row : primitive_table()) {
        costs.set(id(row.id), cost_under(machine, design, row.id));
    }
    return costs;
}

std::uint32_t possible_cpus(const Design& design, const Machine& machine) {
    const std::int64_t given =
        design.possible_cpus > 0 ? design.possible_cpus : machine.possible_cpus;
    return static_cast<std::uint32_t>(given > 0 ? given : machine.cpus);
}

RcuTiming rcu_timing(const Design& design, const Machine& machine) {
    constexpr std::int64_t us_a_second = 1'000'000;
    constexpr std::int64_t softirq_us = 2000; // MAX_SOFTIRQ_TIME
    constexpr std::int64_t batch_us = 3000;   // rcu_resched_ns
    RcuTiming timing;
    timing.hz = design.kernel_hz;
    timing.jiffy = machine.cycles_of_us(us_a_second) / design.kernel_hz;
    timing.possible_cpus = possible_cpus(design, machine);
    timing.softirq_limit = machine.cycles_of_us(softirq_us);
    timing.batch_limit = machine.cycles_of_us(batch_us);
    return timing;
}

/// The name of the slab cache that the design's rsrc nodes come from.
std::string node_slab_name(const Design& design) {
    const auto bytes = static_cast<std::uint32_t>(design.node_bytes);
    if (design.node_slab_kind == NodeSlab::kmalloc) {
        return Kmalloc::cache_name(bytes, design.node_slab_account);
    }
    if (design.slab_nomerge) {
        return "io_rsrc_node";
    }
    return Kmalloc::merged_name(Kmalloc::aligned_slot(bytes), design.node_slab_account);
}

KmemCache& make_request_slab(const Design& design, Kmalloc& memory) {
    if (design.request_merge) {
        memory.count_as_requests(Kmalloc::cache_name(request_bytes, false));
        return memory.cache(request_bytes, false);
    }
    memory.count_as_requests("io_kiocb");
    const auto order = design.request_slab_order >= 0
                           ? std::optional(static_cast<unsigned>(design.request_slab_order))
                           : std::nullopt;
    return memory.create("io_kiocb", request_bytes, design.request_account, false, order);
}

} // namespace

Kernel::Kernel(const Design& design, const Machine& machine, std::uint64_t seed)
    : design_(design)
    , machine_(machine)
    , engine_(engine_config(machine, seed), cost_table(machine, design), mechanism_count, counter_count)
    , pages_(engine_.cpus())
    , memory_({static_cast<std::uint32_t>(machine.cpus), engine_.cpus(), pages_, seed, design_,
               machine.memory.l1_sets, static_cast<std::uint32_t>(machine.reorder_entries)})
    , percpu_(possible_cpus(design, machine))
    , rcu_(engine_, rcu_timing(design, machine))
    , workqueue_(engine_)
    , request_slab_(&make_request_slab(design_, memory_))
    , request_pool_(*request_slab_)
    , per_cpu_requests_(design_, request_pool_, engine_.cpus())
    , interrupts_(engine_.cpus())
    , io_wq_(*this)
    , online_(engine_.cpus(), true)
    , code_(engine_.cpus())
    , exit_task_work_(engine_.cpus())
    , kfree_rcu_(std::make_unique<KfreeRcu>(kworker_task, engine_.cpu(engine_.cpus() - 1),
                                            machine.mhz * 1000))
    , warmth_(engine_.cpus())
    , noise_stream_(seed, "noise")
    , node_footprint_(rsrc_node_footprint(design, percpu_.possible_cpus())) {
    const auto bytes = static_cast<std::uint32_t>(design_.node_bytes);
    memory_.count_as_nodes(node_slab_name(design_));
    node_slab_ = design_.node_slab_kind == NodeSlab::kmalloc
                     ? &memory_.cache(bytes, design_.node_slab_account)
                     : &memory_.create("io_rsrc_node", bytes, design_.node_slab_account,
                                       !design_.slab_nomerge);
}

Kernel::~Kernel() {
    engine_.clear(); // the exit tasks may still be pending when a run ends early
}

std::uint32_t Kernel::resident_objects(const KmemCache& cache) const {
    constexpr std::uint32_t percent = 100;
    return cache.geometry().objects * static_cast<std::uint32_t>(design_.slab_resident_live) /
           percent;
}

void Kernel::boot() {
    sim::Cpu& cpu = engine_.cpu(engine_.cpus() - 1);
    const sim::InitialState initial(cpu);
    // Whoever shares a size class has left partly filled slabs behind; a cache of its own is empty.
    const bool shared = design_.node_slab_kind == NodeSlab::kmalloc || !design_.slab_nomerge;
    if (shared) {
        node_slab_->add_resident(cpu, static_cast<std::uint32_t>(design_.slab_resident),
                                 resident_objects(*node_slab_));
    }
    if (design_.request_merge) {
        request_slab_->add_resident(cpu, static_cast<std::uint32_t>(design_.slab_resident),
                                    resident_objects(*request_slab_));
    }
}

Ring& Kernel::create_ring(sim::Cpu& cpu, const std::string& name, const RingParams& params) {
    rings_.push_back(std::make_unique<Ring>(cpu, *this, name, params));
    note_memory();
    return *rings_.back();
}

void Kernel::close_ring(sim::Cpu& cpu, Ring& ring) {
    const sim::MechanismScope scope(cpu, id(Mechanism::system_call));
    cpu.charge(id(Primitive::ring_close));
    note_memory();
    for (const auto& other : rings_) {
        other->forget_target(ring);
    }
    exits_.push_back(std::make_unique<RingExit>(*this, ring, exit_cpu(cpu)));
    engine_.wake(*exits_.back(), cpu.now() + machine_.cycles_of_us(design_.ring_exit_delay_us));
}

sim::Cpu& Kernel::exit_cpu(const sim::Cpu& closer) {
    for (std::uint16_t id = engine_.cpus(); id-- > 0;) {
        if (id != closer.id() && online_[id]) {
            return engine_.cpu(id);
        }
    }
    return engine_.cpu(closer.id());
}

UringTask* Kernel::current(const sim::Cpu& cpu) {
    sim::Task* task = cpu.current();
    if (task == nullptr || task->task_id() == kworker_task) {
        return nullptr;
    }
    return &uring_task(*task);
}

UringTask& Kernel::uring_task(sim::Task& task) {
    const std::size_t index = sim::index_of(task.task_id());
    if (uring_tasks_.size() <= index) {
        uring_tasks_.resize(index + 1);
    }
    if (!uring_tasks_[index]) {
        uring_tasks_[index] = std::make_unique<UringTask>(task);
    }
    return *uring_tasks_[index];
}

void Kernel::task_exits(sim::Task& task) {
    UringTask* self = current(task.cpu());
    self->task.exiting = true;
    while (self->task.pending()) {
        self->task.run_one(task.cpu());
    }
    for (const auto& ring : rings_) {
        if (ring->submitter() == self) {
            ring->owner_gone();
        }
    }
}

void Kernel::punt(sim::Cpu& cpu, const MessageIssue& issue) {
    cpu.charge(id(Primitive::io_wq_punt));
    cpu.count(id(Counter::msg_punted));
    exits_.push_back(std::make_unique<MessagePunt>(*this, issue, kworker_task, exit_cpu(cpu)));
    wake_up_state(cpu, *exits_.back());
}

sim::Cycles Kernel::timer_fires(sim::Cycles at) const {
    const Timing& timing = machine_.timing;
    const sim::Cycles latest = at + timing.timer_slack;
    if (timing.tick == 0) {
        return latest;
    }
    const sim::Cycles tick = (at + timing.tick - 1) / timing.tick * timing.tick;
    return std::min(latest, tick);
}

void Kernel::charge_cold(sim::Cpu& cpu, Primitive primitive) {
    constexpr std::uint32_t coldest = 16;
    if (machine_.timing.cold_after == 0) {
        return;
    }
    Warmth& warmth = warmth_[cpu.id()];
    if (cpu.now() - warmth.last >= machine_.timing.cold_after) {
        warmth.level = coldest;
    }
    if (warmth.level > 0) {
        cpu.charge(id(primitive), warmth.level);
        const sim::Cycles scatter = machine_.timing.cold_noise.draw(noise_stream_);
        if (scatter > 0) {
            cpu.elapse(id(Primitive::noise), scatter * warmth.level / coldest);
        }
        warmth.level /= 2;
    }
    warmth.last = cpu.now();
}

void Kernel::enter_noise(sim::Cpu& cpu) {
    charge_cold(cpu, Primitive::cold_entry);
    if (const sim::Cycles length = machine_.timing.noise.draw(noise_stream_); length > 0) {
        cpu.elapse(id(Primitive::noise), length);
    }
}

void Kernel::wake_noise(sim::Cpu& cpu) {
    charge_cold(cpu, Primitive::cold_wake);
    if (const sim::Cycles length = machine_.timing.wake_noise.draw(noise_stream_); length > 0) {
        cpu.elapse(id(Primitive::noise), length);
    }
}

void Kernel::ring_gone(Ring& ring, sim::Cycles now) {
    if (ring.in_flight() != 0) {
        problems_.push_back("ring " + ring.name() + ": " + std::to_string(ring.in_flight()) +
                            " requests never completed");
    }
    if (Object* node = ring.take_task_node()) {
        exit_task_work_.at(ring.owner_cpu()).push_back({node, now});
    }
    std::erase_if(rings_, [&ring](const auto& entry) { return entry.get() == &ring; });
}

void Kernel::wake_for_exit(sim::Cpu& cpu, Ring& ring) {
    UringTask* creator = ring.creator();
    if (creator == nullptr) {
        return;
    }
    // A creator that sleeps on another CPU would be woken, too; here it frees its link when it next
    // enters the kernel: the wake-up is left out.
    const sim::Task& task = creator->task.task();
    if (&task.cpu() == &cpu && task.asleep(cpu.now())) {
        kfree(cpu, *ring.take_task_node());
    }
}

void Kernel::run_exit_task_work(sim::Cpu& cpu) {
    auto& work = exit_task_work_[cpu.id()];
    // An exit that is a little ahead of this CPU has not queued its work yet.
    std::erase_if(work, [&cpu](const ExitTaskWork& entry) {
        const bool there = entry.since <= cpu.now();
        if (there) {
            kfree(cpu, *entry.node);
        }
        return there;
    });
}

KmemCache& Kernel::shared_cache(sim::Cpu& cpu, std::uint32_t bytes, bool account) {
    KmemCache& cache = memory_.cache(bytes, account);
    if (cache.census().slabs == 0) {
        cache.add_resident(cpu, static_cast<std::uint32_t>(design_.slab_resident),
                           resident_objects(cache));
    }
    return cache;
}

RequestContext Kernel::request_context() {
    return {design_, *request_slab_, request_pool_, per_cpu_requests_};
}

int Kernel::take_cpu_offline(sim::Cpu& cpu, std::uint16_t dead) {
    if (dead >= engine_.cpus() || !online_[dead]) {
        return -EINVAL;
    }
    const bool exiting = std::ranges::any_of(
        exits_, [&](const auto& exit) { return exit->cpu().id() == dead && !exit->finished(); });
    if (dead == cpu.id() || exiting || io_wq_.busy_on(dead) || interrupts_.outstanding(dead)) {
        return -EBUSY;
    }
    online_[dead] = false;
    io_wq_.leave(dead);
    per_cpu_requests_.reap(cpu, dead);
    memory_.flush_cpu(cpu, dead);
    return 0;
}

int Kernel::bring_cpu_online(std::uint16_t id) {
    if (id >= engine_.cpus() || online_[id]) {
        return -EINVAL;
    }
    online_[id] = true;
    return 0;
}

std::uint64_t Kernel::shrink(sim::Cpu& cpu, std::uint64_t objects) {
    return per_cpu_requests_.shrink(cpu, objects);
}

void Kernel::use_memory_elsewhere(sim::Cpu& cpu) {
    constexpr std::size_t held = 16;
    if (++submitted_since_other_use_ < design_.slab_other_users) {
        return;
    }
    submitted_since_other_use_ = 0;
    other_objects_.push_back(&memory_.cache(request_bytes, false).alloc_nofail(cpu));
    if (other_objects_.size() > held) {
        kfree(cpu, *other_objects_.front());
        other_objects_.pop_front();
    }
}

std::uint64_t Kernel::held_elsewhere() const {
    return other_objects_.size() + per_cpu_requests_.cached();
}

void Kernel::note_rsrc_nodes(std::uint64_t nodes) {
    peaks_.nodes_live = std::max(peaks_.nodes_live, nodes);
    peaks_.live_bytes = std::max(peaks_.live_bytes, nodes * node_footprint_);
}

void Kernel::note_memory() {
    std::uint64_t live = 0;
    std::uint64_t cached = 0;
    std::uint64_t arrays = 0;
    for (const auto& ring : rings_) {
        live += ring->lifetime().nodes_live();
        cached += ring->node_cache().cached();
        arrays += ring->node_cache().array_bytes();
    }
    if (const auto share = node_cache_share_.lock()) {
        cached += share->cached();
        arrays += share->array_bytes();
    }
    const std::uint64_t slot = node_slab_->geometry().slot_bytes;
    note_rsrc_nodes(live);
    peaks_.nodes_cached = std::max(peaks_.nodes_cached, cached);
    peaks_.node_array_bytes = std::max(peaks_.node_array_bytes, arrays);
    peaks_.retained_bytes = std::max(peaks_.retained_bytes, cached * slot + arrays);
}

SlabCensus Kernel::audit_slab(const KmemCache& cache, std::vector<std::string>& problems) const {
    const SlabCensus census = cache.census();
    if (census.objects != cache.live() + census.free + census.resident) {
        problems.push_back(cache.name() + ": " + std::to_string(census.objects) +
                           " objects in slabs, but " + std::to_string(cache.live()) + " live + " +
                           std::to_string(census.free) + " free + " +
                           std::to_string(census.resident) + " resident");
    }
    return census;
}

std::vector<std::string> Kernel::audit() const {
    std::vector<std::string> problems = problems_;
    std::uint64_t slab_bytes = 0;
    for (const auto& [name, cache] : memory_.caches()) {
        slab_bytes += audit_slab(*cache, problems).bytes;
    }
    if (!rings_.empty()) {
        return problems; // what live rings hold is theirs
    }
    std::uint64_t task_nodes = 0;
    for (const auto& work : exit_task_work_) {
        task_nodes += work.size();
    }
    std::uint64_t live = 0;
    for (const auto& [name, cache] : memory_.caches()) {
        live += cache->live();
    }
    const std::uint64_t accounted = task_nodes + held_elsewhere();
    if (live != accounted) {
        problems.push_back(std::to_string(static_cast<std::int64_t>(live - accounted)) +
                           " slab objects live after the last ring's exit");
    }
    if (pinned_.pins() != 0 || pinned_.accounted_pages() != 0) {
        problems.push_back(std::to_string(pinned_.pins()) + " pins and " +
                           std::to_string(pinned_.accounted_pages()) +
                           " accounted pages left after the last ring's exit");
    }
    if (percpu_.bytes_in_use() != 0 || rcu_.pending() != 0) {
        problems.push_back(std::to_string(percpu_.bytes_in_use()) + " bytes of percpu memory and " +
                           std::to_string(rcu_.pending()) +
                           " RCU callbacks left after the last ring's exit");
    }
    if (memory_.array_bytes() != 0 || pages_.bytes_in_use() != slab_bytes) {
        problems.push_back(std::to_string(memory_.array_bytes()) + " bytes of arrays and " +
                           std::to_string(pages_.bytes_in_use()) +
                           " bytes of pages in use after the last ring's exit, " +
                           std::to_string(slab_bytes) + " of them in slabs");
    }
    return problems;
}

} // namespace uringsim::models
