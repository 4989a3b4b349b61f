#pragma once

#include "models/mm/kmalloc.h"
#include "models/uring/alloc_cache.h"
#include "sim/cpu.h"

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace uringsim::models {

/// struct io_uring_cqe.
struct Cqe {
    std::uint64_t user_data = 0;
    std::int32_t res = 0;
    std::uint32_t flags = 0;
};

/// The CQ ring of a ring and its overflow list.
///
/// While anything is on the overflow list every new CQE joins it, so the order holds; the list is
/// flushed to the ring only by an enter with GETEVENTS.
/// Source: io_get_cqe_overflow, io_cqring_event_overflow, __io_cqring_overflow_flush,
/// io_uring/io_uring.c (6.12).
class CompletionQueue {
  public:
    CompletionQueue(Kmalloc& memory, bool wide) : memory_(memory), wide_(wide) {}
    ~CompletionQueue();
    CompletionQueue(const CompletionQueue&) = delete;
    CompletionQueue& operator=(const CompletionQueue&) = delete;

    /// Allocates a ring for `entries` completions, a power of two.
    void init(sim::Cpu& cpu, std::uint32_t entries);

    /// Posts a completion. False: it is lost, since no overflow entry could be allocated.
    bool post(sim::Cpu& cpu, Cqe cqe);

    /// Puts a completion on the overflow list, whether there is room in the ring or not, with memory
    /// that the caller got: how the v3 MSG_RING series hands messages over.
    void append_entry(sim::Cpu& cpu, const Cqe& cqe, Object& memory);

    /// The slab cache that overflow entries come from.
    KmemCache& entry_cache();

    /// Entries that are flushed go to this cache first. nullptr: none.
    void set_entry_cache(IoAllocCache* cache) { spare_entries_ = cache; }

    /// Moves overflowed completions to the ring as far as there is room.
    void flush_overflow(sim::Cpu& cpu);

    /// User side: the oldest completion, taken out.
    std::optional<Cqe> reap(sim::Cpu& cpu);

    /// Drops overflow entries and frees the ring.
    void release(sim::Cpu& cpu);

    /// Overflow entries after the next `after` ones cannot be allocated, `times` times.
    void inject_overflow_failure(std::uint64_t after, std::uint64_t times);

    std::uint32_t entries() const { return entries_; }
    std::uint32_t ready() const { return tail_ - head_; }
    std::uint32_t overflowed() const { return static_cast<std::uint32_t>(overflow_.size()); }
    bool overflow_pending() const { return !overflow_.empty(); }
    /// The cq_overflow field that user space reads: completions lost for good.
    std::uint32_t dropped() const { return dropped_; }
    /// A loss that no io_uring_enter has reported yet (IO_CHECK_CQ_DROPPED_BIT).
    bool loss_unreported() const { return loss_unreported_; }
    void loss_reported() { loss_unreported_ = false; }
    std::uint64_t bytes() const { return ring_.bytes; }

  private:
    struct OverflowEntry {
        boost::intrusive::list_member_hook<> hook;
        Cqe cqe;
        Object* memory = nullptr;
    };
    using OverflowList = boost::intrusive::list<
        OverflowEntry, boost::intrusive::member_hook<OverflowEntry, boost::intrusive::list_member_hook<>,
                                                     &OverflowEntry::hook>>;

    std::uint32_t cqe_bytes() const { return wide_ ? 32 : 16; }
    void store(sim::Cpu& cpu, Cqe cqe);
    bool add_overflow(sim::Cpu& cpu, Cqe cqe);
    void push_entry(const Cqe& cqe, Object& memory);
    void free_entry(sim::Cpu& cpu, Object& memory);

    Kmalloc& memory_;
    bool wide_;
    IoAllocCache* spare_entries_ = nullptr;
    sim::Line list_line_; ///< the head of the overflow list and the bits beside it
    std::uint32_t entries_ = 0;
    std::uint32_t head_ = 0;
    std::uint32_t tail_ = 0;
    std::uint32_t dropped_ = 0;
    bool loss_unreported_ = false;
    std::vector<Cqe> cqes_;
    Allocation ring_;
    OverflowList overflow_;
};

} // namespace uringsim::models
