#pragma once

#include "sim/cycles.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace uringsim::sim {

/// The time of an event that never comes: next_time() of an empty queue. Nothing can be scheduled
/// at it.
inline constexpr Cycles never = std::numeric_limits<Cycles>::max();

/// Something that happens at a point in time. An event belongs to its user (usually it is a member
/// of a model object), not to the queue. It is in at most one queue, once, and can be scheduled
/// again as soon as it has been popped, also from within its own fire().
///
/// An event must be popped, cancelled or cleared before it is destroyed; debug builds check it.
class Event {
  public:
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    virtual ~Event() { assert(!pending()); }

    /// What happens. The engine calls it when the time has come; the event is then not pending.
    virtual void fire(Cycles now) = 0;

    bool pending() const noexcept { return position_ != idle; }

  private:
    friend class EventQueue;
    static constexpr std::uint32_t idle = ~std::uint32_t{0};

    std::uint32_t position_ = idle; // a leaf of EventQueue::tree_, or EventQueue::in_front
};

/// The event calendar: pending events in the total order (time, priority, sequence). Earlier time
/// first, then lower priority value, then first scheduled first. The order depends on nothing else,
/// so it is the same with every compiler. The queue knows no current time: it takes times before
/// the last one popped; to forbid them is the engine's part.
///
/// Two levels hold the entries. A **winner tree** holds any number: a complete binary tree in an
/// array, whose leaves are entries and whose inner nodes are copies of the earlier child. An entry
/// never leaves its leaf, so an event can be cancelled exactly, and no other event is written to.
/// Before it stands a **front row**, a short sorted array of entries that are all earlier than the
/// tree: the stages of a few running CPUs live there and do not touch the tree of sleeping timers.
/// docs/event-queue.md has the measurements behind the choice.
///
/// next_time is a load; schedule, pop and cancel are O(log n) at worst.
class EventQueue {
  public:
    EventQueue() { rebuild(fewest_leaves); }
    EventQueue(const EventQueue&) = delete;
    EventQueue& operator=(const EventQueue&) = delete;
    ~EventQueue() { clear(); }

