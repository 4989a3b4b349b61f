#pragma once

#include "models/design.h"
#include "models/uring/completion_queue.h"
#include "sim/cpu.h"
#include "sim/memory.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace uringsim::models {

struct Request;

/// One item of a ring's local work: a request that completes, or a message whose CQE is to be
/// posted.
struct LocalWorkItem {
    Request* request = nullptr; ///< completes with its result; or, when nullptr,
    Cqe message{};              ///< this CQE is posted
    Object* memory = nullptr;   ///< and this is the message's memory
    std::uint32_t nr_tw = 0;    ///< the count that waking goes by
};

/// The local work of a DEFER_TASKRUN ring: work_llist and retry_llist.
///
/// Counting (6.4 on): an item that may wait (lazy) counts one more than the head before it, any
/// other is forced. Source: io_req_local_work_add, __io_run_local_work, io_uring/io_uring.c
/// (6.13; without the cap up to 6.12; without counting and last in first out in 6.1).
class LocalWork {
  public:
    explicit LocalWork(const Design& design)
        : counting_(design.local_counting)
        , lifo_(design.local_order == LocalOrder::lifo) {}

    static constexpr std::uint32_t forced = 0x7fffffff; // IOU_F_TWQ_FORCE_WAKE's count

    /// What an add found, for the wake-up that follows it.
    struct Added {
        bool first = false;           ///< the list was empty
        std::uint32_t nr_tw = 0;      ///< what counts now
        std::uint32_t nr_tw_prev = 0; ///< what counted before
    };

    /// Pushes an item; from any CPU, without a lock.
    Added push(sim::Cpu& cpu, LocalWorkItem item, bool lazy);

    bool pending() const { return !list_.empty() || !retry_.empty(); }
    std::size_t size() const { return list_.size() + retry_.size(); }

    /// nr_tw of the newest item that no run has taken yet; 0 when there is none.
    std::uint32_t head_count() const { return list_.empty() ? 0 : list_.back().nr_tw; }

    /// A run over the work, item by item. `max` items at most (0: no cap), going on while fewer
    /// than `min` ran and work is there.
    class Run {
      public:
        Run() = default;
        Run(std::int64_t min, std::int64_t max)
            : min_(min)
            , max_(max) {}

        /// Takes the next item out into `item`. False: the pass is over, and the caller flushes
        /// completions and asks again().
        bool next(sim::Cpu& cpu, LocalWork& work, LocalWorkItem& item);

        /// After a flush: whether another pass follows.
        bool again(const LocalWork& work);

      private:
        enum class Part : std::uint8_t { retry, list, over };

        void take_list(sim::Cpu& cpu, LocalWork& work);
        void end_of_list(LocalWork& work);

        std::int64_t min_ = 0;
        std::int64_t max_ = 0;
        std::int64_t ran_ = 0;      ///< in this pass
        std::int64_t part_ran_ = 0; ///< in this part of it
        Part part_ = Part::retry;
        std::deque<LocalWorkItem> taken_;
    };

    /// Takes out everything, oldest first: for a ring that goes away.
    std::vector<LocalWorkItem> take_all();

  private:
    bool counting_;
    bool lifo_;
    std::vector<LocalWorkItem> list_; ///< in the order of the adds
    std::deque<LocalWorkItem> retry_; ///< left over from a capped run; runs first
    sim::Line line_;
};

} // namespace uringsim::models
