#include "sim/cpu.h"

#include "sim/engine.h"

#include <utility>

namespace uringsim::sim {

Cpu::Cpu(Engine& engine, Ledger& ledger, const CostTable& costs, const EnginePrimitives& primitives,
         const MemoryGeometry& geometry, std::uint16_t id)
    : prices_(costs.size())
    , data_(geometry, LineKind::data, id)
    , code_(geometry, LineKind::code, id)
    , queue_(&engine.queue())
    , engine_(&engine)
    , ledger_(&ledger)
    , fingerprint_(&engine.stages_)
    , primitives_(&primitives)
    , id_(id) {
    for (std::size_t i = 0; i < prices_.size(); ++i) {
        const auto primitive = static_cast<PrimitiveId>(i);
        prices_[i] = price_of(primitive, costs.of(primitive));
    }
    load_account(PhaseId::outside, TaskId{0}, MechanismId{}); // what is charged before any task runs
}

Cpu::Price Cpu::price_of(PrimitiveId primitive, Millicycles cost) {
    const Wide rest = static_cast<std::uint64_t>(cost % millicycles_per_cycle);
    const Wide fraction = ((rest << fraction_bits) + millicycles_per_cycle - 1) / millicycles_per_cycle;
    return {cost / millicycles_per_cycle, static_cast<std::uint64_t>(fraction), 0,
            Fingerprint::weight(index_of(primitive))};
}

void Cpu::load_account(PhaseId phase, TaskId task, MechanismId mechanism) {
    account_ = &ledger_->account(phase, task);
    rows_ = account_->rows();
    cells_ = account_->cells(mechanism);
    counters_ = account_->counters();
    constexpr unsigned cpu_shift = 16;
    who_ = (static_cast<std::uint64_t>(id_) << cpu_shift) | index_of(task);
}

/// A stage is over: what it charged and when goes into the run's fingerprint.
void Cpu::note_stage() {
    if (trail_ != noted_trail_) {
        noted_trail_ = trail_;
        fingerprint_->add(who_, now_, trail_);
    }
}

void Cpu::set_phase(PhaseId phase) {
    current_->phase_ = phase;
    load_account(phase, current_->task_id(), mechanism());
}

void Cpu::note_causality_violation() {
    engine_->note_causality_violation();
}

void Cpu::touch_far(Line& line) {
    charge(found_far(line, 1, data_));
}

void Cpu::touch_far(LineGroup& group, TouchClocks& clocks) {
    charge(found_far(group.line, group.weight, clocks), group.weight);
}

/// Where a line that is not in L1 is found; stamps it.
PrimitiveId Cpu::found_far(Line& line, std::uint32_t weight, TouchClocks& clocks) const {
    return clocks.owns(line)
               ? clocks.touch_own(line, weight, primitives_->memory)
               : clocks.touch_other(line, weight, owner_cooled(line), primitives_->memory);
}

bool Cpu::owner_cooled(const Line& line) const {
    const std::uint16_t owner_id = line.cpu();
    if (owner_id == id_ || owner_id == Line::untouched) {
        return false;
    }
    const Cpu& owner = engine_->cpu(owner_id);
    const bool idle_for_long =
        !owner.busy_ && now_ - owner.now_ >= owner.data_.geometry().aging_idle;
    return idle_for_long || owner.data_.cooled(line);
}

void Cpu::spin_until(Cycles at) {
    if (at > now_) {
        const MechanismScope scope(*this, primitives_->scheduler);
        elapse(primitives_->lock_wait, at - now_);
    }
}

void Cpu::enqueue(Task& task, Cycles at) {
    task.state_ = Task::State::runnable;
    run_queue_.push_back(task);
    const Cycles flight = std::exchange(task.wake_flight_, 0);
    if (busy_) {
        return;
    }
    if (engine_->idle().enabled()) {
        leave_idle(at, flight);
        return;
    }
    wake_up(at);
}

void Cpu::wake_up(Cycles at) {
    if (at > now_) {
        if (at - now_ >= data_.geometry().aging_idle) {
            data_.age();
            code_.age();
        }
        now_ = at;
    } else if (now_ > at && !may_continue()) {
        // The last task left this clock ahead of the wake-up; others come before it.
        busy_ = true;
        engine_->schedule(*this, now_);
        return;
    }
    run();
}

void Cpu::leave_idle(Cycles at, Cycles flight) {
    const Cycles latency = engine_->idle().exit_latency(id_, at - now_) + flight;
    if (at > now_) {
        if (at - now_ >= data_.geometry().aging_idle) {
            data_.age();
            code_.age();
        }
        now_ = at;
    }
    busy_ = true;
    switch_to(run_queue_.front());
    elapse(primitives_->idle_exit, latency);
    engine_->schedule(*this, now_);
}

void Cpu::raise(SoftIrq& softirq, Cycles at) {
    if (softirq.raised_) {
        return;
    }
    softirq.raised_ = true;
    softirqs_.push_back(&softirq);
    if (!busy_) {
        wake_up(at);
    }
}

void Cpu::serve_softirqs() {
    if (current_ == nullptr) {
        load_account(PhaseId::outside, TaskId{0}, primitives_->scheduler); // nobody is interrupted
    }
    const std::size_t raised = softirqs_.size();
    for (std::size_t i = 0; i < raised; ++i) {
        SoftIrq& softirq = *softirqs_[i];
        if (softirq.serve(*this)) {
            softirqs_.push_back(&softirq);
        } else {
            softirq.raised_ = false;
        }
    }
    softirqs_.erase(softirqs_.begin(), softirqs_.begin() + static_cast<std::ptrdiff_t>(raised));
}

void Cpu::fire(Cycles /*now*/) {
    run();
}

void Cpu::run() {
    busy_ = true;
    for (;;) {
        if (!softirqs_.empty()) {
            serve_softirqs();
            note_stage();
        } else {
            if (current_ == nullptr) {
                if (run_queue_.empty()) {
                    break;
                }
                const Cycles before = now_;
                switch_to(run_queue_.front());
                if (now_ > before && !may_continue()) {
                    engine_->schedule(*this, now_); // the switch took time in which others act
                    return;
                }
            }
            const Step step = current_->step(*this);
            note_stage();
            if (step.kind != Step::Kind::ready) {
                park(step);
            } else if (!run_queue_.empty()) {
                share();
            }
        }
        // Whoever has something to do at or before this CPU's clock goes first.
        if (!may_continue()) {
            engine_->schedule(*this, now_);
            return;
        }
    }
    busy_ = false;
}

void Cpu::switch_to(Task& task) {
    run_queue_.pop_front();
    task.state_ = Task::State::running;
    current_ = &task;
    slice_started_ = now_;
    load_account(task.phase(), task.task_id(), primitives_->scheduler);
    // The clock has already passed this time; only the account of who waited is missing.
    if (now_ > task.waiting_since_) {
        LedgerCell& cell = cells_[index_of(primitives_->waiting)];
        ++cell.count;
        cell.cycles += now_ - task.waiting_since_;
    }
    if (last_ != nullptr && last_ != &task) {
        charge(primitives_->context_switch);
    }
    last_ = &task;
}

void Cpu::park(Step step) {
    Task& task = *current_;
    const bool to_idle = step.kind != Step::Kind::ready && run_queue_.empty();
    if (to_idle && engine_->idle().enabled()) {
        const MechanismScope scope(*this, primitives_->scheduler);
        charge(primitives_->schedule_out);
        engine_->idle().enter(id_);
    }
    current_ = nullptr;
    task.waiting_since_ = now_;
    task.state_ = step.kind == Step::Kind::done ? Task::State::done : Task::State::waiting;
    if (step.kind == Step::Kind::sleep) {
        engine_->schedule_task(task, step.until);
    }
}

void Cpu::share() {
    Task& task = *current_;
    Cpu* elsewhere = task.movable() ? engine_->idle_cpu() : nullptr;
    if (elsewhere != nullptr) {
        current_ = nullptr;
        task.waiting_since_ = now_;
        task.state_ = Task::State::waiting;
        task.cpu_ = elsewhere;
        engine_->schedule(task, now_);
        return;
    }
    const Cycles slice = engine_->time_slice();
    if (slice > 0 && now_ - slice_started_ >= slice) {
        current_ = nullptr;
        task.waiting_since_ = now_;
        task.state_ = Task::State::runnable;
        run_queue_.push_back(task);
    }
}

void Task::fire(Cycles now) {
    cpu_->enqueue(*this, now);
}

} // namespace uringsim::sim
