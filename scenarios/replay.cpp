#include "scenarios/replay.h"

#include "models/counters.h"
#include "models/kernel.h"
#include "models/mechanisms.h"
#include "models/primitives.h"
#include "scenarios/program_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace uringsim::scenarios {

namespace {

/// Turns the state of a finished run into a Result.
class ResultBuilder {
  public:
    ResultBuilder(const Scenario& scenario, const models::Kernel& kernel,
                  const std::vector<std::unique_ptr<ProgramTask>>& tasks)
        : scenario_(scenario), ledger_(kernel.engine().ledger()) {
        task_names_[models::kworker_task] = "kworker";
        for (const auto& task : tasks) {
            task_names_[task->task_id()] = task->name();
        }
    }

    CounterValues total_counters() const {
        CounterValues values;
        for (const models::CounterInfo& row : models::counter_table()) {
            values.emplace_back(row.name, ledger_.total(id(row.id)));
        }
        return values;
    }

    /// The counters of a phase and of all that lie in it.
    CounterValues phase_counters(sim::PhaseId phase) const {
        std::vector<std::uint64_t> sums(models::counter_count, 0);
        for (const auto& [key, account] : ledger_.accounts()) {
            if (lies_in(key.phase, phase)) {
                for (std::size_t i = 0; i < sums.size(); ++i) {
                    sums[i] += std::as_const(*account).counters()[i];
                }
            }
        }
        CounterValues values;
        for (const models::CounterInfo& row : models::counter_table()) {
            values.emplace_back(row.name, sums[static_cast<std::size_t>(row.id)]);
        }
        return values;
    }

    /// The rows of a phase and of all that lie in it, summed a task, mechanism and primitive.
    std::vector<LedgerRow> rows(sim::PhaseId phase, const std::string& phase_name) const {
        std::vector<LedgerRow> rows;
        for (const auto& [task, name] : task_names_) {
            for (std::size_t m = 0; m < models::mechanism_count; ++m) {
                append_rows(rows, phase, phase_name, task, static_cast<models::Mechanism>(m));
            }
        }
        return rows;
    }

  private:
    bool lies_in(sim::PhaseId inner, sim::PhaseId outer) const {
        while (inner != outer) {
            if (inner == sim::PhaseId::outside) {
                return false;
            }
            inner = scenario_.phase(inner).parent.value_or(sim::PhaseId::outside);
        }
        return outer != sim::PhaseId::outside || inner == outer;
    }

    bool belongs(sim::PhaseId account_phase, sim::PhaseId wanted) const {
        if (wanted == sim::PhaseId::outside) {
            return account_phase == wanted;
        }
        return lies_in(account_phase, wanted);
    }

    void append_rows(std::vector<LedgerRow>& rows, sim::PhaseId phase,
                     const std::string& phase_name, sim::TaskId task,
                     models::Mechanism mechanism) const {
        std::vector<sim::LedgerCell> sums(models::primitive_count);
        for (const auto& [key, account] : ledger_.accounts()) {
            if (key.task != task || !belongs(key.phase, phase)) {
                continue;
            }
            const sim::LedgerCell* cells = std::as_const(*account).cells(id(mechanism));
            for (std::size_t p = 0; p < sums.size(); ++p) {
                sums[p].count += cells[p].count;
                sums[p].cycles += cells[p].cycles;
            }
        }
        for (const models::PrimitiveInfo& info : models::primitive_table()) {
            const sim::LedgerCell& cell = sums[static_cast<std::size_t>(info.id)];
            if (cell.count > 0) {
                rows.push_back({phase_name, task_names_.at(task),
                                std::string(models::name(mechanism)), std::string(info.name),
                                cell.count, cell.cycles});
            }
        }
    }

