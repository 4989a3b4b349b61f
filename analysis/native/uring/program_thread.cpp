#include "analysis/native/uring/program_thread.h"

#include "analysis/native/uring/clock.h"
#include "models/errno_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

namespace uringsim::analysis::native {

namespace op = scenarios::op;

namespace {

constexpr std::uint64_t patience_ns = 10'000'000'000; ///< for CQEs and rings of other tasks
constexpr std::uint64_t sentinel = 0x5eed;            ///< what reading an installed file gives
constexpr rlim_t file_limit = 1U << 20U;

void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0) {
        throw NotHere(fmt::format("CPU {} cannot be used: {}", cpu, std::strerror(errno)));
    }
}

/// Counters for this thread; a ring of their own finds out what the end of a table frees.
std::unique_ptr<TaskCounters> make_counters(bool kernel_probes) {
    int error = 0;
    models::RingParams params;
    params.sq_entries = 1;
    const auto ring = KernelRing::create("counters", params, error);
    return std::make_unique<TaskCounters>(kernel_probes, [&ring] {
        if (ring && ring->register_files_sparse(1) >= 0) {
            ring->unregister_files();
        }
    });
}

/// Waits for something that another task does.
class Patience {
  public:
    /// False when it is exhausted.
    bool wait(const SharedRun& run) {
        if (++turns_ % spins_a_look != 0) {
            return true;
        }
        if (start_ == 0) {
            start_ = now_ns();
        }
        ::sched_yield();
        return !run.stop && now_ns() - start_ < patience_ns;
    }

  private:
    static constexpr std::uint64_t spins_a_look = 4096;
    std::uint64_t turns_ = 0;
    std::uint64_t start_ = 0;
};

} // namespace

SharedRun::SharedRun(const scenarios::Scenario& the_scenario, const ProgramOptions& the_options)
    : scenario(the_scenario)
    , options(the_options)
    , owned(the_scenario.rings.size())
    , rings(the_scenario.rings.size())
    , file(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    , bad_fd(static_cast<int>(file_limit) - 1) {
    const rlimit limit{file_limit, file_limit};
    ::setrlimit(RLIMIT_NOFILE,
                &limit); // not allowed: large tables are refused later, with a reason
}

SharedRun::~SharedRun() {
    if (file >= 0) {
        ::close(file);
    }
}

ProgramThread::ProgramThread(SharedRun& run, const scenarios::TaskSpec& spec, int cpu)
    : run_(run)
    , spec_(spec)
    , cpu_(cpu)
    , alone_(run.scenario.tasks.size() == 1) {}

void ProgramThread::walk() {
    pin(cpu_);
    const bool timed = run_.options.purpose == Purpose::time;
    clock_cost_ns_ = timed && run_.options.subtract_clock ? clock_cost_ns() : 0;
    if (run_.options.purpose == Purpose::count) {
        counters_ = make_counters(run_.options.kernel_probes);
        run(op::Sleep{run_.options.settle_us}); // for the exit work of that ring
        phase_counts_.assign(run_.scenario.phases.size(),
                             std::vector<std::uint64_t>(counters_->names().size(), 0));
    }
    ++run_.at_start;
    Patience patience;
    while (run_.at_start < run_.scenario.tasks.size()) {
        if (!patience.wait(run_)) {
            return;
        }
    }
    std::vector<std::uint64_t> before;
    if (counters_) {
        counters_->read(own_, before);
    }
    for (pc_ = 0; pc_ < spec_.program.size() && !run_.stop; ++pc_) {
        std::visit([&](const auto& op) { run(op); }, spec_.program[pc_].op);
    }
    if (counters_) {
        counters_->read(own_, run_counts_);
        for (std::size_t i = 0; i < run_counts_.size(); ++i) {
            run_counts_[i] -= before[i];
        }
    }
}

void ProgramThread::add_to(Record& record) const {
    record.rounds.insert(record.rounds.end(), rounds_.begin(), rounds_.end());
    if (!counters_) {
        return;
    }
    const auto add = [&](std::optional<std::size_t> phase, const std::string& name,
                         std::uint64_t value) {
        for (Count& count : record.counts) {
            if (count.phase == phase && count.counter == name) {
                count.value += value;
                return;
            }
        }
        record.counts.push_back({phase, name, value});
    };
    const std::vector<std::string>& names = counters_->names();
    for (std::size_t phase = 0; phase < phase_counts_.size(); ++phase) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            add(phase, names[i], phase_counts_[phase][i]);
        }
    }
    for (std::size_t i = 0; i < run_counts_.size(); ++i) {
        add(std::nullopt, names[i], run_counts_[i]);
    }
    record.absent = counters_->absent();
}

