#pragma once

#include "models/counters.h"
#include "models/design.h"
#include "models/mechanisms.h"
#include "models/mm/kmalloc.h"
#include "models/primitives.h"
#include "models/uring/alloc_cache.h"
#include "models/uring/buffer_table.h"
#include "models/uring/completion_queue.h"
#include "models/uring/file.h"
#include "models/uring/file_table.h"
#include "models/uring/local_work.h"
#include "models/uring/message_policy.h"
#include "models/uring/node_cache.h"
#include "models/uring/request.h"
#include "models/uring/request_policy.h"
#include "models/uring/rsrc_node.h"
#include "models/uring/uring_task.h"
#include "sim/sync.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uringsim::models {

class Kernel;

/// What io_uring_setup is given. Entries are rounded up to powers of two, as the kernel does.
/// Source: io_uring_fill_params, io_uring/io_uring.c (6.18).
struct RingParams {
    static constexpr std::uint32_t max_sq_entries = 32768; ///< IORING_MAX_ENTRIES
    static constexpr std::uint32_t max_cq_entries = 2 * max_sq_entries;

    std::uint32_t sq_entries = 256;
    std::uint32_t cq_entries = 0; ///< 0: twice sq_entries
    bool cqe32 = false;           ///< IORING_SETUP_CQE32
    bool disabled = false;        ///< IORING_SETUP_R_DISABLED
    bool single_issuer = false;   ///< IORING_SETUP_SINGLE_ISSUER
    bool defer_taskrun = false;   ///< IORING_SETUP_DEFER_TASKRUN; needs single_issuer
    bool taskrun_flag = false;    ///< IORING_SETUP_TASKRUN_FLAG
    bool iopoll = false;          ///< IORING_SETUP_IOPOLL

    /// 0, or -EINVAL: no SQ entries, too many of either, or after rounding fewer CQ than SQ entries.
    int check() const;
};

/// io_submit_sqe's outcome for one request.
enum class SubmitProgress : std::uint8_t {
    submitted, ///< and the next may follow
    last,      ///< its preparation failed: it completes with the error and ends the batch
    more,      ///< the request is being issued; another stage follows
    no_request ///< no memory for a request; the SQE stays where it is
};

/// An io_uring instance: struct io_ring_ctx with its queues, tables and caches.
class Ring final : public RsrcOwner {
  public:
    Ring(sim::Cpu& cpu, Kernel& kernel, std::string name, const RingParams& params);
    ~Ring() override = default;

    const std::string& name() const { return name_; }
    std::uint32_t sq_entries() const { return params_.sq_entries; }
    bool disabled() const { return params_.disabled; }
    /// IORING_REGISTER_ENABLE_RINGS, by the task that is to submit.
    void enable(UringTask* task = nullptr);
    bool defer_taskrun() const { return params_.defer_taskrun; }
    bool single_issuer() const { return params_.single_issuer; }
    bool iopoll() const { return params_.iopoll; }

    /// The only task that may submit (SINGLE_ISSUER), or nullptr.
    UringTask* submitter() const { return submitter_; }
    /// The owner exits: messages to the ring fail with -EOWNERDEAD from now on.
    void owner_gone() { submitter_ = nullptr; }

    CompletionQueue& cq() { return cq_; }
    FileTable& files() { return *files_; }
    BufferTable& buffers() { return *buffers_; }
    RsrcLifetime& lifetime() { return *lifetime_; }
    RequestAllocator& requests() { return *requests_; }
    Kernel& kernel() override { return kernel_; }
    NodeCache& node_cache() override { return *node_cache_; }
    const NodeCache& node_cache() const { return *node_cache_; }
    File& file() { return file_; }
    sim::Lock& uring_lock() { return uring_lock_; }
    sim::Lock& completion_lock() { return completion_lock_; }

    // Waiting for completions.

    static constexpr std::uint32_t nobody_waits = 0xffffffff; // IO_CQ_WAKE_INIT

