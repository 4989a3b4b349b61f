#pragma once

#include "models/uring/ring.h"
#include "scenarios/strict_json.h"
#include "sim/ledger.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace uringsim::scenarios {

/// What an operation must return. A result that differs stops the run, but for `any`, where errors
/// are counted (counter errors_counted).
struct Expect {
    enum class Kind : std::uint8_t { success, value, any } kind = Kind::success;
    std::int32_t value = 0; ///< for `value`: exactly this result, such as -ENFILE

    bool accepts(std::int32_t result) const {
        return kind == Kind::any || (kind == Kind::value ? result == value : result >= 0);
    }
    std::string to_string() const;
};

/// A ring that the scenario declares.
struct RingSpec {
    std::string name;
    models::RingParams params;
    std::uint32_t instances = 1; ///< of the group that starts with this ring
    bool received = false;       ///< some `receive` reads it: its messages are followed
};

/// How a batch of requests is carried out: `count` SQEs are prepared in batches of `batch`; each
/// batch takes one enter that submits it and waits for its completions, which are then reaped.
struct Batch {
    std::uint32_t count = 1;
    std::uint32_t size = 1;
    bool submit = true; ///< false: only prepare SQEs; a later `submit` enters
    bool reap = true;   ///< false: leave all CQEs in the queues, and do not wait for them
};

/// The operations. Rings are indices into Scenario::rings.
namespace op {

struct CreateRing { std::size_t ring; Expect expect; };
struct EnableRing { std::size_t ring; };
struct CloseRing { std::size_t ring; };
struct RegisterFiles { std::size_t ring; std::uint32_t count; bool ring_file; Expect expect; };
struct RegisterFilesSparse { std::size_t ring; std::uint32_t count; bool opt_in; Expect expect; };
struct RegisterFileAllocRange {
    std::size_t ring;
    std::uint32_t offset;
    std::uint32_t length;
    Expect expect;
};
struct UnregisterFiles { std::size_t ring; Expect expect; };

enum class With : std::uint8_t { file, none, skip, bad_fd, ring_file };
enum class Via : std::uint8_t { request, call };

/// FILES_UPDATE over `count` slots from `offset` on, `batch.size` requests an enter of
/// `entries` slots each, or by register calls of `entries` slots. With an offset of
/// file_index_alloc, requests let the kernel pick the slots.
struct UpdateFiles {
    std::size_t ring;
    std::uint32_t offset;
    std::uint32_t count;
    std::uint32_t entries;
    std::uint32_t batch;
    With with;
    Via via;
    std::uint64_t tag;
    std::optional<std::uint32_t> first_slot; ///< the kernel picks this one and those after it
    Expect expect;