void ProgramThread::fail(const std::string& message) const {
    const std::string& where = spec_.program.at(std::min(pc_, spec_.program.size() - 1)).where;
    throw WrongResult(fmt::format("{}: task \"{}\": {}", where, spec_.name, message));
}

KernelRing& ProgramThread::ring(std::size_t index) {
    Patience patience;
    while (run_.rings[index].load(std::memory_order_acquire) == nullptr) {
        if (alone_ || !patience.wait(run_)) {
            fail(fmt::format("ring \"{}\" is not open", run_.scenario.rings[index].name));
        }
    }
    return *run_.rings[index].load(std::memory_order_acquire);
}

void ProgramThread::check(std::int32_t result, const Expect& expect, const char* what) {
    if (!expect.accepts(result)) {
        if (result == -EINVAL || result == -EOPNOTSUPP) {
            throw NotHere(fmt::format("{}: {} returned {}: this kernel may be too old for it",
                                      spec_.program[pc_].where, what, models::result_name(result)));
        }
        fail(fmt::format("{} returned {}, expected {}", what, models::result_name(result),
                         expect.to_string()));
    }
    if (expect.kind == Expect::Kind::any && result < 0) {
        ++own_.errors_counted;
    }
}

const io_uring_cqe& ProgramThread::wait_front(KernelRing& ring, const char* what) {
    Patience patience;
    const io_uring_cqe* cqe = ring.front();
    while (cqe == nullptr) {
        if (ring.overflowed()) {
            fail(fmt::format("{} is on the overflow list of ring \"{}\", which only an enter with "
                             "GETEVENTS flushes",
                             what, ring.name()));
        }
        if (!patience.wait(run_)) {
            fail(fmt::format("{} did not arrive in ring \"{}\"", what, ring.name()));
        }
        cqe = ring.front();
    }
    return *cqe;
}

// --- Rings and registrations ---

void ProgramThread::run(const op::CreateRing& op) {
    const scenarios::RingSpec& spec = run_.scenario.rings[op.ring];
    int error = 0;
    auto ring = KernelRing::create(spec.name, spec.params, error);
    if (!ring && op.expect.kind != Expect::Kind::success) {
        check(error, op.expect, "create_ring");
        return;
    }
    if (!ring) {
        throw NotHere(fmt::format("io_uring_setup of ring \"{}\" returned {}", spec.name,
                                  models::result_name(error)));
    }
    ++own_.rings_created;
    run_.owned[op.ring] = std::move(ring);
    run_.rings[op.ring].store(run_.owned[op.ring].get(), std::memory_order_release);
}

void ProgramThread::run(const op::EnableRing& op) {
    check(ring(op.ring).enable(), {}, "enable_ring");
}

void ProgramThread::run(const op::CloseRing& op) {
    KernelRing& own = ring(op.ring);
    read_back(own);
    run_.rings[op.ring].store(nullptr, std::memory_order_release);
    run_.owned[op.ring].reset();
    run(op::Sleep{run_.options.settle_us});
}

void ProgramThread::run(const op::RegisterFiles& op) {
    KernelRing& own = ring(op.ring);
    const std::vector<int> fds(op.count, op.ring_file ? own.fd() : run_.file);
    const int result = own.register_files(fds);
    check(result, op.expect, "register_files");
    if (result >= 0) {
        own.slots.reset(op.count, true);
        own_.files_installed += op.count;
    }
}

void ProgramThread::run(const op::RegisterFilesSparse& op) {
    KernelRing& own = ring(op.ring);
    const int result = own.register_files_sparse(op.count);
    check(result, op.expect, "register_files_sparse");
    if (result >= 0) {
        own.slots.reset(op.count, false);
    }
}

void ProgramThread::run(const op::RegisterFileAllocRange& op) {
    check(ring(op.ring).register_alloc_range(op.offset, op.length), op.expect,
          "register_file_alloc_range");
}

