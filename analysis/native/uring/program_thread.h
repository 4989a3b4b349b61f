#pragma once

#include "analysis/native/program.h"
#include "analysis/native/uring/kernel_ring.h"
#include "analysis/native/uring/task_counters.h"
#include "scenarios/scenario.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace uringsim::analysis::native {

/// A result that the scenario did not expect. what() says where and what.
class WrongResult : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The kernel lacks what the program needs. what() says what.
class NotHere : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What the threads of a run share.
struct SharedRun {
    const scenarios::Scenario& scenario;
    const ProgramOptions& options;
    std::vector<std::unique_ptr<KernelRing>> owned; ///< by index of Scenario::rings
    std::vector<std::atomic<KernelRing*>> rings;    ///< null: not open
    int file = -1;                  ///< an eventfd: the one file that every registration installs
    int bad_fd = -1;                ///< a number that no file has
    std::atomic<bool> stop = false; ///< a thread failed: the others give up
    std::atomic<unsigned> at_start = 0;

    SharedRun(const scenarios::Scenario& the_scenario, const ProgramOptions& the_options);
    SharedRun(const SharedRun&) = delete;
    SharedRun& operator=(const SharedRun&) = delete;
    ~SharedRun();
};

/// A task of the scenario on a thread of its own: walks the program as scenarios::ProgramTask does
/// in the simulator, on the kernel's rings.
class ProgramThread {
  public:
    ProgramThread(SharedRun& run, const scenarios::TaskSpec& spec, int cpu);

    /// The thread's body. Throws WrongResult and NotHere.
    void walk();

    /// What it measured, once walk() is done.
    void add_to(Record& record) const;

  private:
    struct LoopFrame {
        std::uint64_t iteration = 0;
        std::uint64_t warmup = 0;
    };
    struct ActivePhase {
        std::size_t phase = 0;
        bool measured = false;
        std::uint64_t started_ns = 0;
        double null_before = 0;
        long switches_before = 0;
        std::size_t first_round = 0; ///< of rounds_ that lies in it
        std::vector<std::uint64_t> counts_before;
    };
    using Span = SlotMap::Span;
    using Expect = scenarios::Expect;
    using Batch = scenarios::Batch;

    void run(const scenarios::op::CreateRing& op);
    void run(const scenarios::op::EnableRing& op);
    void run(const scenarios::op::CloseRing& op);
    void run(const scenarios::op::RegisterFiles& op);
    void run(const scenarios::op::RegisterFilesSparse& op);
    void run(const scenarios::op::RegisterFileAllocRange& op);
    void run(const scenarios::op::UnregisterFiles& op);
    void run(const scenarios::op::UpdateFiles& op);
    void run(const scenarios::op::RemoveFiles& op);
    void run(const scenarios::op::Nop& op);
    void run(const scenarios::op::SendFd& op);
    void run(const scenarios::op::SendData& op);
    void run(const scenarios::op::Submit& op);
    void run(const scenarios::op::Reap& op);
    void run(const scenarios::op::Poll& op);
    void run(const scenarios::op::EndPoll& op);
    void run(const scenarios::op::Sleep& op);
    void run(const scenarios::op::SetRlimitNofile& op);
    void run(const scenarios::op::Assert& op);
    void run(const scenarios::op::RepeatBegin& op);
    void run(const scenarios::op::RepeatEnd& op);
    void run(const scenarios::op::PhaseBegin& op);
    void run(const scenarios::op::PhaseEnd& op);
    /// Refused before (why_refused), or a state that a program does not see (snapshot).
    template <class Op> void run(const Op& /*op*/) {}

    /// `messages_to`: the ring that gets a CQE for each request; the own ring: none does.
    template <class MakeSqe, class OnCqe>
    void run_batches(KernelRing& own, KernelRing& messages_to, const Batch& batch,
                     const Expect& expect, const MakeSqe& make_sqe, const OnCqe& on_cqe);
    template <class Read>
    void reap(KernelRing& ring, std::uint32_t count, const char* what, const Read& read);
    void update_spans(KernelRing& ring, const std::vector<Span>& spans, scenarios::op::Via via,
                      std::uint32_t batch, scenarios::op::With with, std::uint64_t tag,
                      const Expect& expect);
    void note_update(KernelRing& ring, const Span& span, scenarios::op::With with, int done);
    void note_install(KernelRing& ring, std::uint32_t slot, bool given_out);
    const std::vector<int>& fds_for(const Span& span, scenarios::op::With with, KernelRing& ring);
    std::uint64_t next_message(KernelRing& target) const;

    KernelRing& ring(std::size_t index);
    const io_uring_cqe& wait_front(KernelRing& ring, const char* what);
    void check(std::int32_t result, const Expect& expect, const char* what);
    void read_back(KernelRing& ring);
    void read_back_slot(KernelRing& ring, std::size_t slot);
    bool warming_up() const;
    void end_timed(const ActivePhase& phase, std::uint64_t now);
    [[noreturn]] void fail(const std::string& message) const;

    SharedRun& run_;
    const scenarios::TaskSpec& spec_;
    int cpu_;
    bool alone_; ///< the only task: nothing is shared
    std::size_t pc_ = 0;
    std::vector<LoopFrame> loops_;
    std::vector<ActivePhase> phases_;
    std::vector<std::vector<int>> fds_; ///< by number of slots
    std::uint32_t polls_pending_ = 0;

    ProgramCounts own_{};
    std::unique_ptr<TaskCounters> counters_; ///< null: nothing is counted
    std::vector<std::vector<std::uint64_t>> phase_counts_;
    std::vector<std::uint64_t> run_counts_;
    std::vector<Round> rounds_;
    std::uint64_t clock_cost_ns_ = 0;
};

} // namespace uringsim::analysis::native