    /// The kernel picks the slots.
    bool alloc() const { return via == Via::request && offset == models::file_index_alloc; }
};
/// Removes every installed file, a contiguous span of slots at a time.
struct RemoveFiles { std::size_t ring; Via via; Expect expect; };
/// Registers `count` equal buffers.
struct RegisterBuffers {
    std::size_t ring;
    std::uint32_t count;
    models::UserBuffer buffer;
    Expect expect;
};
struct UpdateBuffers {
    std::size_t ring;
    std::uint32_t first; ///< slot
    std::uint32_t count;
    models::UserBuffer buffer;
    Expect expect;
};
struct UnregisterBuffers { std::size_t ring; Expect expect; };
struct CloneBuffers {
    std::size_t ring;
    std::size_t from;
    models::BufferTable::CloneRange range;
    Expect expect;
};
/// READ_FIXED of `bytes` bytes into a buffer, from `offset` in it on. `pending`: there is nothing to
/// read yet, so the requests stay in flight until EndRead.
struct ReadFixed {
    std::size_t ring;
    Batch batch;
    std::uint32_t buffer;
    std::uint32_t bytes;
    std::uint32_t offset;
    bool pending;
    Expect expect;
};
struct EndRead { std::size_t ring; };
struct SetRlimitMemlock { std::uint64_t bytes; };
/// `later_every`: one request in so many ends by `completes`, the others at once.
struct Nop {
    std::size_t ring;
    Batch batch;
    bool cqe_skip;
    models::Completes completes;
    std::uint32_t later_every;
    std::uint32_t delay_us;
};
/// Memory pressure: asks the kernel's shrinkers for `objects`. The result is how many they gave.
struct Shrink { std::uint32_t objects; Expect expect; };
/// A CPU goes offline or comes back.
struct CpuHotplug { std::uint16_t cpu; bool online; Expect expect; };
/// Allocates `count` objects of `bytes` from the kernel's own caches and gives them back in order:
/// a benchmark of the slab allocator, as a kernel module runs it.
struct SlabCycle {
    std::uint32_t bytes;
    std::uint32_t count;
    bool account;
    bool bulk_alloc;
    bool bulk_free;
};

/// Slabs that others have left in the kernel's own cache of `bytes`, in each of them `live` objects
/// in use: what a benchmark finds in a cache that it shares. They are taken in the order of the
/// program.
struct SlabResidents {
    std::uint32_t bytes;
    std::uint32_t slabs;
    std::uint32_t live;
    bool account;
};

enum class Slot : std::uint8_t { alloc, sequential, file_index };
struct SendFd {
    std::size_t ring;
    std::optional<std::size_t> target; ///< nothing: an fd that is no ring
    Batch batch;
    Slot slot;
    std::uint32_t file_index; ///< raw, for Slot::file_index; first slot, for Slot::sequential
    std::uint32_t source_slot;
    std::uint32_t len;
    std::uint32_t flags;
    bool cqe_skip;
    Expect expect;
};
struct SendData {
    std::size_t ring;
    std::optional<std::size_t> target;
    std::uint32_t targets;              ///< rings from `target` on that take turns
    bool last;                          ///< the receiver stops after this one
    std::optional<std::size_t> latency; ///< histogram of submission to own completion
    Batch batch;
    std::uint32_t len;
    Expect expect;
};
/// io_uring_enter: submits all that is prepared; with `wait`, asks for events.
struct Submit { std::size_t ring; std::optional<std::uint32_t> wait; Expect expect; };
/// Reads CQEs without a system call. `count`: exactly so many; nothing: all that are there.
struct Reap {
    std::size_t ring;
    std::optional<std::uint32_t> count;
    Expect expect;
    std::optional<std::uint64_t> first_user_data; ///< CQEs come in sequence from this one on
};
/// Reads messages one by one, entering to wait for `wait` where none is there: `count` messages, or
/// as many as come until the last one has been read and none is on its way.
struct Receive {
    std::size_t ring;
    std::uint32_t wait;
    std::optional<std::uint32_t> count;
    std::optional<std::size_t> latency; ///< histogram of send to read
};
/// Waits until the next message is due.
///
/// With d the delay, L the sender's latency of the last message:
/// - credit: due times d + loss x min(1.2, (L + 0.06 us) / d) apart; a sleep until the next one, with the
///   timer's slack; those that are overdue after it follow back to back. Reproduces twelve
///   published periods within 3 % with a loss of 48 us: a description, not the test program.
/// - sleep: a sleep of d after each message.
/// - spin: a busy loop until d after the last due time; no timer.
/// - grid: due times d apart, with sleeps.
struct Pace {
    enum class Rule : std::uint8_t { credit, sleep, spin, grid };
    Rule rule;
    std::uint64_t delay_us;
    std::uint64_t loss_us;
};
struct Poll { std::size_t ring; std::uint32_t slot; Expect expect; };
struct EndPoll { std::size_t ring; };
struct Sleep { std::uint64_t us; };
struct SetRlimitNofile { std::uint64_t limit; };

enum class FailWhat : std::uint8_t { rsrc_node, overflow_entry, request };
struct FailAlloc { std::size_t ring; FailWhat what; std::uint64_t after; std::uint64_t times; };

enum class Quantity : std::uint8_t {
    cq_ready,
    cq_overflowed,
    cq_dropped,
    files_installed,
    files_held,
    nodes_cached,
    node_capacity,
    rings_alive,
    buffers_installed,
    pins,            ///< segments of all rings' buffers
    pages_accounted, ///< against RLIMIT_MEMLOCK
    requests_cached,    ///< in the per-CPU caches
    requests_available, ///< of those, on alloc lists
    local_work,
    taskrun
};
/// True for what belongs to no single ring.
constexpr bool is_global(Quantity quantity) {
    return quantity == Quantity::rings_alive || quantity == Quantity::pins ||
           quantity == Quantity::pages_accounted || quantity == Quantity::requests_cached ||
           quantity == Quantity::requests_available;
}
/// Stops the run where a quantity differs. `ring` is ignored for those that are global.
struct Assert { std::size_t ring; Quantity quantity; std::uint64_t equals; };
/// Notes the state of the ring's node cache in the result.
struct Snapshot { std::size_t ring; std::string name; };

/// Control: `do` blocks are flattened; the numbers are indices into the program.
struct RepeatBegin { std::uint64_t times; std::uint64_t warmup; std::size_t end; };
struct RepeatEnd { std::size_t begin; };
/// Repeats for a length of time, looking at the clock at the beginning of each round.
struct LoopBegin { std::uint64_t us; std::size_t end; };
struct LoopEnd { std::size_t begin; };
struct PhaseBegin { sim::PhaseId phase; };
struct PhaseEnd { sim::PhaseId phase; };

using Any = std::variant<CreateRing, EnableRing, CloseRing, RegisterFiles, RegisterFilesSparse,
                         RegisterFileAllocRange, UnregisterFiles, UpdateFiles, RemoveFiles, Nop,
                         SendFd, SendData, Submit, Reap, Poll, EndPoll, Sleep, SetRlimitNofile,
                         RegisterBuffers, UpdateBuffers, UnregisterBuffers, CloneBuffers,
                         SetRlimitMemlock, FailAlloc, Shrink, CpuHotplug, SlabCycle,
                         SlabResidents, Assert,
                         Snapshot, RepeatBegin, RepeatEnd, PhaseBegin, PhaseEnd, Receive, Pace,
                         LoopBegin, LoopEnd, ReadFixed, EndRead>;

} // namespace op

