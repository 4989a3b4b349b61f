#include "models/uring/completion_queue.h"

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"

namespace uringsim::models {

namespace {

constexpr std::uint32_t ring_header_bytes = 320; // struct io_rings
constexpr std::uint32_t overflow_entry_bytes = 32;
constexpr std::uint32_t wide_overflow_entry_bytes = 48;

} // namespace

CompletionQueue::~CompletionQueue() {
    overflow_.clear_and_dispose([](OverflowEntry* entry) { delete entry; });
}

void CompletionQueue::init(sim::Cpu& cpu, std::uint32_t entries) {
    entries_ = entries;
    cqes_.resize(entries);
    ring_ = memory_.alloc(cpu, ring_header_bytes + std::uint64_t{entries} * cqe_bytes(),
                          {.account = true, .zero = true});
}

bool CompletionQueue::post(sim::Cpu& cpu, Cqe cqe) {
    const sim::MechanismScope scope(cpu, id(Mechanism::completion));
    if (overflow_.empty() && ready() < entries_) {
        cpu.charge(id(Primitive::cqe_post));
        store(cpu, cqe);
    } else if (!add_overflow(cpu, cqe)) {
        ++dropped_;
        loss_unreported_ = true;
        cpu.count(id(Counter::cqe_dropped));
        return false;
    }
    cpu.count(id(Counter::cqe_posted));
    return true;
}

void CompletionQueue::store(sim::Cpu& cpu, Cqe cqe) {
    const std::uint32_t index = tail_++ & (entries_ - 1);
    cqes_[index] = cqe;
    cpu.touch(ring_.line_at(ring_header_bytes + std::uint64_t{index} * cqe_bytes()));
}

bool CompletionQueue::add_overflow(sim::Cpu& cpu, Cqe cqe) {
    const sim::MechanismScope scope(cpu, id(Mechanism::overflow));
    cpu.charge(id(Primitive::cqe_overflow));
    Object* memory = entry_cache().alloc(cpu);
    if (memory == nullptr) {
        return false;
    }
    push_entry(cqe, *memory);
    cpu.count(id(Counter::cqe_overflowed));
    return true;
}

void CompletionQueue::push_entry(const Cqe& cqe, Object& memory) {
    auto* entry = new OverflowEntry;
    entry->cqe = cqe;
    entry->memory = &memory;
    overflow_.push_back(*entry);
}

KmemCache& CompletionQueue::entry_cache() {
    return memory_.cache(wide_ ? wide_overflow_entry_bytes : overflow_entry_bytes, true);
}

void CompletionQueue::append_entry(sim::Cpu& cpu, const Cqe& cqe, Object& memory) {
    const sim::MechanismScope scope(cpu, id(Mechanism::overflow));
    cpu.charge(id(Primitive::msg_overflow_add));
    cpu.touch(list_line_);
    cpu.touch(memory.line());
    push_entry(cqe, memory);
    cpu.count(id(Counter::cqe_posted));
}

void CompletionQueue::free_entry(sim::Cpu& cpu, Object& memory) {
    if (spare_entries_ == nullptr || !spare_entries_->put(cpu, memory)) {
        kfree(cpu, memory);
    }
}

void CompletionQueue::flush_overflow(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::overflow));
    if (!overflow_.empty()) {
        cpu.touch(list_line_);
    }
    while (!overflow_.empty() && ready() < entries_) {
        OverflowEntry& entry = overflow_.front();
        overflow_.pop_front();
        cpu.charge(id(Primitive::cqe_overflow_flush));
        store(cpu, entry.cqe);
        cpu.touch(entry.memory->line());
        free_entry(cpu, *entry.memory);
        delete &entry;
        cpu.count(id(Counter::cqe_flushed));
    }
}

std::optional<Cqe> CompletionQueue::reap(sim::Cpu& cpu) {
    if (ready() == 0) {
        return std::nullopt;
    }
    const sim::MechanismScope scope(cpu, id(Mechanism::user));
    const std::uint32_t index = head_++ & (entries_ - 1);
    cpu.charge(id(Primitive::cqe_reap));
    cpu.touch(ring_.line_at(ring_header_bytes + std::uint64_t{index} * cqe_bytes()));
    cpu.count(id(Counter::cqe_reaped));
    return cqes_[index];
}

void CompletionQueue::release(sim::Cpu& cpu) {
    while (!overflow_.empty()) {
        OverflowEntry& entry = overflow_.front();
        overflow_.pop_front();
        kfree(cpu, *entry.memory);
        delete &entry;
    }
    memory_.free(cpu, ring_);
}

void CompletionQueue::inject_overflow_failure(std::uint64_t after, std::uint64_t times) {
    entry_cache().inject_failure(after, times);
}

} // namespace uringsim::models
