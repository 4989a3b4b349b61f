#include "models/uring/ring.h"

#include "models/counters.h"
#include "models/kernel.h"
#include "models/mechanisms.h"
#include "models/primitives.h"
#include "models/uring/msg_ring.h"

#include <array>
#include <bit>
#include <cerrno>

namespace uringsim::models {

namespace {

constexpr std::uint32_t context_bytes = 1472; // struct io_ring_ctx by the BTF of 6.18
constexpr std::uint32_t task_node_bytes = 32; // struct io_tctx_node: the rsrc nodes' own size class
// apoll, netmsg, rw, uring_cmd, futex, imu: allocated at set-up, idle in the modelled workloads.
constexpr std::array<std::uint32_t, 6> other_cache_entries{32, 128, 128, 128, 32, 128};

} // namespace

int RingParams::check() const {
    if (sq_entries == 0 || sq_entries > max_sq_entries || cq_entries > max_cq_entries) {
        return -EINVAL;
    }
    const bool too_few = cq_entries != 0 && std::bit_ceil(cq_entries) < std::bit_ceil(sq_entries);
    return too_few ? -EINVAL : 0;
}

Ring::Ring(sim::Cpu& cpu, Kernel& kernel, std::string name, const RingParams& params)
    : kernel_(kernel)
    , name_(std::move(name))
    , params_(params)
    , cq_(kernel.memory(), params.cqe32)
    , owner_cpu_(cpu.id())
    , completes_singly_(kernel.design().request_completion == RequestCompletion::single)
    , creator_(kernel.current(cpu))
    , work_(kernel.design()) {
    const sim::MechanismScope scope(cpu, id(Mechanism::ring_setup));
    cpu.charge(id(Primitive::ring_setup));
    file_.is_ring = true;
    if (params.single_issuer && !params.disabled) {
        submitter_ = creator_;
    }
    params_.sq_entries = std::bit_ceil(params_.sq_entries);
    params_.cq_entries =
        params_.cq_entries == 0 ? 2 * params_.sq_entries : std::bit_ceil(params_.cq_entries);
    sq_.resize(params_.sq_entries);
    context_ = kernel.memory().alloc(cpu, context_bytes, {.zero = true});
    task_node_ = &kernel.memory().cache(task_node_bytes, false).alloc_nofail(cpu);
    other_caches_.reserve(other_cache_entries.size()); // msg_cache_ points at one of them
    for (const std::uint32_t entries : other_cache_entries) {
        other_caches_.emplace_back(kernel.memory()).init(cpu, entries);
        ring_bytes_ += other_caches_.back().array_bytes();
    }
    if (kernel.design().msg_cache != MsgCache::none) {
        // Ring set-up allocates this array where it allocates imu's from 6.15 on: 128 entries as well.
        msg_cache_ = &other_caches_.back();
        if (kernel.design().msg_data == MsgData::overflow) {
            cq_.set_entry_cache(msg_cache_);
        }
    }
    node_cache_ = make_node_cache(cpu, kernel.node_cache_context());
    lifetime_ = make_rsrc_lifetime(kernel.design(), *this);
    files_ = std::make_unique<FileTable>(kernel.design(), kernel.memory(), *lifetime_);
    buffers_ = std::make_unique<BufferTable>(kernel.design(), kernel.memory(), *lifetime_,
                                             kernel.pinned(), other_caches_.back()); // imu
    requests_ = make_request_allocator(kernel.request_context());
    cq_.init(cpu, params_.cq_entries);
    sqes_ = kernel.memory().alloc(cpu, std::uint64_t{params_.sq_entries} * sqe_bytes,
                                  {.account = true, .zero = true});
    ring_bytes_ += cq_.bytes() + sqes_.bytes;
    cpu.count(id(Counter::rings_created));
}

inline const Sqe& Ring::take_sqe(sim::Cpu& cpu) {
    const std::uint32_t index = sq_head_++ & (params_.sq_entries - 1);
    cpu.touch(sqes_.line_at(std::uint64_t{index} * sqe_bytes));
    return sq_[index];
}

void Ring::forget_target(const Ring& target) {
    for (std::uint32_t at = sq_head_; at != sq_tail_; ++at) {
        Sqe& sqe = sq_[at & (params_.sq_entries - 1)];
        if (sqe.target == &target) {
            sqe.target = nullptr;
        }
    }
}

SubmitProgress Ring::submit(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::request));
    if (issue_) {
        return continue_message(cpu);
    }
    const Sqe& next = sq_[sq_head_ & (params_.sq_entries - 1)];
    Request* request = requests_->alloc(cpu, request_use(next));
    if (request == nullptr) {
        return SubmitProgress::no_request;
    }
    start_request(cpu, *request);
    if (request->res < 0) {
        done(cpu, *request);
        return SubmitProgress::last;
    }
    const Opcode opcode = request->sqe.opcode;
    if (opcode == Opcode::poll_add && start_poll(cpu, *request)) {
        return SubmitProgress::submitted;
    }
    if (opcode == Opcode::msg_ring_data || opcode == Opcode::msg_ring_send_fd) {
        MessageIssue& message = issue_.emplace();
        message.source = this;
        message.target = request->sqe.target;
        message.request = request;
        if (const std::int32_t error = begin_message(cpu, message); error < 0) {
            request->res = error;
            issue_.reset();
        } else {
            return cpu.may_continue() ? continue_message(cpu) : SubmitProgress::more;
        }
    } else if (opcode != Opcode::poll_add) {
        request->res = issue(cpu, *request);
    }
    if (request->sqe.completes != Completes::at_once && request->res >= 0) {
        defer(cpu, *request);
    } else {
        done(cpu, *request);
    }
    return SubmitProgress::submitted;
}