void ProgramThread::run(const op::UnregisterFiles& op) {
    KernelRing& own = ring(op.ring);
    read_back(own);
    const int result = own.unregister_files();
    check(result, op.expect, "unregister_files");
    if (result >= 0) {
        own_.files_removed += own.slots.used();
        own.slots.reset(0, false);
    }
}

// --- What the check reads back ---

/// Reads the lowest and the highest installed file through the ring: the slots hold our file.
void ProgramThread::read_back(KernelRing& own) {
    if (run_.options.purpose != Purpose::check || own.slots.used() == 0 || own.ready() > 0 ||
        own.prepared() > 0 || polls_pending_ > 0) {
        return;
    }
    const std::vector<Span> spans = own.slots.spans();
    read_back_slot(own, spans.front().offset);
    read_back_slot(own, spans.back().offset + spans.back().length - 1);
}

void ProgramThread::read_back_slot(KernelRing& own, std::size_t slot) {
    std::uint64_t value = sentinel;
    if (::write(run_.file, &value, sizeof value) != sizeof value) {
        fail("the sentinel cannot be written");
    }
    value = 0;
    io_uring_sqe& sqe = own.next_sqe();
    io_uring_prep_read(&sqe, static_cast<int>(slot), &value, sizeof value, 0);
    sqe.flags = IOSQE_FIXED_FILE;
    if (own.enter(1, true) != 1) {
        fail("the read of an installed file was not submitted");
    }
    const std::int32_t result = wait_front(own, "the read of an installed file").res;
    own.pop();
    if (result != sizeof value || value != sentinel) {
        fail(fmt::format("reading slot {} of ring \"{}\" returned {} and {:#x}, expected {:#x}",
                         slot, own.name(), models::result_name(result), value, sentinel));
    }
}

// --- Control ---

bool ProgramThread::warming_up() const {
    return std::ranges::any_of(
        loops_, [](const LoopFrame& frame) { return frame.iteration < frame.warmup; });
}

void ProgramThread::run(const op::RepeatBegin& op) {
    if (op.times + op.warmup == 0) {
        pc_ = op.end;
    } else {
        loops_.push_back({0, op.warmup});
    }
}

void ProgramThread::run(const op::RepeatEnd& op) {
    const auto& begin = std::get<op::RepeatBegin>(spec_.program[op.begin].op);
    if (++loops_.back().iteration < begin.times + begin.warmup) {
        pc_ = op.begin;
    } else {
        loops_.pop_back();
    }
}

void ProgramThread::run(const op::PhaseBegin& op) {
    const bool outermost = phases_.empty();
    ActivePhase& phase = phases_.emplace_back();
    phase.phase = sim::index_of(op.phase) - 1;
    phase.measured = !warming_up();
    phase.first_round = rounds_.size();
    if (counters_) {
        counters_->read(own_, phase.counts_before);
    } else if (run_.options.purpose == Purpose::time) {
        if (outermost) {
            phase.switches_before = involuntary_switches();
            phase.null_before = null_call_ns(run_.options.null_calls);
        }
        phase.started_ns = now_ns();
    }
}

void ProgramThread::run(const op::PhaseEnd& /*op*/) {
    const std::uint64_t now = run_.options.purpose == Purpose::time ? now_ns() : 0;
    const ActivePhase phase = std::move(phases_.back());
    phases_.pop_back();
    if (counters_ && phase.measured) {
        std::vector<std::uint64_t> counts;
        counters_->read(own_, counts);
        for (std::size_t i = 0; i < counts.size(); ++i) {
            phase_counts_[phase.phase][i] += counts[i] - phase.counts_before[i];
        }
    } else if (run_.options.purpose == Purpose::time) {
        end_timed(phase, now);
    }
}

void ProgramThread::end_timed(const ActivePhase& phase, std::uint64_t now) {
    if (phase.measured) {
        const std::uint64_t ns = now - phase.started_ns;
        rounds_.push_back({phase.phase, ns - std::min(ns, clock_cost_ns_), 0, false});
    }
    if (!phases_.empty()) {
        return; // the outermost phase says how slow the machine was
    }
    const double null_ns = (phase.null_before + null_call_ns(run_.options.null_calls)) / 2;
    const bool switched = involuntary_switches() > phase.switches_before;
    for (std::size_t i = phase.first_round; i < rounds_.size(); ++i) {
        rounds_[i].null_ns = null_ns;
        rounds_[i].switched = switched;
    }
}

} // namespace uringsim::analysis::native