    /// cq_wait_nr: how many more completions the owner of a DEFER_TASKRUN ring waits for.
    std::uint32_t cq_wait_nr() const { return cq_wait_nr_; }
    /// A task announces that it waits until `wanted` completions are in the CQ. It then looks once more
    /// before it sleeps.
    void start_wait(sim::Task& task, std::uint32_t wanted);
    void stop_wait(sim::Task& task);
    /// io_cqring_wake: wakes the waiters that have enough, or work to run.
    void wake_cq(sim::Cpu& cpu) {
        wait_changed_.await(cpu);
        if (!waiters_.empty()) {
            wake_waiters(cpu);
        }
    }
    /// Something that a waiter should not sleep on: overflowed completions or local work.
    bool has_work() const { return cq_.overflow_pending() || work_.pending(); }

    // Local work (DEFER_TASKRUN) and task_work.

    LocalWork& work() { return work_; }
    /// io_req_local_work_add: pushes an item and wakes the owner if that is enough.
    void add_local_work(sim::Cpu& cpu, const LocalWorkItem& item, bool lazy);
    /// What one item of local work does, in the owner's task and under uring_lock.
    void run_local_work(sim::Cpu& cpu, const LocalWorkItem& item);
    /// io_req_task_work_add: a request completes in the task that submitted it.
    void complete_by_task_work(sim::Cpu& cpu, Request& request);
    /// IORING_SQ_TASKRUN is set: work is pending and the program should enter.
    bool taskrun() const { return params_.taskrun_flag && taskrun_; }
    void clear_taskrun() { taskrun_ = false; }

    // Messages.

    /// v3 series: memory for an overflow entry, under this ring's completion_lock. nullptr: none.
    Object* take_message_memory(sim::Cpu& cpu);
    /// v3 series: after an entry was appended; `before` were there.
    void wake_for_overflow(sim::Cpu& cpu, std::uint32_t before);
    /// 6.11 on: memory for a message from this ring to `target`. nullptr: none.
    Object* message_memory_for(sim::Cpu& cpu, Ring& target);
    void free_message_memory(sim::Cpu& cpu, Object& memory);

    /// User side: the next SQE, cleared, to be filled in (io_uring_get_sqe). nullptr when the SQ is
    /// full.
    Sqe* prepare(sim::Cpu& cpu);
    std::uint32_t prepared() const { return sq_tail_ - sq_head_; }

    /// io_submit_sqe, one request, or the next stage of it: allocates it, issues it, and queues or
    /// posts its completion.
    SubmitProgress submit(sim::Cpu& cpu);

    /// A request that io-wq issued is done: it completes in the task that submitted it.
    void finish_punted(sim::Cpu& cpu, Request& request, std::int32_t result);

    /// `target` is being closed: its file descriptor is a bad one for SQEs not submitted yet.
    void forget_target(const Ring& target);

    /// __io_submit_flush_completions: posts what the submission completed and frees the requests.
    void flush_completions(sim::Cpu& cpu);

    /// Posts a CQE; wake_cq() has to follow. False: lost.
    bool post(sim::Cpu& cpu, const Cqe& cqe) { return cq_.post(cpu, cqe); }
    void post_tag(sim::Cpu& cpu, std::uint64_t tag) override;

    /// Completes a request that did not complete while it was submitted: from an interrupt, or by a
    /// worker on another CPU.
    void complete_later(sim::Cpu& cpu, Request& request);

    /// Takes interrupts that signal completions; with `wait`, where one of this ring's is
    /// outstanding on this CPU, idles until it comes. False where none was taken.
    bool take_interrupts(sim::Cpu& cpu, bool wait);

    /// Ends the oldest pending poll of a fixed file with `res`. False when none is pending.
    bool end_poll(sim::Cpu& cpu, std::int32_t res);
    std::size_t polls_pending() const { return polls_.size(); }

    /// There is something to read: ends the oldest READ_FIXED that waits for it. With an `error` it
    /// ends with that instead. False when none is waiting.
    bool end_read(sim::Cpu& cpu, std::int32_t error = 0);

    /// Requests submitted whose completion has been neither posted nor skipped.
    std::uint64_t in_flight() const { return in_flight_; }

    /// The task's own record of the ring (struct io_tctx_node), freed by that task after the exit.
    /// What links the ring to its creator; null once it has been taken.
    Object* take_task_node() { return std::exchange(task_node_, nullptr); }
    /// The task that made the ring; null where none did.
    UringTask* creator() { return creator_; }
    std::uint16_t owner_cpu() const { return owner_cpu_; }

