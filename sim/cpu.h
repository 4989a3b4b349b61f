#pragma once

#include "sim/cost.h"
#include "sim/cycles.h"
#include "sim/event_queue.h"
#include "sim/fingerprint.h"
#include "sim/ledger.h"
#include "sim/memory.h"
#include "sim/task.h"

#include <cassert>
#include <cstdint>
#include <vector>

namespace uringsim::sim {

class Engine;
class Cpu;

/// The primitives that the engine itself charges.
struct EnginePrimitives {
    MemoryPrimitives memory;
    PrimitiveId context_switch{}; ///< one task gives way to another on the same CPU
    PrimitiveId waiting{};        ///< time in which a task did not run: asleep, blocked or queued
    PrimitiveId lock_wait{};      ///< time spent spinning on a lock that another CPU holds
    PrimitiveId schedule_out{};   ///< a task gives way to the idle task; only with an idle model
    PrimitiveId idle_exit{};      ///< time from a wake-up to the woken task on an idle CPU
    MechanismId scheduler{};      ///< the mechanism of those above but memory
};

/// Work that interrupts whatever a CPU is doing, at the next stage boundary: it takes the CPU's time
/// and is booked on the task that it interrupted, or on task 0 outside all phases where none runs.
class SoftIrq {
  public:
    SoftIrq() = default;
    SoftIrq(const SoftIrq&) = delete;
    SoftIrq& operator=(const SoftIrq&) = delete;
    virtual ~SoftIrq() = default;

    /// Does one stage of the work. True: raise it again at once.
    virtual bool serve(Cpu& cpu) = 0;

  private:
    friend class Cpu;
    bool raised_ = false;
};

/// One processor: a local clock that charges move, touch clocks, and a queue of tasks to run.
///
/// Kernel paths run on it as plain functions and say what they do with charge(), touch() and
/// count(); each goes to the ledger account of the current task and phase.
class Cpu final : public Event {
  public:
    Cpu(Engine& engine, Ledger& ledger, const CostTable& costs, const EnginePrimitives& primitives,
        const MemoryGeometry& geometry, std::uint16_t id);

    std::uint16_t id() const { return id_; }

    /// This CPU's local clock.
    Cycles now() const { return now_; }

    Engine& engine() const { return *engine_; }

    /// Does a primitive `times` times: the clock moves by what the machine says it costs. Fractions
    /// of a cycle are carried, a primitive at a time, so a row of the ledger is within one cycle of
    /// count x cost.
    void charge(PrimitiveId primitive) {
        Price& price = prices_[index_of(primitive)];
        price.carry += price.fraction;
        const Cycles whole_again = price.carry < price.fraction ? 1 : 0;
        spend(primitive, price, 1, price.whole + whole_again);
    }
    void charge(PrimitiveId primitive, std::uint32_t times) {
        Price& price = prices_[index_of(primitive)];
        const Wide due = Wide{price.fraction} * times + price.carry;
        price.carry = static_cast<std::uint64_t>(due);
        spend(primitive, price, times,
              price.whole * times + static_cast<Cycles>(due >> fraction_bits));
    }

    /// Spends a given number of cycles on a primitive that has no fixed price (waiting).
    void elapse(PrimitiveId primitive, Cycles cycles) {
        spend(primitive, prices_[index_of(primitive)], 1, cycles);
    }

    /// Writes a line, or reads and writes it: free in L1, else priced by where it is found.
    void touch(Line& line) {
        check_order(line, true);
        if (!data_.touch_l1(line, 1)) {
            touch_far(line);
        }
    }

    /// Reads a line that others may write at the same time. It costs the same; the difference is that
    /// whoever writes the line at an earlier time has not seen an effect of this.
    void read(Line& line) {
        check_order(line, false);
        if (!data_.touch_l1(line, 1)) {
            touch_far(line);
        }
    }

    /// The same for one of many lines at a stride, which takes the room of `weight` lines in L1.
    void touch(Line& line, std::uint32_t weight) {
        check_order(line, true);
        if (!data_.touch_l1(line, weight)) {
            touch_far(line);
        }
    }

    /// Touches a group of lines that always go together.
    void touch(LineGroup& group) {
        check_order(group.line, true);
        TouchClocks& clocks = group.kind == LineKind::code ? code_ : data_;
        if (!clocks.touch_l1(group.line, group.weight)) {
            touch_far(group, clocks);
        }
    }

    /// Writes a line whole, as one of many in sequence; the primitive that does it pays.
    void stream(Line& line) {
        check_order(line, true);
        data_.stream(line);
    }

    /// What was charged here and when, as Fingerprint defines it.
    std::uint64_t trail() const { return trail_; }

    /// Counts an event.
    void count(CounterId counter, std::uint64_t times = 1) { counters_[index_of(counter)] += times; }

    /// What the current account has counted of an event so far.
    std::uint64_t counted(CounterId counter) const { return counters_[index_of(counter)]; }

    /// True while no other CPU has anything to do at or before this CPU's clock: stages may then
    /// follow each other without an event in between.
    bool may_continue() const { return queue_->next_time() > now_; }

    /// Waits, spinning, until `at`; nothing happens when that has passed.
    void spin_until(Cycles at);

    /// The mechanism that is charged now.
    MechanismId mechanism() const { return account_->mechanism_of(cells_); }

