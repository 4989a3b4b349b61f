#include "scenarios/program_task.h"

#include "models/errno_names.h"
#include "models/mechanisms.h"
#include "models/primitives.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

namespace uringsim::scenarios {

RunState::RunState(const Scenario& the_scenario, models::Kernel& the_kernel)
    : scenario(the_scenario)
    , kernel(the_kernel)
    , rings(the_scenario.rings.size(), nullptr)
    , next_user_data(the_scenario.rings.size(), 0)
    , next_message(the_scenario.rings.size(), 0)
    , cycles_by_round(the_scenario.phases.size())
    , messages(the_scenario.rings.size())
    , latencies(the_scenario.latencies.size())
    , counted(the_scenario.phases.size(), 0)
    , file(the_kernel.open_file()) {}

std::uint64_t RunState::operations(std::size_t phase) const {
    const PhaseSpec& spec = scenario.phases[phase];
    const std::size_t rounds = cycles_by_round[phase].size();
    return !spec.counted || rounds == 0 ? spec.operations : counted[phase] / rounds;
}

ProgramTask::ProgramTask(RunState& run, const TaskSpec& spec, sim::TaskId id, sim::Cpu& cpu)
    : Task(spec.name, id, cpu), run_(run), spec_(spec) {
    ++run_.tasks_alive;
    set_movable(!spec.pinned);
}

sim::Step ProgramTask::step(sim::Cpu& cpu) {
    if (pc_ == spec_.program.size()) {
        return finish(cpu);
    }
    if (self_ == nullptr) {
        self_ = run_.kernel.current(cpu);
    }
    if (self_->task.pending() && !self_->task.in_kernel) {
        return run_task_work(cpu);
    }
    interrupted_ = false;
    const op::Any& operation = spec_.program[pc_].op;
    return std::visit([&](const auto& op) { return run(op, cpu); }, operation);
}

/// TWA_SIGNAL reached the program in user mode, or woke it from a sleep.
sim::Step ProgramTask::run_task_work(sim::Cpu& cpu) {
    if (!interrupted_ && stage_ != Stage::sleeping) {
        cpu.charge(id(models::Primitive::signal_interrupt));
        interrupted_ = true;
    }
    self_->task.run_one(cpu);
    return sim::Step::ready();
}

const std::string& ProgramTask::where() const {
    return spec_.program.at(std::min(pc_, spec_.program.size() - 1)).where;
}

void ProgramTask::fail(const std::string& message) const {
    throw RunError(fmt::format("{}: task \"{}\": {}", where(), name(), message));
}

sim::Step ProgramTask::advance() {
    ++pc_;
    stage_ = Stage::idle;
    done_ = 0;
    return sim::Step::ready();
}

sim::Step ProgramTask::finish(sim::Cpu& cpu) {
    run_.kernel.task_exits(*this);
    // The last task to leave takes the process with it, and so whatever rings are still open.
    if (--run_.tasks_alive == 0) {
        for (models::Ring*& ring : run_.rings) {
            if (ring != nullptr) {
                run_.kernel.close_ring(cpu, *ring);
                ring = nullptr;
            }
        }
    }
    return sim::Step::done();
}

models::Ring& ProgramTask::ring(std::size_t index) const {
    models::Ring* ring = run_.rings[index];
    if (ring == nullptr) {
        fail(fmt::format("ring \"{}\" is not open", run_.scenario.rings[index].name));
    }
    return *ring;
}

void ProgramTask::check_closely(sim::Cpu& cpu, std::int32_t result, const Expect& expect,
                                const char* what) const {
    if (!expect.accepts(result)) {
        fail(fmt::format("{} returned {}, expected {}", what, models::result_name(result),
                         expect.to_string()));
    }
    if (expect.kind == Expect::Kind::any && result < 0) {
        cpu.count(id(models::Counter::errors_counted));
    }
}

// --- Control ---

bool ProgramTask::warming_up() const {
    return std::ranges::any_of(
        loops_, [](const LoopFrame& frame) { return frame.iteration < frame.warmup; });
}

sim::Step ProgramTask::run(const op::RepeatBegin& op, sim::Cpu& /*cpu*/) {
    if (op.times + op.warmup == 0) {
        pc_ = op.end;
    } else {
        loops_.push_back({0, op.warmup});
    }
    return advance();
}

sim::Step ProgramTask::run(const op::RepeatEnd& op, sim::Cpu& /*cpu*/) {
    const auto& begin = std::get<op::RepeatBegin>(spec_.program[op.begin].op);
    if (++loops_.back().iteration < begin.times + begin.warmup) {
        pc_ = op.begin;
    } else {
        loops_.pop_back();
    }
    return advance();
}

sim::Step ProgramTask::run(const op::LoopBegin& op, sim::Cpu& cpu) {
    // The deadline is kept in a frame of its own, made when the loop is entered.
    const sim::Cycles length = run_.kernel.machine().cycles_of_us(static_cast<std::int64_t>(op.us));
    if (op.us == 0) {
        pc_ = op.end;
    } else {
        loops_.push_back({0, 0, cpu.now() + length});
    }
    return advance();
}

sim::Step ProgramTask::run(const op::LoopEnd& op, sim::Cpu& cpu) {
    if (cpu.now() < loops_.back().ends) {
        pc_ = op.begin;
    } else {
        loops_.pop_back();
    }
    return advance();
}

sim::Step ProgramTask::run(const op::PhaseBegin& op, sim::Cpu& cpu) {
    const bool measured = !warming_up();
    phases_.push_back({op.phase, cpu.now(), measured});
    if (measured) {
        cpu.set_phase(op.phase);
    }
    return advance();
}

sim::Step ProgramTask::run(const op::PhaseEnd& /*op*/, sim::Cpu& cpu) {
    const ActivePhase phase = phases_.back();
    phases_.pop_back();
    if (phase.measured) {
        run_.cycles_by_round[sim::index_of(phase.id) - 1].push_back(cpu.now() - phase.started);
        cpu.set_phase(phases_.empty() ? sim::PhaseId::outside : phases_.back().id);
    }
    return advance();
}

} // namespace uringsim::scenarios
