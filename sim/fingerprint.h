#pragma once

#include "sim/cycles.h"

#include <cstdint>

namespace uringsim::sim {

/// A 64-bit hash of everything that was charged, in order: equal fingerprints mean that two runs
/// did the same things at the same times. Observers never feed it, so watching cannot change it.
class Fingerprint {
  public:
    /// Takes in one charge. `who` packs CPU, task and primitive.
    void add(Cycles time, std::uint64_t who) {
        const std::uint64_t word = static_cast<std::uint64_t>(time) * 0x9e3779b97f4a7c15U + who;
        hash_ = (hash_ ^ word) * 0xd6e8feb86659fd93U;
        hash_ ^= hash_ >> 32U;
    }

    std::uint64_t value() const { return hash_; }

  private:
    std::uint64_t hash_ = 0x2545f4914f6cdd1dU;
};

} // namespace uringsim::sim