    /// From now on the current task is in `phase`. Only for a task that is running on this CPU.
    void set_phase(PhaseId phase);

    /// The task that is running, or nullptr.
    Task* current() const { return current_; }

    /// A task became runnable at `at`: queues it, and runs it where the CPU is idle.
    void enqueue(Task& task, Cycles at);

    /// Some task is running here or about to.
    bool busy() const { return busy_; }

    /// When this CPU went idle, or will have: its clock stops there. Only while it is not busy.
    Cycles idle_since() const { return now_; }

    /// Raises a softirq on this CPU at `at`: it runs before the next stage, at once on an idle CPU.
    /// Nothing happens where it is raised already.
    void raise(SoftIrq& softirq, Cycles at);

    /// Nothing runs here and nothing is queued.
    bool idle() const { return !busy_; }

    /// Something besides softirqs wants this CPU.
    bool has_task() const { return current_ != nullptr || !run_queue_.empty(); }

    /// The engine hands the CPU back after other CPUs have caught up.
    void fire(Cycles now) override;

  private:
    friend class MechanismScope;
    friend class InitialState;

    __extension__ using Wide = unsigned __int128; // the extension: gcc and clang, 64-bit targets

    /// A cost with its fraction in units of 2^-64 cycles, rounded up: a carry out of 64 bits is a
    /// whole cycle again, and the rounding cannot show before 10^16 charges.
    struct Price {
        Cycles whole = 0;
        std::uint64_t fraction = 0;
        std::uint64_t carry = 0;
        std::uint64_t weight = 0; ///< in the fingerprint
    };
    static constexpr unsigned fraction_bits = 64;
    static Price price_of(PrimitiveId primitive, Millicycles cost);

    void spend(PrimitiveId primitive, const Price& price, std::uint64_t times, Cycles cycles) {
        now_ += cycles;
        LedgerCell& cell = cells_[index_of(primitive)];
        cell.count += times;
        cell.cycles += cycles;
        trail_ += Fingerprint::step(now_, price.weight);
    }

    /// Debug builds: what another CPU writes later than now is not to be seen now.
    void check_order([[maybe_unused]] Line& line, [[maybe_unused]] bool writes) {
#ifndef NDEBUG
        if (line.written_by != id_ && line.written_at > now_) {
            note_causality_violation();
        }
        if (writes) {
            line.written_by = id_;
            line.written_at = initial_ ? 0 : now_;
        }
#endif
    }
    void note_causality_violation();

    void touch_far(Line& line);
    void touch_far(LineGroup& group, TouchClocks& clocks);
    PrimitiveId found_far(Line& line, std::uint32_t weight, TouchClocks& clocks) const;
    bool owner_cooled(const Line& line) const;
    void run();
    void leave_idle(Cycles at, Cycles flight);
    void switch_to(Task& task);
    void park(Step step);
    void wake_up(Cycles at);
    void serve_softirqs();
    void share();
    void note_stage();
    void load_account(PhaseId phase, TaskId task, MechanismId mechanism);

    // What every charge and touch needs comes first, in two lines of the host.
    Cycles now_ = 0;
    std::uint64_t trail_ = 0; ///< what was charged and when, for the fingerprint
    std::vector<Price> prices_;
    LedgerCell* const* rows_ = nullptr; ///< of the account
    LedgerCell* cells_ = nullptr;       ///< of the mechanism that is charged now
    std::uint64_t* counters_ = nullptr;
    TouchClocks data_;
    TouchClocks code_;
    const EventQueue* queue_;
    Engine* engine_;
    Ledger* ledger_;
    Fingerprint* fingerprint_;
    const EnginePrimitives* primitives_;
    std::uint16_t id_;
    std::uint64_t who_ = 0;
    std::uint64_t noted_trail_ = 0; ///< as of the last stage that the fingerprint has
    LedgerAccount* account_ = nullptr;
    Task* current_ = nullptr;
    Task* last_ = nullptr;
    Cycles slice_started_ = 0;
    bool busy_ = false;
    bool initial_ = false;
    RunQueue run_queue_;
    std::vector<SoftIrq*> softirqs_;
};

/// For the life of this object, charges go to `mechanism`. It lives within one stage: a task changes
/// its phase, and a CPU its task, only between stages.
class MechanismScope {
  public:
    MechanismScope(Cpu& cpu, MechanismId mechanism) : cpu_(cpu), before_(cpu.cells_) {
        cpu.cells_ = cpu.rows_[index_of(mechanism)];
    }
    ~MechanismScope() {
        assert(cpu_.account_->holds(before_));
        cpu_.cells_ = before_;
    }
    MechanismScope(const MechanismScope&) = delete;
    MechanismScope& operator=(const MechanismScope&) = delete;

  private:
    Cpu& cpu_;
    LedgerCell* before_; ///< the cells of the mechanism that was charged before
};

/// While this lives, what the CPU does makes the state that a run begins with: it is there from the
/// beginning, whatever time the making took.
class InitialState {
  public:
    explicit InitialState(Cpu& cpu) : cpu_(cpu) { cpu_.initial_ = true; }
    ~InitialState() { cpu_.initial_ = false; }
    InitialState(const InitialState&) = delete;
    InitialState& operator=(const InitialState&) = delete;

  private:
    Cpu& cpu_;
};

} // namespace uringsim::sim
