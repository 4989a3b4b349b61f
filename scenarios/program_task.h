#pragma once

#include "models/kernel.h"
#include "models/uring/syscalls.h"
#include "scenarios/result.h"
#include "scenarios/scenario.h"
#include "sim/histogram.h"
#include "sim/task.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uringsim::scenarios {

/// The messages that were sent to a ring and not yet read, for latencies and so that none can be
/// lost or read twice unnoticed.
class MessageLog {
  public:
    /// Notes the next message; its number is returned.
    std::uint64_t send(sim::Cycles at, bool last);

    /// The message never set out: its request failed.
    void cancel(std::uint64_t number) { take(number); }

    /// A message has been read. Nothing when it was read before, or never sent.
    struct Entry {
        sim::Cycles sent = 0;
        bool last = false;
        bool open = true;
    };
    std::optional<Entry> receive(std::uint64_t number) { return take(number); }

    std::uint64_t open() const { return open_; }

  private:
    std::optional<Entry> take(std::uint64_t number);

    std::deque<Entry> entries_;
    std::uint64_t first_ = 0; ///< the number of entries_.front()
    std::uint64_t open_ = 0;
};

/// What the tasks of a run share.
struct RunState {
    const Scenario& scenario;
    models::Kernel& kernel;
    std::vector<models::Ring*> rings;          ///< by index of Scenario::rings; nullptr: not open
    std::vector<std::uint64_t> next_user_data; ///< of a ring's own requests
    std::vector<std::uint64_t> next_message;   ///< of messages to a ring
    std::vector<std::vector<sim::Cycles>> cycles_by_round; ///< by phase
    std::vector<SnapshotResult> snapshots;
    std::vector<MessageLog> messages; ///< by ring: messages on their way to it
    std::vector<sim::Histogram> latencies;     ///< by Scenario::latencies, in ns
    std::vector<std::uint64_t> counted;        ///< by phase: requests that succeeded
    std::size_t tasks_alive = 0;
    models::File& file; ///< the one file that every registration and update installs

    /// Operations of one round of a phase, by its index.
    std::uint64_t operations(std::size_t phase) const;

    RunState(const Scenario& the_scenario, models::Kernel& the_kernel);
};

/// A program of the scenario as a task: a program counter, loop counters, and the state of the
/// operation under way. Each step() is one stage of one operation.
class ProgramTask final : public sim::Task {
  public:
    ProgramTask(RunState& run, const TaskSpec& spec, sim::TaskId id, sim::Cpu& cpu);

    sim::Step step(sim::Cpu& cpu) override;

    /// Where the program stands, for messages.
    const std::string& where() const;

  private:
    struct LoopFrame {
        std::uint64_t iteration = 0;
        std::uint64_t warmup = 0;
        sim::Cycles ends = 0; ///< of a timed loop
    };
    struct ActivePhase {
        sim::PhaseId id;
        sim::Cycles started;
        bool measured;
    };
    /// A contiguous run of slots that one FILES_UPDATE covers.
    struct Span {
        std::uint32_t offset;
        std::uint32_t length;
    };
    enum class Stage : std::uint8_t { idle, enter, reap_source, flush_target, reap_target, sleeping };

    sim::Step run(const op::CreateRing& op, sim::Cpu& cpu);
    sim::Step run(const op::EnableRing& op, sim::Cpu& cpu);
    sim::Step run(const op::CloseRing& op, sim::Cpu& cpu);
    sim::Step run(const op::RegisterFiles& op, sim::Cpu& cpu);
    sim::Step run(const op::RegisterFilesSparse& op, sim::Cpu& cpu);
    sim::Step run(const op::RegisterFileAllocRange& op, sim::Cpu& cpu);
    sim::Step run(const op::UnregisterFiles& op, sim::Cpu& cpu);
    sim::Step run(const op::UpdateFiles& op, sim::Cpu& cpu);
    sim::Step run(const op::RemoveFiles& op, sim::Cpu& cpu);
    sim::Step run(const op::RegisterBuffers& op, sim::Cpu& cpu);
    sim::Step run(const op::UpdateBuffers& op, sim::Cpu& cpu);
    sim::Step run(const op::UnregisterBuffers& op, sim::Cpu& cpu);
    sim::Step run(const op::CloneBuffers& op, sim::Cpu& cpu);
    sim::Step run(const op::ReadFixed& op, sim::Cpu& cpu);
    sim::Step run(const op::EndRead& op, sim::Cpu& cpu);
    sim::Step run(const op::SetRlimitMemlock& op, sim::Cpu& cpu);
    sim::Step run(const op::Nop& op, sim::Cpu& cpu);
    sim::Step run(const op::SendFd& op, sim::Cpu& cpu);
    sim::Step run(const op::SendData& op, sim::Cpu& cpu);
    sim::Step run(const op::Submit& op, sim::Cpu& cpu);
    sim::Step run(const op::Reap& op, sim::Cpu& cpu);
    sim::Step run(const op::Poll& op, sim::Cpu& cpu);
    sim::Step run(const op::EndPoll& op, sim::Cpu& cpu);
    sim::Step run(const op::Sleep& op, sim::Cpu& cpu);
    sim::Step run(const op::SetRlimitNofile& op, sim::Cpu& cpu);
    sim::Step run(const op::FailAlloc& op, sim::Cpu& cpu);
    sim::Step run(const op::Shrink& op, sim::Cpu& cpu);
    sim::Step run(const op::CpuHotplug& op, sim::Cpu& cpu);
    sim::Step run(const op::SlabCycle& op, sim::Cpu& cpu);
    sim::Step run(const op::SlabResidents& op, sim::Cpu& cpu);
    void touch_array(std::size_t index, sim::Cpu& cpu);
    sim::Step run(const op::Receive& op, sim::Cpu& cpu);
    sim::Step run(const op::Pace& op, sim::Cpu& cpu);
    sim::Step run(const op::LoopBegin& op, sim::Cpu& cpu);
    sim::Step run(const op::LoopEnd& op, sim::Cpu& cpu);
    sim::Step run(const op::Assert& op, sim::Cpu& cpu);
    sim::Step run(const op::Snapshot& op, sim::Cpu& cpu);
    sim::Step run(const op::RepeatBegin& op, sim::Cpu& cpu);
    sim::Step run(const op::RepeatEnd& op, sim::Cpu& cpu);
    sim::Step run(const op::PhaseBegin& op, sim::Cpu& cpu);
    sim::Step run(const op::PhaseEnd& op, sim::Cpu& cpu);