    /// Time of the event that pop() would return, or `never`.
    Cycles next_time() const noexcept { return next_time_; }
    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }

    /// Makes `event` pending at time `at`. Throws std::logic_error if it is pending already, or if
    /// `at` is negative or `never`.
    void schedule(Event& event, Cycles at, std::uint8_t priority = 0) {
        if (event.pending()) {
            throw std::logic_error("event scheduled while it is pending");
        }
        if (at < 0 || at == never) {
            throw std::logic_error("event scheduled at an impossible time");
        }
        Entry entry{at, std::uint64_t{priority} << sequence_bits | next_sequence_++, &event};
        if (precedes(entry, tree_[root])) {
            entry = enter_front(entry);
        }
        if (entry.event != nullptr) {
            enter_tree(entry);
        }
        ++size_;
        next_time_ = std::min(next_time_, at);
    }

    /// Removes the earliest event and returns it. Its time is what next_time() said before. The
    /// queue must not be empty.
    Event& pop() {
        assert(!empty());
        Event& event = *(in_row_ > 0 ? row_[in_row_ - 1].event : tree_[root].event);
        if (in_row_ > 0) {
            --in_row_;
        } else {
            leave_tree(event);
        }
        removed(event);
        return event;
    }

    /// Takes a pending event out of the queue, wherever it stands. Throws std::logic_error if it is
    /// not pending.
    void cancel(Event& event) {
        if (!event.pending()) {
            throw std::logic_error("event cancelled while it is not pending");
        }
        if (event.position_ == in_front) {
            leave_front(event);
        } else {
            leave_tree(event);
        }
        removed(event);
    }

    /// Cancels everything; the events that are pending must still exist. For the end of a run, or
    /// before an exception destroys the model objects.
    void clear() noexcept {
        for (std::size_t i = 0; i < in_row_; ++i) {
            row_[i].event->position_ = Event::idle;
        }
        for (std::size_t i = leaves_; i < tree_.size(); ++i) {
            if (tree_[i].event != nullptr) {
                tree_[i].event->position_ = Event::idle;
            }
        }
        in_row_ = 0;
        size_ = 0;
        next_time_ = never;
        vacate_tree();
    }

  private:
    __extension__ using Wide = unsigned __int128; // the extension: gcc and clang, 64-bit targets

    struct Entry {
        Cycles time;
        std::uint64_t order; // the priority above the sequence
        Event* event;

        Wide key() const noexcept { return Wide{static_cast<std::uint64_t>(time)} << 64 | order; }
    };

    static constexpr int sequence_bits = 56;
    static constexpr Entry vacant{never, ~std::uint64_t{0}, nullptr}; // later than any event
    static constexpr std::uint32_t in_front = 0;
    static constexpr std::uint32_t root = 1; // children of node n: 2n and 2n + 1
    static constexpr std::uint32_t fewest_leaves = 8;

    static bool precedes(const Entry& a, const Entry& b) noexcept { return a.key() < b.key(); }

    /// The earlier of two entries. Masks, because compilers make a branch of the obvious
    /// conditional, and nothing can predict which way it goes: that triples the cost of pop().
    static Entry earlier(const Entry& a, const Entry& b) noexcept {
        const std::uint64_t mask = -std::uint64_t{precedes(b, a)};
        const auto select = [mask](std::uint64_t x, std::uint64_t y) {
            return x ^ ((x ^ y) & mask);
        };
        return {static_cast<Cycles>(
                    select(static_cast<std::uint64_t>(a.time), static_cast<std::uint64_t>(b.time))),
                select(a.order, b.order),
                reinterpret_cast<Event*>(select(reinterpret_cast<std::uintptr_t>(a.event),
                                                reinterpret_cast<std::uintptr_t>(b.event)))};
    }

    /// Adds an entry that is earlier than the tree to the front row. Returns the entry that has to
    /// go to the tree for want of room: the latest of them all, or `vacant`.
    Entry enter_front(const Entry& entry) noexcept {
        Entry evicted = vacant;
        if (in_row_ == row_.size()) {
            evicted = row_[0];
            if (!precedes(entry, evicted)) {
                return entry;
            }
            --in_row_;
            std::copy(row_.begin() + 1, row_.end(), row_.begin());
        }
        std::size_t place = in_row_++;
        for (; place > 0 && precedes(row_[place - 1], entry); --place) {
            row_[place] = row_[place - 1];
        }
        row_[place] = entry;
        entry.event->position_ = in_front;
        return evicted;
    }

    void leave_front(const Event& event) noexcept {
        std::size_t place = 0;
        while (row_[place].event != &event) {
            ++place;
            assert(place < in_row_ && "the event is in another queue");
        }
        --in_row_;
        for (; place < in_row_; ++place) {
            row_[place] = row_[place + 1];
        }
    }

    void enter_tree(const Entry& entry) {
        if (free_leaves_.empty()) {
            rebuild(leaves_ * 2);
        }
        std::uint32_t node = free_leaves_.back();
        free_leaves_.pop_back();
        entry.event->position_ = node;
        tree_[node] = entry;
        // It seldom wins more than a match or two, so that stopping beats going on without a
        // branch.
        for (node /= 2; node >= root && precedes(entry, tree_[node]); node /= 2) {
            tree_[node] = entry;
        }
    }

    void leave_tree(const Event& event) {
        std::uint32_t node = event.position_;
        assert(node < tree_.size() && tree_[node].event == &event &&
               "the event is in another queue");
        free_leaves_.push_back(node);
        Entry winner = vacant;
        tree_[node] = winner;
        // Replays the matches that the event won.
        while (node > root && tree_[node / 2].event == &event) {
            winner = earlier(winner, tree_[node ^ 1]);
            node /= 2;
            tree_[node] = winner;
        }
    }

    void removed(Event& event) {
        event.position_ = Event::idle;
        --size_;
        next_time_ = in_row_ > 0 ? row_[in_row_ - 1].time : tree_[root].time;
        if (size_ < leaves_ / 8 && leaves_ > fewest_leaves) {
            rebuild(leaves_ / 4 < fewest_leaves ? fewest_leaves : leaves_ / 4); // after a burst
        }
    }

    /// Gives the tree another number of leaves, a power of two: half of them are free afterwards.
    void rebuild(std::uint32_t leaves) {
        const std::vector<Entry> old(tree_.begin() + leaves_, tree_.end());
        leaves_ = leaves;
        tree_.resize(std::size_t{leaves} * 2);
        free_leaves_.reserve(leaves);
        vacate_tree();
        for (const Entry& entry : old) {
            if (entry.event != nullptr) {
                enter_tree(entry);
            }
        }
    }

    void vacate_tree() noexcept {
        std::fill(tree_.begin(), tree_.end(), vacant);
        free_leaves_.clear();
        for (std::uint32_t leaf = 2 * leaves_; leaf-- > leaves_;) {
            free_leaves_.push_back(leaf); // has the capacity
        }
    }

    Cycles next_time_ = never;
    std::size_t size_ = 0;
    std::uint64_t next_sequence_ = 0;
    std::size_t in_row_ = 0;
    std::array<Entry, 8> row_{}; // latest first, so that pop() moves nothing
    std::vector<Entry> tree_;    // node 0 is not used
    std::vector<std::uint32_t> free_leaves_;
    std::uint32_t leaves_ = 0;
};

} // namespace uringsim::sim