inline void Ring::start_request(sim::Cpu& cpu, Request& request) {
    cpu.charge(id(Primitive::sqe_submit));
    cpu.count(id(Counter::sqe_submitted));
    request.sqe = take_sqe(cpu);
    request.node = nullptr;
    request.ring = this;
    ++in_flight_;
    kernel_.note_requests(in_flight_);
    kernel_.other_users(cpu);
    request.res = prepare_request(cpu, request);
}

/// What the opcode's prep function finds wrong with an SQE. Source: io_msg_ring_prep,
/// io_prep_rw_fixed (6.1, 6.12, 6.13).
std::int32_t Ring::prepare_request(sim::Cpu& cpu, Request& request) {
    switch (request.sqe.opcode) {
    case Opcode::msg_ring_data:
    case Opcode::msg_ring_send_fd:
        return request.sqe.flags != 0 ? -EINVAL : 0;
    case Opcode::read_fixed:
        return kernel_.design().buffer_import_at_issue ? 0 : import_buffer(cpu, request);
    case Opcode::nop:
    case Opcode::files_update:
    case Opcode::poll_add:
        break;
    }
    return 0;
}

SubmitProgress Ring::continue_message(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::msg_ring));
    using Kind = MessageProgress::Kind;
    const MessagePolicy& policy = message_policy(
        kernel_.design(), *issue_->target, issue_->request->sqe.opcode, cpu.current());
    MessageProgress progress;
    do {
        progress = policy.step(cpu, *issue_);
    } while (progress.kind == Kind::more && cpu.may_continue());
    if (progress.kind == Kind::more) {
        return SubmitProgress::more;
    }
    Request* request = issue_->request;
    if (progress.kind == Kind::again) {
        kernel_.punt(cpu, *issue_);
    } else if (progress.kind == Kind::complete) {
        request->res = progress.result;
        done(cpu, *request);
    }
    if (progress.kind != Kind::complete || progress.result >= 0) {
        cpu.count(id(Counter::msg_sent));
    }
    issue_.reset();
    return SubmitProgress::submitted;
}

std::int32_t Ring::issue(sim::Cpu& cpu, Request& request) {
    switch (request.sqe.opcode) {
    case Opcode::nop:
        cpu.charge(id(Primitive::nop_issue));
        return 0;
    case Opcode::msg_ring_data:
    case Opcode::msg_ring_send_fd:
        break; // in stages
    case Opcode::files_update:
        return issue_files_update(cpu, request);
    case Opcode::read_fixed:
        return issue_read(cpu, request);
    case Opcode::poll_add:
        break;
    }
    return -EINVAL;
}

std::int32_t Ring::issue_files_update(sim::Cpu& cpu, const Request& request) {
    const Sqe& sqe = request.sqe;
    if (sqe.offset == file_index_alloc) {
        return files_->update_alloc(cpu, *sqe.updates, sqe.allocated);
    }
    return files_->update(cpu, sqe.offset, *sqe.updates);
}

// --- Requests that stay in flight ---