/// One step of a program, and where it stands in the file.
struct Instruction {
    op::Any op;
    std::string where; ///< file:line:column: /pointer
};

/// A named stretch that is measured.
struct PhaseSpec {
    std::string name;
    std::optional<sim::PhaseId> parent; ///< the phase that it lies in
    std::uint64_t operations = 1;       ///< in one round
    bool counted = false; ///< operations are the requests that succeeded, as the run has them
};

struct TaskSpec {
    std::string name;
    std::uint16_t cpu = 0;
    bool pinned = true; ///< false: it moves to an idle CPU when something else wants its own
    std::vector<Instruction> program;
};

/// A parameter as declared, with the value of this run.
struct Parameter {
    std::string name;
    std::string unit;
    std::string help;
    std::int64_t default_value = 0;
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::int64_t value = 0;
    std::vector<std::string> choices; ///< not empty: the value is an index into these

    /// The value as users write it.
    std::string text() const;
};

/// A scenario with its parameters bound: programs are data and every number is known.
struct Scenario {
    std::string name;
    std::string summary;
    std::string machine;
    std::string design;
    std::uint64_t seed = 1;
    std::vector<Parameter> parameters;
    std::vector<RingSpec> rings;
    std::vector<PhaseSpec> phases; ///< PhaseId n is phases[n - 1]
    std::vector<std::string> latencies; ///< names of the histograms
    std::vector<TaskSpec> tasks;

    const PhaseSpec& phase(sim::PhaseId id) const { return phases.at(sim::index_of(id) - 1); }
};

/// Values given on the command line: parameter name to text.
using ParameterOverrides = std::vector<std::pair<std::string, std::string>>;

/// Reads a scenario strictly and binds its parameters. Nothing, after reporting every error, where
/// the file or an override is wrong.
std::optional<Scenario> read_scenario(const JsonNode& root, const ParameterOverrides& overrides,
                                      Diagnostics& diagnostics);

} // namespace uringsim::scenarios