    /// Runs a batched operation; `fill_in(sqe, i)` says what the i-th request is.
    template <class FillIn>
    sim::Step run_batches(sim::Cpu& cpu, std::size_t ring, std::optional<std::size_t> target,
                          const Batch& batch, const Expect& expect, const FillIn& fill_in,
                          std::uint32_t targets = 1);
    models::Sqe& next_sqe(sim::Cpu& cpu, models::Ring& own) const {
        models::Sqe* sqe = own.prepare(cpu);
        if (sqe == nullptr) {
            sq_full(own);
        }
        return *sqe;
    }
    [[noreturn]] void sq_full(models::Ring& own) const;
    sim::Step enter_stage(sim::Cpu& cpu, const Batch& batch);
    sim::Step reap_own(sim::Cpu& cpu, models::Ring& ring, const Expect& expect,
                       models::Ring* target);
    sim::Step flush_target(sim::Cpu& cpu, models::Ring& target);
    sim::Step reap_messages(sim::Cpu& cpu, models::Ring& target);
    sim::Step next_batch(const Batch& batch);

    sim::Step run_spans(sim::Cpu& cpu, std::size_t ring, op::Via via, std::uint32_t batch,
                        op::With with, std::uint64_t tag, const Expect& expect);
    /// Stops the run where the kernel picked other slots than the operation says.
    void check_slots(const op::UpdateFiles& op) const;
    const std::vector<models::FileUpdate>& entries_for(const Span& span, op::With with,
                                                       std::uint64_t tag, models::Ring& ring);
    /// Stops the run where an update did fewer slots than it was asked for.
    void check_complete(std::int32_t result, const Span& span) const;
    std::vector<Span> installed_spans(models::FileTable& files) const;

    sim::Step run_task_work(sim::Cpu& cpu);
    sim::Step sleep_until(sim::Cpu& cpu, sim::Cycles until);
    sim::Cycles next_due(const op::Pace& op, sim::Cycles now);
    void follow_message(models::Sqe& sqe, std::size_t target, sim::Cpu& cpu);
    void record_sent(sim::Cpu& cpu, const models::Cqe& cqe);
    sim::Step read_message(const op::Receive& op, models::Ring& own, sim::Cpu& cpu);
    /// What the program's clock shows, in ns.
    std::uint64_t clock_ns(sim::Cycles at) const;

    models::Ring& ring(std::size_t index) const;
    sim::Step unregister(sim::Cpu& cpu, std::size_t index, models::UnregisterCall::Table table,
                         const Expect& expect, const char* what);
    sim::Step advance();
    sim::Step finish(sim::Cpu& cpu);
    bool warming_up() const;
    void check(sim::Cpu& cpu, std::int32_t result, const Expect& expect, const char* what) const {
        if (result < 0 || expect.kind == Expect::Kind::value) {
            check_closely(cpu, result, expect, what);
        }
    }
    void check_closely(sim::Cpu& cpu, std::int32_t result, const Expect& expect,
                       const char* what) const;
    void count_success(std::uint64_t requests);
    [[noreturn]] void fail(const std::string& message) const;

    RunState& run_;
    const TaskSpec& spec_;
    std::size_t pc_ = 0;
    std::vector<LoopFrame> loops_;
    std::vector<ActivePhase> phases_;

    Stage stage_ = Stage::idle;
    models::EnterCall enter_;
    models::UnregisterCall unregister_;
    std::uint32_t done_ = 0;       ///< requests of the operation that are finished
    std::uint32_t in_batch_ = 0;   ///< requests of the batch under way
    std::uint32_t messages_ = 0;   ///< CQEs that the batch put into the target
    std::uint64_t first_user_data_ = 0; ///< of the batch
    sim::Cycles batch_began_ = 0;
    sim::Cycles last_latency_ = 0; ///< of the last message sent
    sim::Cycles due_ = -1;         ///< of the next message; -1: not paced yet
    sim::Cycles until_ = 0;        ///< end of the sleep under way
    bool last_seen_ = false;       ///< the last message has been read
    struct SentMessage {
        std::size_t target;
        std::uint64_t number;
    };
    std::vector<SentMessage> batch_messages_; ///< followed ones, by position in the batch
    models::UringTask* self_ = nullptr;
    bool interrupted_ = false;
    std::uint64_t turn_ = 0; ///< whose turn it is among the targets of a send
    std::vector<Span> spans_;
    std::vector<std::uint32_t> allocated_; ///< slots that the kernel picked for an update
    std::vector<models::Object*> objects_; ///< of a slab_cycle
    std::vector<sim::Line> object_lines_;  ///< the memory of that array
    std::vector<std::vector<models::FileUpdate>> entries_; ///< by number of slots
};

} // namespace uringsim::scenarios
