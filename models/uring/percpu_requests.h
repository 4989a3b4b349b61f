#pragma once

#include "models/design.h"
#include "models/uring/request.h"
#include "models/uring/request_pool.h"
#include "sim/cpu.h"
#include "sim/sync.h"

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace uringsim::models {

/// The caches of the 2020 patch: on every CPU one for requests that complete from interrupt
/// context, which needs interrupts off, and one for all others, which only needs preemption off. A
/// cache is two lists: alloc_list, from which requests are taken, and free_list, which a shrinker
/// may empty.
///
/// Version 1 moves the whole alloc_list to the free_list when it grows beyond the limit, and never
/// takes anything back: a burst beyond the limit finds an empty cache for ever. Version 2 moves
/// `request.cache_reclaim` requests and steals as many back when the alloc_list is empty.
/// Source: io_req_cache_alloc, io_req_cache_free, io_req_cache_reclaim, io_req_cache_steal,
/// io_uring_cache_shrink, io_uring_kill_ce of the mails of 2020-05-13 and 2020-05-14.
class PerCpuRequests {
  public:
    PerCpuRequests(const Design& design, RequestPool& pool, std::uint16_t cpus)
        : design_(design)
        , pool_(pool)
        , caches_(cpus) {}

    Request* alloc(sim::Cpu& cpu, const RequestUse& use);
    void free(sim::Cpu& cpu, Request& request);

    /// The shrinker, under memory pressure: gives up to `count` requests of the free lists back to
    /// the slab allocator, CPU by CPU. Returns how many.
    std::uint64_t shrink(sim::Cpu& cpu, std::uint64_t count);

    /// CPU `dead` has gone offline: gives back all of its requests. Returns how many.
    std::uint64_t reap(sim::Cpu& cpu, std::uint16_t dead);

    struct Held {
        std::uint64_t available = 0; ///< on the alloc_list
        std::uint64_t free = 0;      ///< on the free_list
    };
    Held held(std::uint16_t cpu, bool interrupt) const;

    /// Requests on all lists now, and at most so far.
    std::uint64_t cached() const { return cached_; }
    std::uint64_t cached_peak() const { return cached_peak_; }

  private:
    /// struct io_kiocb_cache_entry. Fronts are heads.
    struct Entry {
        std::deque<Request*> alloc_list;
        std::deque<Request*> free_list;
        sim::Lock free_lock;
    };
    using Pair = std::array<Entry, 2>;

    void reclaim(sim::Cpu& cpu, Entry& entry);
    bool steal(sim::Cpu& cpu, Entry& entry);
    std::uint64_t give_back(sim::Cpu& cpu, std::deque<Request*>& list, std::uint64_t count);

    const Design& design_;
    RequestPool& pool_;
    std::vector<Pair> caches_;
    std::uint64_t cached_ = 0;
    std::uint64_t cached_peak_ = 0;
};

} // namespace uringsim::models
