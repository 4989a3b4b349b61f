#pragma once

#include "models/uring/request.h"
#include "sim/cpu.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace uringsim::models {

/// Completions that devices will signal by interrupts, on the CPU that submitted the request.
///
/// An interrupt that comes due while its CPU runs a submission is taken when that ends, so a
/// submission is never cut in two. One interrupt takes every completion that is due.
class Interrupts {
  public:
    explicit Interrupts(std::uint16_t cpus)
        : pending_(cpus) {}

    /// The request of `ring` completes at `due` on this CPU.
    void raise(const sim::Cpu& cpu, Ring& ring, Request& request, sim::Cycles due);

    /// Takes what is due on this CPU; with `wait`, first idles until the next one is. False where
    /// nothing was taken.
    bool take(sim::Cpu& cpu, bool wait);

    /// True where a completion of this ring is outstanding on this CPU.
    bool outstanding(const sim::Cpu& cpu, const Ring& ring) const;
    /// True where any completion is outstanding on this CPU.
    bool outstanding(std::uint16_t cpu) const { return !pending_.at(cpu).empty(); }

  private:
    struct Completion {
        sim::Cycles due;
        Ring* ring;
        Request* request;
    };

    std::vector<std::deque<Completion>> pending_; ///< by CPU, in order of time
};

} // namespace uringsim::models