    /// io_ring_ctx_free, less the files: overflow, caches, requests, queues.
    void release(sim::Cpu& cpu);

    /// Bytes of queues and pointer arrays.
    std::uint64_t ring_bytes() const { return ring_bytes_; }

  private:
    static constexpr std::uint32_t sqe_bytes = 64;

    const Sqe& take_sqe(sim::Cpu& cpu);
    std::int32_t issue(sim::Cpu& cpu, Request& request);
    std::int32_t issue_files_update(sim::Cpu& cpu, const Request& request);
    std::int32_t prepare_request(sim::Cpu& cpu, Request& request);
    std::int32_t import_buffer(sim::Cpu& cpu, Request& request);
    std::int32_t issue_read(sim::Cpu& cpu, Request& request);
    bool start_poll(sim::Cpu& cpu, Request& request);
    void end_pending(sim::Cpu& cpu, Request& request);
    void start_request(sim::Cpu& cpu, Request& request);
    SubmitProgress continue_message(sim::Cpu& cpu);
    void wake_waiters(sim::Cpu& cpu);
    void wake_local(sim::Cpu& cpu, const LocalWork::Added& added);
    static bool run_task_list(sim::Cpu& cpu, TaskWork& work);
    void complete(sim::Cpu& cpu, Request& request);
    void free_request(sim::Cpu& cpu, Request& request, bool at_once);
    /// The request completed while it was submitted: its completion is due with the others', or at
    /// once in a design that completes singly.
    void done(sim::Cpu& cpu, Request& request) {
        if (completes_singly_) {
            complete_one(cpu, request, true);
        } else {
            completed_.push_back(&request);
        }
    }
    void defer(sim::Cpu& cpu, Request& request);
    void complete_one(sim::Cpu& cpu, Request& request, bool at_once);
    void put_references(sim::Cpu& cpu) const;

    Kernel& kernel_;
    std::string name_;
    RingParams params_;
    File file_;
    CompletionQueue cq_;
    std::vector<Sqe> sq_;
    std::uint32_t sq_tail_ = 0;
    std::uint32_t sq_head_ = 0;
    Object* task_node_ = nullptr;
    std::uint16_t owner_cpu_;
    bool completes_singly_;
    Allocation context_;
    Allocation sqes_;
    std::vector<IoAllocCache> other_caches_;
    std::unique_ptr<NodeCache> node_cache_;
    std::unique_ptr<RsrcLifetime> lifetime_;
    std::unique_ptr<FileTable> files_;
    std::unique_ptr<BufferTable> buffers_;
    std::unique_ptr<RequestAllocator> requests_;
    std::vector<Request*> completed_;
    std::deque<Request*> polls_;
    std::deque<Request*> reads_; ///< that wait for something to read
    std::uint64_t in_flight_ = 0;
    std::uint64_t ring_bytes_ = 0;
    sim::Lock uring_lock_;
    sim::Lock completion_lock_;

    struct Waiter {
        sim::Task* task;
        std::uint32_t wanted;
    };
    std::vector<Waiter> waiters_;
    sim::ChangeTime wait_changed_;
    sim::Line wait_line_; ///< cq_wait_nr and the wait queue's head
    std::uint32_t cq_wait_nr_ = nobody_waits;
    UringTask* submitter_ = nullptr;
    UringTask* creator_ = nullptr;
    LocalWork work_;
    bool taskrun_ = false;
    IoAllocCache* msg_cache_ = nullptr; ///< one of other_caches_
    sim::Lock msg_lock_;
    std::optional<MessageIssue> issue_; ///< the message that the submission is at
};

inline Sqe* Ring::prepare(sim::Cpu& cpu) {
    if (prepared() == params_.sq_entries) {
        return nullptr;
    }
    const sim::MechanismScope scope(cpu, id(Mechanism::user));
    cpu.charge(id(Primitive::sqe_prepare));
    const std::uint32_t index = sq_tail_++ & (params_.sq_entries - 1);
    cpu.touch(sqes_.line_at(std::uint64_t{index} * sqe_bytes));
    sq_[index] = Sqe{};
    return &sq_[index];
}

} // namespace uringsim::models
