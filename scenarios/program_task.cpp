#include "scenarios/program_task.h"

#include "models/errno_names.h"
#include "models/mechanisms.h"
#include "models/primitives.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

namespace uringsim::scenarios {

RunState::RunState(const Scenario& the_scenario, models::Kernel& the_kernel)
    : scenario(the_scenario)
    , kernel(the_kernel)
    , rings(the_scenario.rings.size(), nullptr)
    , next_user_data(the_scenario.rings.size(), 0)
    , next_message(the_scenario.rings.size(), 0)
    , cycles_by_round(the_scenario.phases.size())
    , messages(the_scenario.rings.size())
    , latencies(the_scenario.latencies.size())
    , counted(the_scenario.phases.size(), 0)
    , file(the_kernel.open_file()) {}

std::uint64_t RunState::operations(std::size_t phase) const {
    const PhaseSpec& spec = scenario.phases[phase];
    const std::size_t rounds = cycles_by_round[phase].size();
    return !spec.counted || rounds == 0 ? spec.operations : counted[phase] / rounds;
}

ProgramTask::ProgramTask(RunState& run, const TaskSpec& spec, sim::TaskId id, sim::Cpu& cpu)
    : Task(spec.name, id, cpu), run_(run), spec_(spec) {
    ++run_.tasks_alive;
    set_movable(!spec.pinned);
}

sim::Step ProgramTask::step(sim::Cpu& cpu) {
    if (pc_ == spec_.program.size()) {
        return finish(cpu);
    }
    if (self_ == nullptr) {
        self_ = run_.kernel.current(cpu);
    }
    if (self_->task.pending() && !self_->task.in_kernel) {
        return run_task_work(cpu);
    }
    interrupted_ = false;
    const op::Any& operation = spec_.program[pc_].op;
    return std::visit([&](const auto& op) { return run(op, cpu); }, operation);
}

/// TWA_SIGNAL reached the program in user mode, or woke it from a sleep.
sim::Step ProgramTask::run_task_work(sim::Cpu& cpu) {
    if (!interrupted_ && stage_ != Stage::sleeping) {
        cpu.charge(id(models::Primitive::signal_interrupt));
        interrupted_ = true;
    }
    self_->task.run_one(cpu);
    return sim::Step::ready();
}

const std::string& ProgramTask::where() const {
    return spec_.program.at(std::min(pc_, spec_.program.size() - 1)).where;
}

void ProgramTask::fail(const std::string& message) const {
    throw RunError(fmt::format("{}: task \"{}\": {}", where(), name(), message));
}

sim::Step ProgramTask::advance() {
    ++pc_;
    stage_ = Stage::idle;
    done_ = 0;
    return sim::Step::ready();
}

sim::Step ProgramTask::finish(sim::Cpu& cpu) {
    run_.kernel.task_exits(*this);
    // The last task to leave takes the process with it, and so whatever rings are still open.
    if (--run_.tasks_alive == 0) {
        for (models::Ring*& ring : run_.rings) {
            if (ring != nullptr) {
                run_.kernel.close_ring(cpu, *ring);
                ring = nullptr;
            }
        }
    }
    return sim::Step::done();
}

models::Ring& ProgramTask::ring(std::size_t index) const {
    models::Ring* ring = run_.rings[index];
    if (ring == nullptr) {
        fail(fmt::format("ring \"{}\" is not open", run_.scenario.rings[index].name));
    }
    return *ring;
}

void ProgramTask::check(sim::Cpu& cpu, std::int32_t result, const Expect& expect,
                        const char* what) const {
    if (!expect.accepts(result)) {
        fail(fmt::format("{} returned {}, expected {}", what, models::result_name(result),
                         expect.to_string()));
    }
    if (expect.kind == Expect::Kind::any && result < 0) {
        cpu.count(id(models::Counter::errors_counted));
    }
}

// --- Rings and registrations ---

sim::Step ProgramTask::run(const op::CreateRing& op, sim::Cpu& cpu) {
    const RingSpec& spec = run_.scenario.rings[op.ring];
    if (run_.rings[op.ring] != nullptr) {
        fail(fmt::format("ring \"{}\" is open already", spec.name));
    }
    const int result = spec.params.check();
    check(cpu, result, op.expect, "create_ring");
    if (result == 0) {
        run_.rings[op.ring] = &run_.kernel.create_ring(cpu, spec.name, spec.params);
    }
    return advance();
}

sim::Step ProgramTask::run(const op::EnableRing& op, sim::Cpu& /*cpu*/) {
    ring(op.ring).enable(self_);
    return advance();
}

sim::Step ProgramTask::run(const op::CloseRing& op, sim::Cpu& cpu) {
    run_.kernel.close_ring(cpu, ring(op.ring));
    run_.rings[op.ring] = nullptr;
    return advance();
}

sim::Step ProgramTask::run(const op::RegisterFiles& op, sim::Cpu& cpu) {
    models::Ring& target = ring(op.ring);
    const std::vector<models::File*> files(op.count, op.ring_file ? &target.file() : &run_.file);
    check(cpu, models::register_files(cpu, run_.kernel, target, files), op.expect,
          "register_files");
    return advance();
}

sim::Step ProgramTask::run(const op::RegisterFilesSparse& op, sim::Cpu& cpu) {
    const int result =
        models::register_files_sparse(cpu, run_.kernel, ring(op.ring), op.count, op.opt_in);
    check(cpu, result, op.expect, "register_files_sparse");
    return advance();
}

sim::Step ProgramTask::run(const op::RegisterFileAllocRange& op, sim::Cpu& cpu) {
    const int result = models::register_file_alloc_range(cpu, run_.kernel, ring(op.ring), op.offset,
                                                         op.length);
    check(cpu, result, op.expect, "register_file_alloc_range");
    return advance();
}

sim::Step ProgramTask::run(const op::UnregisterFiles& op, sim::Cpu& cpu) {
    return unregister(cpu, op.ring, models::UnregisterCall::Table::files, op.expect,
                      "unregister_files");
}

sim::Step ProgramTask::unregister(sim::Cpu& cpu, std::size_t index,
                                  models::UnregisterCall::Table table, const Expect& expect,
                                  const char* what) {
    if (stage_ == Stage::idle) {
        unregister_.begin(ring(index), table);
        stage_ = Stage::enter;
    }
    if (unregister_.step(cpu, run_.kernel, *this) == models::EnterCall::Progress::blocked) {
        return sim::Step::blocked();
    }
    check(cpu, unregister_.result(), expect, what);
    return advance();
}

sim::Step ProgramTask::run(const op::RegisterBuffers& op, sim::Cpu& cpu) {
    const std::vector<models::UserBuffer> buffers(op.count, op.buffer);
    check(cpu, models::register_buffers(cpu, run_.kernel, ring(op.ring), buffers), op.expect,
          "register_buffers");
    return advance();
}

sim::Step ProgramTask::run(const op::UpdateBuffers& op, sim::Cpu& cpu) {
    const std::vector<models::UserBuffer> buffers(op.count, op.buffer);
    const int result =
        models::register_buffers_update(cpu, run_.kernel, ring(op.ring), op.first, buffers);
    check(cpu, result, op.expect, "update_buffers");
    return advance();
}

sim::Step ProgramTask::run(const op::UnregisterBuffers& op, sim::Cpu& cpu) {
    return unregister(cpu, op.ring, models::UnregisterCall::Table::buffers, op.expect,
                      "unregister_buffers");
}

sim::Step ProgramTask::run(const op::CloneBuffers& op, sim::Cpu& cpu) {
    const int result =
        models::register_clone_buffers(cpu, run_.kernel, ring(op.ring), ring(op.from), op.range);
    check(cpu, result, op.expect, "clone_buffers");
    return advance();
}

sim::Step ProgramTask::run(const op::ReadFixed& op, sim::Cpu& cpu) {
    Batch batch = op.batch;
    batch.reap = batch.reap && !op.pending; // nothing comes before EndRead
    return run_batches(cpu, op.ring, std::nullopt, batch, op.expect,
                       [&](models::Sqe& sqe, std::uint32_t) {
                           sqe.opcode = models::Opcode::read_fixed;
                           sqe.buffer = op.buffer;
                           sqe.buffer_offset = op.offset;
                           sqe.len = op.bytes;
                           if (op.pending) {
                               sqe.completes = models::Completes::event;
                           }
                       });
}

sim::Step ProgramTask::run(const op::EndRead& op, sim::Cpu& cpu) {
    if (!ring(op.ring).end_read(cpu)) {
        fail(fmt::format("no READ_FIXED is pending on ring \"{}\"", ring(op.ring).name()));
    }
    return advance();
}

sim::Step ProgramTask::run(const op::SetRlimitMemlock& op, sim::Cpu& /*cpu*/) {
    constexpr std::uint64_t page_bytes = 4096;
    run_.kernel.pinned().limit_pages = op.bytes / page_bytes;
    return advance();
}

// --- Batches of requests ---

models::Sqe& ProgramTask::next_sqe(sim::Cpu& cpu, models::Ring& own) const {
    models::Sqe* sqe = own.prepare(cpu);
    if (sqe == nullptr) {
        fail(fmt::format("the SQ of ring \"{}\" holds {} entries and is full", own.name(),
                         own.sq_entries()));
    }
    return *sqe;
}

template <class FillIn>
sim::Step ProgramTask::run_batches(sim::Cpu& cpu, std::size_t index,
                                   std::optional<std::size_t> target, const Batch& batch,
                                   const Expect& expect, const FillIn& fill_in,
                                   std::uint32_t targets) {
    models::Ring& own = ring(index);
    switch (stage_) {
    case Stage::idle: {
        if (done_ == batch.count) {
            return advance();
        }
        in_batch_ = std::min(batch.size, batch.count - done_);
        first_user_data_ = run_.next_user_data[index];
        batch_began_ = cpu.now();
        batch_messages_.clear();
        for (std::uint32_t i = 0; i < in_batch_; ++i) {
            models::Sqe& sqe = next_sqe(cpu, own);
            fill_in(sqe, done_ + i);
            sqe.user_data = run_.next_user_data[index]++;
            if (target) {
                const std::size_t to = *target + turn_++ % targets;
                sqe.target = run_.rings[to];
                sqe.target_user_data = run_.next_message[to]++;
                if (run_.scenario.rings[to].received) {
                    follow_message(sqe, to, cpu);
                }
            }
        }
        if (!batch.submit) {
            return next_batch(batch);
        }
        enter_.begin(own, {in_batch_, batch.reap ? in_batch_ : 0, batch.reap});
        stage_ = Stage::enter;
        return sim::Step::ready();
    }
    case Stage::enter:
        return enter_stage(cpu, batch);
    case Stage::reap_source:
        return reap_own(cpu, own, expect, target.has_value());
    case Stage::reap_target:
        return reap_messages(cpu, ring(*target));
    case Stage::sleeping:
        break;
    }
    return sim::Step::ready();
}

sim::Step ProgramTask::enter_stage(sim::Cpu& cpu, const Batch& batch) {
    const auto progress = enter_.step(cpu, run_.kernel, *this);
    if (progress == models::EnterCall::Progress::blocked) {
        return sim::Step::blocked();
    }
    if (progress == models::EnterCall::Progress::more) {
        return sim::Step::ready();
    }
    if (enter_.result() != static_cast<std::int32_t>(in_batch_)) {
        fail(fmt::format("io_uring_enter returned {}, expected {}",
                         models::result_name(enter_.result()), in_batch_));
    }
    if (!batch.reap) {
        return next_batch(batch);
    }
    stage_ = Stage::reap_source;
    return sim::Step::ready();
}

sim::Step ProgramTask::reap_own(sim::Cpu& cpu, models::Ring& own, const Expect& expect,
                                bool messages) {
    messages_ = 0;
    const auto& program_op = spec_.program[pc_].op;
    const auto* send = std::get_if<op::SendFd>(&program_op);
    const bool silent = send != nullptr && send->cqe_skip;
    const bool updates = std::holds_alternative<op::UpdateFiles>(program_op) ||
                         std::holds_alternative<op::RemoveFiles>(program_op);
    for (std::uint32_t i = 0; i < in_batch_; ++i) {
        const auto cqe = own.cq().reap(cpu);
        if (!cqe) {
            fail(fmt::format("{} of {} completions arrived in ring \"{}\"", i, in_batch_,
                             own.name()));
        }
        check(cpu, cqe->res, expect, "a request");
        if (updates && expect.kind == Expect::Kind::success) {
            check_complete(cqe->res, spans_[done_ + i]);
        }
        if (!batch_messages_.empty()) {
            record_sent(cpu, *cqe);
        } else if (messages && cqe->res >= 0 && !silent) {
            ++messages_;
        }
        if (cqe->res >= 0 && !phases_.empty() && phases_.back().measured) {
            ++run_.counted[sim::index_of(phases_.back().id) - 1];
        }
    }
    if (messages_ > 0) {
        stage_ = Stage::reap_target;
        return sim::Step::ready();
    }
    done_ += in_batch_;
    stage_ = Stage::idle;
    return sim::Step::ready();
}

sim::Step ProgramTask::reap_messages(sim::Cpu& cpu, models::Ring& target) {
    for (std::uint32_t i = 0; i < messages_; ++i) {
        if (!target.cq().reap(cpu)) {
            fail(fmt::format("{} of {} messages are in the CQ of ring \"{}\" ({} on its overflow "
                             "list, which only an enter with GETEVENTS flushes)",
                             i, messages_, target.name(), target.cq().overflowed()));
        }
    }
    done_ += in_batch_;
    stage_ = Stage::idle;
    return sim::Step::ready();
}

sim::Step ProgramTask::next_batch(const Batch& /*batch*/) {
    done_ += in_batch_;
    stage_ = Stage::idle;
    return sim::Step::ready();
}

sim::Step ProgramTask::run(const op::Nop& op, sim::Cpu& cpu) {
    Batch batch = op.batch;
    batch.reap = batch.reap && !op.cqe_skip; // else it would wait for CQEs that never come
    return run_batches(cpu, op.ring, std::nullopt, batch, {},
                       [&](models::Sqe& sqe, std::uint32_t i) {
                           sqe.opcode = models::Opcode::nop;
                           sqe.cqe_skip = op.cqe_skip;
                           if ((i + 1) % op.later_every == 0) {
                               sqe.completes = op.completes;
                               sqe.delay_us = op.delay_us;
                           }
                       });
}

sim::Step ProgramTask::run(const op::SendFd& op, sim::Cpu& cpu) {
    return run_batches(cpu, op.ring, op.target, op.batch, op.expect, [&](models::Sqe& sqe, std::uint32_t i) {
        sqe.opcode = models::Opcode::msg_ring_send_fd;
        sqe.target_is_ring = op.target.has_value();
        sqe.file_slot = op.source_slot;
        sqe.file_index = op.slot == op::Slot::sequential ? op.file_index + i + 1 : op.file_index;
        sqe.len = op.len;
        sqe.flags = op.flags;
        sqe.target_cqe_skip = op.cqe_skip;
    });
}

sim::Step ProgramTask::run(const op::SendData& op, sim::Cpu& cpu) {
    return run_batches(cpu, op.ring, op.target, op.batch, op.expect, [&](models::Sqe& sqe, std::uint32_t) {
        sqe.opcode = models::Opcode::msg_ring_data;
        sqe.target_is_ring = op.target.has_value();
        sqe.len = op.len;
    }, op.targets);
}

// --- Messages from task to task ---

std::uint64_t MessageLog::send(sim::Cycles at, bool last) {
    entries_.push_back({at, last, true});
    ++open_;
    return first_ + entries_.size() - 1;
}

std::optional<MessageLog::Entry> MessageLog::take(std::uint64_t number) {
    if (number < first_ || number - first_ >= entries_.size() || !entries_[number - first_].open) {
        return std::nullopt;
    }
    const Entry entry = entries_[number - first_];
    entries_[number - first_].open = false;
    --open_;
    while (!entries_.empty() && !entries_.front().open) {
        entries_.pop_front();
        ++first_;
    }
    return entry;
}

std::uint64_t ProgramTask::clock_ns(sim::Cycles at) const {
    constexpr std::int64_t ns_of_us = 1000;
    const models::Machine& machine = run_.kernel.machine();
    const std::int64_t ns = at * ns_of_us / machine.mhz;
    return static_cast<std::uint64_t>(ns - ns % machine.timing.clock_tick_ns);
}

void ProgramTask::follow_message(models::Sqe& sqe, std::size_t target, sim::Cpu& /*cpu*/) {
    const auto* send = std::get_if<op::SendData>(&spec_.program[pc_].op);
    const bool last = send != nullptr && send->last;
    sqe.target_user_data = run_.messages[target].send(batch_began_, last);
    batch_messages_.push_back({target, sqe.target_user_data});
}

/// The sender has read the completion of a message that is followed.
void ProgramTask::record_sent(sim::Cpu& cpu, const models::Cqe& cqe) {
    const SentMessage& message = batch_messages_.at(cqe.user_data - first_user_data_);
    if (cqe.res < 0) {
        run_.messages[message.target].cancel(message.number);
        return;
    }
    last_latency_ = cpu.now() - batch_began_;
    const auto* send = std::get_if<op::SendData>(&spec_.program[pc_].op);
    if (send != nullptr && send->latency && !warming_up()) {
        run_.latencies[*send->latency].add(clock_ns(cpu.now()) - clock_ns(batch_began_));
    }
}

sim::Step ProgramTask::run(const op::Receive& op, sim::Cpu& cpu) {
    models::Ring& own = ring(op.ring);
    if (stage_ == Stage::enter) {
        const auto progress = enter_.step(cpu, run_.kernel, *this);
        if (progress == models::EnterCall::Progress::blocked) {
            return sim::Step::blocked();
        }
        if (progress == models::EnterCall::Progress::more) {
            return sim::Step::ready();
        }
        check(cpu, enter_.result(), {}, "io_uring_enter");
        stage_ = Stage::idle;
        return sim::Step::ready();
    }
    const bool enough = op.count ? done_ >= *op.count
                                 : last_seen_ && run_.messages[op.ring].open() == 0;
    if (enough) {
        last_seen_ = false;
        return advance();
    }
    if (own.cq().ready() > 0) {
        return read_message(op, own, cpu);
    }
    enter_.begin(own, {0, op.wait, true});
    stage_ = Stage::enter;
    return sim::Step::ready();
}

sim::Step ProgramTask::read_message(const op::Receive& op, models::Ring& own, sim::Cpu& cpu) {
    const auto cqe = own.cq().reap(cpu);
    const auto entry = run_.messages[op.ring].receive(cqe->user_data);
    if (!entry) {
        fail(fmt::format("message {} arrived in ring \"{}\" twice, or was never sent",
                         cqe->user_data, own.name()));
    }
    if (op.latency && !entry->last && !warming_up()) {
        run_.latencies[*op.latency].add(clock_ns(cpu.now()) - clock_ns(entry->sent));
    }
    last_seen_ = last_seen_ || entry->last;
    ++done_;
    return sim::Step::ready();
}

sim::Cycles ProgramTask::next_due(const op::Pace& op, sim::Cycles now) {
    const models::Machine& machine = run_.kernel.machine();
    const sim::Cycles delay = machine.cycles_of_us(static_cast<std::int64_t>(op.delay_us));
    if (due_ < 0 || op.rule == op::Pace::Rule::sleep) {
        return now + delay;
    }
    if (op.rule != op::Pace::Rule::credit) {
        return due_ + delay;
    }
    // loss x min(1.2, (L + g) / d)
    const sim::Cycles loss = machine.cycles_of_us(static_cast<std::int64_t>(op.loss_us));
    const sim::Cycles overhead = machine.cycles_of_us(6) / 100;
    const sim::Cycles most = loss * 12 / 10;
    return due_ + delay + std::min(most, loss * (last_latency_ + overhead) / delay);
}

sim::Step ProgramTask::run(const op::Pace& op, sim::Cpu& cpu) {
    if (stage_ == Stage::sleeping) {
        if (op.rule == op::Pace::Rule::spin && cpu.now() < until_) {
            const sim::Cycles slice = run_.kernel.machine().cycles_of_us(1);
            cpu.elapse(id(models::Primitive::user_pause), std::min(slice, until_ - cpu.now()));
            return sim::Step::ready();
        }
        return sleep_until(cpu, until_);
    }
    due_ = next_due(op, cpu.now());
    if (cpu.now() >= due_) {
        return advance(); // overdue: at once
    }
    if (op.rule == op::Pace::Rule::spin) {
        stage_ = Stage::sleeping;
        until_ = due_;
        return sim::Step::ready();
    }
    return sleep_until(cpu, run_.kernel.timer_fires(due_));
}

// --- Updates ---

sim::Step ProgramTask::run(const op::UpdateFiles& op, sim::Cpu& cpu) {
    if (stage_ == Stage::idle && done_ == 0) {
        spans_.clear();
        allocated_.clear();
        for (std::uint32_t at = 0; at < op.count; at += op.entries) {
            const std::uint32_t offset = op.alloc() ? op.offset : op.offset + at;
            spans_.push_back({offset, std::min(op.entries, op.count - at)});
        }
    }
    if (stage_ == Stage::idle && done_ == spans_.size()) {
        check_slots(op);
    }
    return run_spans(cpu, op.ring, op.via, op.batch, op.with, op.tag, op.expect);
}

void ProgramTask::check_slots(const op::UpdateFiles& op) const {
    std::uint32_t wanted = op.first_slot.value_or(0);
    for (const std::uint32_t slot : allocated_) {
        if (op.first_slot && slot != wanted++) {
            fail(fmt::format("the update picked slot {}, expected {}", slot, wanted - 1));
        }
    }
}

sim::Step ProgramTask::run(const op::RemoveFiles& op, sim::Cpu& cpu) {
    if (stage_ == Stage::idle && done_ == 0) {
        spans_ = installed_spans(ring(op.ring).files());
    }
    return run_spans(cpu, op.ring, op.via, 1, op::With::none, 0, op.expect);
}

sim::Step ProgramTask::run_spans(sim::Cpu& cpu, std::size_t index, op::Via via, std::uint32_t batch,
                                 op::With with, std::uint64_t tag, const Expect& expect) {
    models::Ring& own = ring(index);
    const auto count = static_cast<std::uint32_t>(spans_.size());
    if (via == op::Via::request) {
        return run_batches(cpu, index, std::nullopt, {count, batch, true, true}, expect,
                           [&](models::Sqe& sqe, std::uint32_t i) {
                               sqe.opcode = models::Opcode::files_update;
                               sqe.offset = spans_[i].offset;
                               sqe.updates = &entries_for(spans_[i], with, tag, own);
                               sqe.allocated = &allocated_;
                           });
    }
    if (done_ == count) {
        return advance();
    }
    const Span& span = spans_[done_++];
    const int result = models::register_files_update(cpu, run_.kernel, own, span.offset,
                                                     entries_for(span, with, tag, own));
    check(cpu, result, expect, "register_files_update");
    if (expect.kind == Expect::Kind::success) {
        check_complete(result, span);
    }
    return sim::Step::ready();
}

void ProgramTask::check_complete(std::int32_t result, const Span& span) const {
    if (result != static_cast<std::int32_t>(span.length)) {
        fail(fmt::format("the update did {} of {} slots", result, span.length));
    }
}

const std::vector<models::FileUpdate>& ProgramTask::entries_for(const Span& span, op::With with,
                                                                std::uint64_t tag,
                                                                models::Ring& own) {
    using Kind = models::FileUpdate::Kind;
    static constexpr std::array kinds{Kind::install, Kind::remove, Kind::skip, Kind::bad_fd,
                                      Kind::install};
    models::FileUpdate entry;
    entry.kind = kinds[static_cast<std::size_t>(with)];
    entry.file = with == op::With::ring_file ? &own.file() : &run_.file;
    entry.tag = tag;
    if (entries_.size() <= span.length) {
        entries_.resize(span.length + 1);
    }
    std::vector<models::FileUpdate>& entries = entries_[span.length];
    entries.assign(span.length, entry);
    return entries;
}

std::vector<ProgramTask::Span> ProgramTask::installed_spans(models::FileTable& files) const {
    std::vector<Span> spans;
    for (std::uint32_t slot = 0; slot < files.size(); ++slot) {
        if (!files.occupied(slot)) {
            continue;
        }
        if (!spans.empty() && spans.back().offset + spans.back().length == slot) {
            ++spans.back().length;
        } else {
            spans.push_back({slot, 1});
        }
    }
    return spans;
}

// --- Single steps ---

sim::Step ProgramTask::run(const op::Submit& op, sim::Cpu& cpu) {
    models::Ring& own = ring(op.ring);
    if (stage_ == Stage::idle) {
        enter_.begin(own, {own.prepared(), op.wait.value_or(0), op.wait.has_value()});
        stage_ = Stage::enter;
        return sim::Step::ready();
    }
    const auto progress = enter_.step(cpu, run_.kernel, *this);
    if (progress == models::EnterCall::Progress::blocked) {
        return sim::Step::blocked();
    }
    if (progress == models::EnterCall::Progress::more) {
        return sim::Step::ready();
    }
    check(cpu, enter_.result(), op.expect, "io_uring_enter");
    return advance();
}

sim::Step ProgramTask::run(const op::Reap& op, sim::Cpu& cpu) {
    models::Ring& own = ring(op.ring);
    const std::uint32_t wanted = op.count.value_or(own.cq().ready());
    for (std::uint32_t i = 0; i < wanted; ++i) {
        const auto cqe = own.cq().reap(cpu);
        if (!cqe) {
            fail(fmt::format("{} of {} completions are in the CQ of ring \"{}\"", i, wanted,
                             own.name()));
        }
        check(cpu, cqe->res, op.expect, "a completion");
        if (op.first_user_data && cqe->user_data != *op.first_user_data + i) {
            fail(fmt::format("completion {} carries user_data {}, expected {}", i, cqe->user_data,
                             *op.first_user_data + i));
        }
    }
    return advance();
}

sim::Step ProgramTask::run(const op::Poll& op, sim::Cpu& cpu) {
    models::Ring& own = ring(op.ring);
    if (stage_ == Stage::idle) {
        models::Sqe& sqe = next_sqe(cpu, own);
        sqe.opcode = models::Opcode::poll_add;
        sqe.file_slot = op.slot;
        sqe.user_data = run_.next_user_data[op.ring]++;
        enter_.begin(own, {own.prepared(), 0, false});
        stage_ = Stage::enter;
        return sim::Step::ready();
    }
    const auto progress = enter_.step(cpu, run_.kernel, *this);
    if (progress != models::EnterCall::Progress::done) {
        return sim::Step::ready();
    }
    if (op.expect.kind == Expect::Kind::value) {
        const auto cqe = own.cq().reap(cpu);
        check(cpu, cqe ? cqe->res : 0, op.expect, "poll");
    }
    return advance();
}

sim::Step ProgramTask::run(const op::EndPoll& op, sim::Cpu& cpu) {
    constexpr std::int32_t poll_in = 1;
    if (!ring(op.ring).end_poll(cpu, poll_in)) {
        fail(fmt::format("no poll is pending on ring \"{}\"", ring(op.ring).name()));
    }
    return advance();
}

sim::Step ProgramTask::run(const op::Sleep& op, sim::Cpu& cpu) {
    if (op.us == 0) {
        return advance();
    }
    if (stage_ == Stage::sleeping) {
        return sleep_until(cpu, until_);
    }
    const sim::Cycles length =
        run_.kernel.machine().cycles_of_us(static_cast<std::int64_t>(op.us));
    return sleep_until(cpu, run_.kernel.timer_fires(cpu.now() + length));
}

/// nanosleep: a task that is woken early runs its task_work and sleeps on.
sim::Step ProgramTask::sleep_until(sim::Cpu& cpu, sim::Cycles until) {
    if (cpu.now() < until) {
        stage_ = Stage::sleeping;
        until_ = until;
        return sim::Step::sleep_until(until);
    }
    advance();
    return step(cpu);
}

sim::Step ProgramTask::run(const op::SetRlimitNofile& op, sim::Cpu& /*cpu*/) {
    run_.kernel.rlimit_nofile = op.limit;
    return advance();
}

sim::Step ProgramTask::run(const op::FailAlloc& op, sim::Cpu& /*cpu*/) {
    switch (op.what) {
    case op::FailWhat::rsrc_node:
        run_.kernel.node_slab().inject_failure(op.after, op.times);
        break;
    case op::FailWhat::overflow_entry:
        ring(op.ring).cq().inject_overflow_failure(op.after, op.times);
        break;
    case op::FailWhat::request:
        run_.kernel.request_slab().inject_failure(op.after, op.times);
        break;
    }
    return advance();
}

namespace {

/// Requests that the per-CPU caches have ready.
std::uint64_t available_requests(models::Kernel& kernel) {
    std::uint64_t sum = 0;
    for (std::uint16_t cpu = 0; cpu < kernel.engine().cpus(); ++cpu) {
        for (const bool interrupt : {false, true}) {
            sum += kernel.per_cpu_requests().held(cpu, interrupt).available;
        }
    }
    return sum;
}

std::uint64_t measure(models::Kernel& kernel, models::Ring* ring, op::Quantity quantity) {
    switch (quantity) {
    case op::Quantity::cq_ready:
        return ring->cq().ready();
    case op::Quantity::cq_overflowed:
        return ring->cq().overflowed();
    case op::Quantity::cq_dropped:
        return ring->cq().dropped();
    case op::Quantity::files_installed:
        return ring->files().installed();
    case op::Quantity::files_held:
        return ring->lifetime().files_held();
    case op::Quantity::nodes_cached:
        return ring->node_cache().cached();
    case op::Quantity::node_capacity:
        return ring->node_cache().capacity();
    case op::Quantity::rings_alive:
        return kernel.rings_alive();
    case op::Quantity::buffers_installed:
        return ring->buffers().installed();
    case op::Quantity::pins:
        return kernel.pinned().pins();
    case op::Quantity::pages_accounted:
        return kernel.pinned().accounted_pages();
    case op::Quantity::requests_cached:
        return kernel.per_cpu_requests().cached();
    case op::Quantity::requests_available:
        return available_requests(kernel);
    case op::Quantity::local_work:
        return ring->work().size();
    case op::Quantity::taskrun:
        return ring->taskrun() ? 1 : 0;
    }
    return 0;
}

} // namespace

sim::Step ProgramTask::run(const op::Shrink& op, sim::Cpu& cpu) {
    check(cpu, static_cast<std::int32_t>(run_.kernel.shrink(cpu, op.objects)), op.expect, "shrink");
    return advance();
}

sim::Step ProgramTask::run(const op::CpuHotplug& op, sim::Cpu& cpu) {
    if (op.online) {
        check(cpu, run_.kernel.bring_cpu_online(op.cpu), op.expect, "cpu_online");
    } else {
        const bool busy = std::ranges::any_of(
            run_.scenario.tasks, [&](const TaskSpec& task) { return task.cpu == op.cpu; });
        check(cpu, busy ? -EBUSY : run_.kernel.take_cpu_offline(cpu, op.cpu), op.expect,
              "cpu_offline");
    }
    return advance();
}

sim::Step ProgramTask::run(const op::SlabCycle& op, sim::Cpu& cpu) {
    models::KmemCache& cache = run_.kernel.shared_cache(cpu, op.bytes, op.account);
    const sim::MechanismScope scope(cpu, id(models::Mechanism::user));
    cpu.charge(id(models::Primitive::slab_bench_round));
    objects_.resize(op.count);
    if (op.bulk_alloc) {
        cache.alloc_bulk(cpu, objects_);
    } else {
        for (models::Object*& object : objects_) {
            object = cache.alloc(cpu);
        }
    }
    if (op.bulk_free) {
        cache.free_bulk(cpu, objects_);
    } else {
        for (models::Object* object : objects_) {
            cache.free(cpu, *object);
        }
    }
    return advance();
}

sim::Step ProgramTask::run(const op::Assert& op, sim::Cpu& /*cpu*/) {
    const bool of_ring = !op::is_global(op.quantity);
    const std::uint64_t value =
        measure(run_.kernel, of_ring ? &ring(op.ring) : nullptr, op.quantity);
    if (value != op.equals) {
        fail(fmt::format("assertion: the quantity is {}, expected {}", value, op.equals));
    }
    return advance();
}

sim::Step ProgramTask::run(const op::Snapshot& op, sim::Cpu& /*cpu*/) {
    const models::NodeCache& cache = ring(op.ring).node_cache();
    run_.snapshots.push_back({op.name, run_.scenario.rings[op.ring].name, cache.cached(),
                              cache.capacity()});
    return advance();
}

// --- Control ---

bool ProgramTask::warming_up() const {
    return std::ranges::any_of(
        loops_, [](const LoopFrame& frame) { return frame.iteration < frame.warmup; });
}

sim::Step ProgramTask::run(const op::RepeatBegin& op, sim::Cpu& /*cpu*/) {
    if (op.times + op.warmup == 0) {
        pc_ = op.end;
    } else {
        loops_.push_back({0, op.warmup});
    }
    return advance();
}

sim::Step ProgramTask::run(const op::RepeatEnd& op, sim::Cpu& /*cpu*/) {
    const auto& begin = std::get<op::RepeatBegin>(spec_.program[op.begin].op);
    if (++loops_.back().iteration < begin.times + begin.warmup) {
        pc_ = op.begin;
    } else {
        loops_.pop_back();
    }
    return advance();
}

sim::Step ProgramTask::run(const op::LoopBegin& op, sim::Cpu& cpu) {
    // The deadline is kept in a frame of its own, made when the loop is entered.
    const sim::Cycles length = run_.kernel.machine().cycles_of_us(static_cast<std::int64_t>(op.us));
    if (op.us == 0) {
        pc_ = op.end;
    } else {
        loops_.push_back({0, 0, cpu.now() + length});
    }
    return advance();
}

sim::Step ProgramTask::run(const op::LoopEnd& op, sim::Cpu& cpu) {
    if (cpu.now() < loops_.back().ends) {
        pc_ = op.begin;
    } else {
        loops_.pop_back();
    }
    return advance();
}

sim::Step ProgramTask::run(const op::PhaseBegin& op, sim::Cpu& cpu) {
    const bool measured = !warming_up();
    phases_.push_back({op.phase, cpu.now(), measured});
    if (measured) {
        cpu.set_phase(op.phase);
    }
    return advance();
}

sim::Step ProgramTask::run(const op::PhaseEnd& /*op*/, sim::Cpu& cpu) {
    const ActivePhase phase = phases_.back();
    phases_.pop_back();
    if (phase.measured) {
        run_.cycles_by_round[sim::index_of(phase.id) - 1].push_back(cpu.now() - phase.started);
        cpu.set_phase(phases_.empty() ? sim::PhaseId::outside : phases_.back().id);
    }
    return advance();
}

} // namespace uringsim::scenarios
