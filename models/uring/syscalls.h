#pragma once

#include "models/kernel.h"
#include "models/uring/ring.h"
#include "sim/cpu.h"
#include "sim/task.h"

#include <cstdint>
#include <functional>
#include <span>

namespace uringsim::models {

/// One io_uring_enter, run stage by stage so that other CPUs can act in between: a stage a request,
/// one for the completions, one for each item of work, one for each look at the CQ while it waits.
///
/// Waiting: local work and task_work run, and overflowed completions are flushed; if that is not
/// enough the task announces that it waits (cq_wait_nr, wait queue), looks once more, and sleeps.
/// Whoever adds something after the announcement sees it and wakes the task; whoever added before
/// is found by the last look.
/// Source: io_uring_enter, io_submit_sqes, io_cqring_wait, io_cqring_wait_schedule,
/// io_uring/io_uring.c (6.12, 6.13).
class EnterCall {
  public:
    struct Args {
        std::uint32_t to_submit = 0;
        std::uint32_t min_complete = 0;
        bool get_events = false;
    };

    void begin(Ring& ring, const Args& args);

    enum class Progress : std::uint8_t { more, blocked, done };

    /// Runs one stage. `blocked`: the task sleeps; step() goes on once it has been woken.
    Progress step(sim::Cpu& cpu, Kernel& kernel, sim::Task& task);

    /// After `done`: SQEs consumed, or a negative errno. -EBADFD: the ring is disabled; -EAGAIN: no
    /// memory for the first request; -EBADR: completions were lost, told once;
    /// -EEXIST: the ring belongs to another task.
    std::int32_t result() const { return result_; }

  private:
    enum class Stage : std::uint8_t {
        entry,
        submit,
        flush,
        local_work,
        before_wait,
        look,
        announce,
        last_look,
        woken,
        leave
    };

    Progress enter(sim::Cpu& cpu, Kernel& kernel);
    Progress submit(sim::Cpu& cpu, const sim::Task& task);
    Progress flush(sim::Cpu& cpu, const Kernel& kernel);
    Progress before_wait(const Kernel& kernel);
    Progress run_local(std::int64_t min, std::int64_t max, Stage then);
    Progress local_work(sim::Cpu& cpu, const sim::Task& task);
    Progress look(sim::Cpu& cpu);
    Progress announce(sim::Cpu& cpu, sim::Task& task);
    Progress last_look(sim::Cpu& cpu);
    void await_changes(sim::Cpu& cpu) const;
    Progress woken(sim::Cpu& cpu, Kernel& kernel);
    Progress leave(sim::Cpu& cpu);
    Progress go(Stage stage);
    std::int64_t cap(const Kernel& kernel) const;

    Ring* ring_ = nullptr;
    UringTask* self_ = nullptr;
    Args args_;
    Stage stage_ = Stage::entry;
    Stage after_work_ = Stage::before_wait;
    LocalWork::Run run_;
    std::uint32_t to_consume_ = 0; ///< SQEs that were in the SQ at the start, at most to_submit
    bool begun_ = false; ///< the submission
    std::uint32_t submitted_ = 0;
    std::uint32_t wanted_ = 0;
    std::uint32_t missing_ = 0;
    bool slept_ = false;
    std::int32_t result_ = 0;
};

/// IORING_UNREGISTER_FILES or _BUFFERS, which up to 6.12 sleeps until every request that uses the table is done:
/// such requests hold the ring's node. From 6.13 on it never waits. The wait is interruptible in the
/// kernel; nothing interrupts it here.
/// Source: io_sqe_files_unregister, io_rsrc_ref_quiesce, io_uring/rsrc.c (6.1, 6.12, 6.18).
class UnregisterCall {
  public:
    enum class Table : std::uint8_t { files, buffers };

    void begin(Ring& ring, Table table);

    EnterCall::Progress step(sim::Cpu& cpu, Kernel& kernel, sim::Task& task);

    /// After `done`: 0, or -ENXIO without a table.
    std::int32_t result() const { return result_; }

  private:
    bool registered() const;
    sim::WaitQueue* quiesce(sim::Cpu& cpu);

    Ring* ring_ = nullptr;
    Table table_ = Table::files;
    bool entered_ = false;
    std::int32_t result_ = 0;
};

/// io_uring_register calls: the system call around what the file table does. Each returns what the
/// kernel would return.
int register_files(sim::Cpu& cpu, Kernel& kernel, Ring& ring, std::span<File* const> files);
int register_files_sparse(sim::Cpu& cpu, Kernel& kernel, Ring& ring, std::uint32_t slots,
                          bool opt_in);
/// An UnregisterCall where nothing can make it wait. Throws std::logic_error where something does.
int unregister_files(sim::Cpu& cpu, Kernel& kernel, Ring& ring);
int register_file_alloc_range(sim::Cpu& cpu, Kernel& kernel, Ring& ring, std::uint32_t offset,
                              std::uint32_t length);
int register_buffers(sim::Cpu& cpu, Kernel& kernel, Ring& ring, std::span<const UserBuffer> buffers);
int register_buffers_update(sim::Cpu& cpu, Kernel& kernel, Ring& ring, std::uint32_t offset,
                            std::span<const UserBuffer> buffers);
int register_clone_buffers(sim::Cpu& cpu, Kernel& kernel, Ring& ring, Ring& source,
                           const BufferTable::CloneRange& range = {});
int register_files_update(sim::Cpu& cpu, Kernel& kernel, Ring& ring, std::uint32_t offset,
                          std::span<const FileUpdate> entries);

} // namespace uringsim::models