/// io_import_reg_buf, io_import_fixed: from here to its end the request holds the buffer.
std::int32_t Ring::import_buffer(sim::Cpu& cpu, Request& request) {
    const Sqe& sqe = request.sqe;
    return buffers_->use(cpu, sqe.buffer, sqe.buffer_offset, sqe.len, request.node);
}

std::int32_t Ring::issue_read(sim::Cpu& cpu, Request& request) {
    cpu.charge(id(Primitive::read_issue));
    if (request.node == nullptr) {
        if (const std::int32_t error = import_buffer(cpu, request); error < 0) {
            return error;
        }
    }
    return static_cast<std::int32_t>(request.sqe.len);
}

bool Ring::start_poll(sim::Cpu& cpu, Request& request) {
    cpu.charge(id(Primitive::poll_issue));
    if (files_->use(cpu, request.sqe.file_slot, request.node) == nullptr) {
        request.res = -EBADF;
        return false;
    }
    polls_.push_back(&request);
    return true;
}

bool Ring::end_poll(sim::Cpu& cpu, std::int32_t res) {
    if (polls_.empty()) {
        return false;
    }
    Request& request = *polls_.front();
    polls_.pop_front();
    request.res = res;
    end_pending(cpu, request);
    return true;
}

bool Ring::end_read(sim::Cpu& cpu, std::int32_t error) {
    if (reads_.empty()) {
        return false;
    }
    Request& request = *reads_.front();
    reads_.pop_front();
    request.res = error < 0 ? error : request.res;
    end_pending(cpu, request);
    return true;
}

void Ring::end_pending(sim::Cpu& cpu, Request& request) {
    if (params_.defer_taskrun) {
        add_local_work(cpu, {.request = &request}, true); // lazy: polls from 6.8 on, reads from 6.4
        return;
    }
    {
        const sim::LockGuard guard(completion_lock_, cpu);
        complete(cpu, request);
    }
    free_request(cpu, request, false);
    wake_cq(cpu);
}

void Ring::flush_completions(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::completion));
    for (Request* request : completed_) {
        complete(cpu, *request);
    }
    // Only when all CQEs are out (io_free_batch_list): the tag of a resource that a request held
    // comes after the CQEs of the whole batch.
    for (Request* request : completed_) {
        free_request(cpu, *request, true);
    }
    const bool any = !completed_.empty();
    completed_.clear();
    if (any) {
        wake_cq(cpu);
    }
}

inline void Ring::complete(sim::Cpu& cpu, Request& request) {
    if (completes_singly_) {
        cpu.charge(id(Primitive::request_complete_single));
    } else {
        cpu.charge(id(Primitive::request_complete));
    }
    cpu.touch(request.lines);
    const bool skip = request.sqe.cqe_skip && request.res >= 0;
    if (!skip) {
        post(cpu, Cqe{request.sqe.user_data, request.res, 0});
    }
}

inline void Ring::free_request(sim::Cpu& cpu, Request& request, bool at_once) {
    if (request.node != nullptr) {
        lifetime_->put(cpu, *request.node);
    }
    --in_flight_;
    put_references(cpu);
    requests_->free(cpu, request, at_once);
}

void Ring::complete_one(sim::Cpu& cpu, Request& request, bool at_once) {
    const sim::MechanismScope scope(cpu, id(Mechanism::completion));
    {
        const sim::LockGuard guard(completion_lock_, cpu);
        complete(cpu, request);
    }
    free_request(cpu, request, at_once);
    wake_cq(cpu);
}

void Ring::post_tag(sim::Cpu& cpu, std::uint64_t tag) {
    const sim::LockGuard guard(completion_lock_, cpu); // io_post_aux_cqe
    post(cpu, Cqe{tag, 0, 0});
    wake_cq(cpu);
}

void Ring::release(sim::Cpu& cpu) {
    for (const LocalWorkItem& item : work_.take_all()) {
        if (item.memory != nullptr) {
            kfree(cpu, *item.memory); // nobody is left to read the message
        }
    }
    cq_.release(cpu);
    buffers_->drain_cache(cpu);
    while (msg_cache_ != nullptr && msg_cache_->cached() > 0) {
        kfree(cpu, *msg_cache_->get(cpu));
    }
    for (IoAllocCache& cache : other_caches_) {
        cache.release(cpu);
    }
    requests_->drain(cpu);
    kernel_.memory().free(cpu, sqes_);
    kernel_.memory().free(cpu, context_);
}

} // namespace uringsim::models