    const Scenario& scenario_;
    const sim::Ledger& ledger_;
    std::map<sim::TaskId, std::string> task_names_;
};

void add_configuration(Result& result, const Scenario& scenario, const models::Design& design) {
    for (const Parameter& parameter : scenario.parameters) {
        result.parameters.push_back(
            {parameter.name, parameter.text(), parameter.unit});
    }
    for (const models::Knob& knob : models::knob_table()) {
        result.knobs.push_back({std::string(knob.name), knob.format(knob.get(design)),
                                std::string(knob.unit)});
    }
}

/// What the per-CPU request caches and the requests' slab cache keep.
std::vector<HeldResult> held_requests(models::Kernel& kernel) {
    const std::uint64_t bytes = kernel.request_slab().geometry().slot_bytes;
    std::vector<HeldResult> rows;
    const auto add = [&](std::string cache, std::string where, std::uint64_t objects) {
        if (objects > 0) {
            rows.push_back({std::move(cache), std::move(where), objects, objects * bytes});
        }
    };
    for (std::uint16_t cpu = 0; cpu < kernel.engine().cpus(); ++cpu) {
        for (const bool interrupt : {false, true}) {
            const auto held = kernel.per_cpu_requests().held(cpu, interrupt);
            const std::string where =
                fmt::format("CPU {} {}", cpu, interrupt ? "interrupt" : "inline");
            add("requests", where + " alloc_list", held.available);
            add("requests", where + " free_list", held.free);
        }
    }
    for (const models::SlabHolding& holding : kernel.request_slab().holdings()) {
        add(kernel.request_slab().name(), holding.where, holding.objects);
    }
    return rows;
}

RequestMemoryResult request_memory_of(models::Kernel& kernel) {
    const models::KmemCache& slab = kernel.request_slab();
    const models::SlabCensus census = slab.census();
    RequestMemoryResult memory;
    memory.in_flight_peak = kernel.peaks().requests_in_flight;
    // The free list of today does not use the pool; its slab cache has no other users.
    memory.allocated_peak = std::max(kernel.request_pool().taken_peak(),
                                     kernel.design().request_merge ? 0 : slab.live_peak());
    memory.cached_peak = kernel.per_cpu_requests().cached_peak();
    memory.slot_bytes = slab.geometry().slot_bytes;
    memory.slabs_at_end = census.slabs;
    memory.slab_bytes_at_end = census.bytes;
    memory.held = held_requests(kernel);
    return memory;
}

MemoryResult memory_of(models::Kernel& kernel) {
    const models::MemoryPeaks& peaks = kernel.peaks();
    const models::SlabCensus census = kernel.node_slab().census();
    MemoryResult memory;
    memory.nodes_live_peak = peaks.nodes_live;
    memory.nodes_cached_peak = peaks.nodes_cached;
    memory.node_slot_bytes = kernel.node_slab().geometry().slot_bytes;
    memory.node_array_bytes_peak = peaks.node_array_bytes;
    memory.retained_bytes_peak = peaks.retained_bytes;
    memory.node_slabs_at_end = census.slabs;
    memory.node_slab_bytes_at_end = census.bytes;
    memory.node_footprint_bytes = kernel.node_footprint();
    memory.live_bytes_peak = peaks.live_bytes;
    memory.percpu_bytes_peak = kernel.percpu().peak_bytes();
    memory.rcu_callbacks_peak = kernel.rcu().peak_pending();
    memory.requests = request_memory_of(kernel);
    return memory;
}

void check_finished(const std::vector<std::unique_ptr<ProgramTask>>& tasks) {
    for (const auto& task : tasks) {
        if (!task->finished()) {
            throw RunError(fmt::format("{}: task \"{}\" waits for completions that never come",
                                       task->where(), task->name()));
        }
    }
}

void check_books(const models::Kernel& kernel) {
    std::string text;
    for (const std::string& problem : kernel.audit()) {
        text += (text.empty() ? "" : "; ") + problem;
    }
    if (!text.empty()) {
        throw RunError("the books do not balance: " + text);
    }
}

/// Every message that was sent to a ring that somebody receives from has been read.
void check_messages(const Scenario& scenario, const RunState& run) {
    for (std::size_t i = 0; i < run.messages.size(); ++i) {
        if (run.messages[i].open() > 0) {
            throw RunError(fmt::format("{} messages to ring \"{}\" were never read",
                                       run.messages[i].open(), scenario.rings[i].name));
        }
    }
#ifndef NDEBUG
    if (run.kernel.engine().causality_violations() > 0) {
        throw RunError(fmt::format("{} locks were taken before the time of their last change",
                                   run.kernel.engine().causality_violations()));
    }
#endif
}

} // namespace

Result replay(const Scenario& scenario, const models::Design& design,
              const models::Machine& machine) {
    models::Kernel kernel(design, machine, scenario.seed);
    kernel.boot();
    RunState run(scenario, kernel);
    std::vector<std::unique_ptr<ProgramTask>> tasks;
    for (const TaskSpec& spec : scenario.tasks) {
        if (spec.cpu >= machine.cpus) {
            throw RunError(fmt::format("task \"{}\" wants CPU {}, but {} has {} CPUs", spec.name,
                                       spec.cpu, machine.name, machine.cpus));
        }
        const auto id = static_cast<sim::TaskId>(tasks.size() + 1);
        tasks.push_back(
            std::make_unique<ProgramTask>(run, spec, id, kernel.engine().cpu(spec.cpu)));
        kernel.engine().wake(*tasks.back(), 0);
    }
    try {
        kernel.engine().run();
    } catch (...) {
        kernel.engine().clear(); // the tasks go before the engine that they are planned in
        throw;
    }
    check_finished(tasks);
    check_books(kernel);
    check_messages(scenario, run);

    Result result;
    result.scenario = scenario.name;
    result.design = design.name;
    result.machine = machine.name;
    result.machine_mhz = machine.mhz;
    result.seed = scenario.seed;
    result.fingerprint = kernel.engine().fingerprint().value();
    add_configuration(result, scenario, design);
    const ResultBuilder builder(scenario, kernel, tasks);
    for (std::size_t i = 0; i < scenario.phases.size(); ++i) {
        const auto id = static_cast<sim::PhaseId>(i + 1);
        const PhaseSpec& spec = scenario.phases[i];
        result.phases.push_back(
            {spec.name, run.operations(i), run.cycles_by_round[i], builder.phase_counters(id)});
        const auto rows = builder.rows(id, spec.name);
        result.ledger.insert(result.ledger.end(), rows.begin(), rows.end());
    }
    result.ledger_outside = builder.rows(sim::PhaseId::outside, "");
    result.counters = builder.total_counters();
    result.snapshots = run.snapshots;
    result.memory = memory_of(kernel);
    for (std::size_t i = 0; i < scenario.latencies.size(); ++i) {
        result.latencies.push_back({scenario.latencies[i], run.latencies[i]});
    }
    return result;
}

} // namespace uringsim::scenarios
