#pragma once

#include "models/design.h"
#include "models/mm/kmalloc.h"
#include "models/uring/alloc_cache.h"
#include "models/uring/buffer_table.h"
#include "models/uring/completion_queue.h"
#include "models/uring/file.h"
#include "models/uring/file_table.h"
#include "models/uring/node_cache.h"
#include "models/uring/request.h"
#include "models/uring/request_policy.h"
#include "models/uring/rsrc_node.h"
#include "sim/sync.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
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

    /// 0, or -EINVAL: no SQ entries, too many of either, or after rounding fewer CQ than SQ entries.
    int check() const;
};

/// An io_uring instance: struct io_ring_ctx with its queues, tables and caches.
class Ring final : public RsrcOwner {
  public:
    Ring(sim::Cpu& cpu, Kernel& kernel, std::string name, const RingParams& params);
    ~Ring() override = default;

    const std::string& name() const { return name_; }
    std::uint32_t sq_entries() const { return params_.sq_entries; }
    bool disabled() const { return params_.disabled; }
    void enable() { params_.disabled = false; }

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
    sim::WaitQueue& cq_wait() { return cq_wait_; }

    /// User side: the next SQE, cleared, to be filled in (io_uring_get_sqe). nullptr when the SQ is
    /// full.
    Sqe* prepare(sim::Cpu& cpu);
    std::uint32_t prepared() const { return sq_tail_ - sq_head_; }

    /// How the submission of one SQE ended.
    enum class Submitted : std::uint8_t {
        one,        ///< and the next may follow
        last,       ///< its preparation failed: it completes with the error and ends the batch
        no_request, ///< no request could be allocated; the SQE stays where it is
    };

    /// io_submit_sqe, one request: allocates it, prepares and issues it, and queues its completion.
    Submitted submit_one(sim::Cpu& cpu);

    /// `target` is being closed: its file descriptor is a bad one for SQEs not submitted yet.
    void forget_target(const Ring& target);

    /// __io_submit_flush_completions: posts what the submission completed and frees the requests.
    void flush_completions(sim::Cpu& cpu);

    /// Posts a CQE and wakes whoever waits for it. False: lost.
    bool post(sim::Cpu& cpu, Cqe cqe);
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

    /// Requests submitted whose completion has been neither posted nor skipped.
    std::uint64_t in_flight() const { return in_flight_; }

    /// The task's own record of the ring (struct io_tctx_node), freed by that task after the exit.
    Object& task_node() { return *task_node_; }
    std::uint16_t owner_cpu() const { return owner_cpu_; }

    /// io_ring_ctx_free, less the files: overflow, caches, requests, queues.
    void release(sim::Cpu& cpu);

    /// Bytes of queues and pointer arrays.
    std::uint64_t ring_bytes() const { return ring_bytes_; }

  private:
    const Sqe& take_sqe(sim::Cpu& cpu);
    std::int32_t issue(sim::Cpu& cpu, Request& request);
    std::int32_t issue_files_update(sim::Cpu& cpu, const Request& request);
    bool start_poll(sim::Cpu& cpu, Request& request);
    void complete(sim::Cpu& cpu, Request& request);
    void free_request(sim::Cpu& cpu, Request& request, bool at_once);
    void done(sim::Cpu& cpu, Request& request);
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
    std::uint64_t in_flight_ = 0;
    std::uint64_t ring_bytes_ = 0;
    sim::Lock uring_lock_;
    sim::Lock completion_lock_;
    sim::WaitQueue cq_wait_;
};

} // namespace uringsim::models
