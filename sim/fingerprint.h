#pragma once

#include "sim/cycles.h"

#include <cstdint>

namespace uringsim::sim {

/// Scatters the bits of a word (SplitMix64's finisher): close words give unrelated ones.
constexpr std::uint64_t scatter(std::uint64_t word) {
    word = (word + 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27U)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31U);
}

/// A 64-bit hash of what a run did and when: equal fingerprints mean that two runs did the same
/// things at the same times. Observers never feed it, so watching cannot change it.
///
/// A chain through every charge would be most of what a charge costs the host, so it has two levels.
/// Each CPU adds up a trail: the sum over its charges of (its clock after the charge) x (a random
/// odd number of the primitive); charges that change places change their times and so the trail. The
/// sums of different charges do not wait for each other. At the end of every stage that charged
/// anything, CPU, task, clock and trail go into a chain in the order in which the engine ran the
/// stages. Last come the rows of the ledger, summed over phases, since a phase only watches.
class Fingerprint {
  public:
    /// The number by which the trail knows a primitive.
    static constexpr std::uint64_t weight(std::uint64_t primitive) {
        return scatter(primitive) | 1U;
    }

    /// What one charge adds to a trail.
    static constexpr std::uint64_t step(Cycles clock, std::uint64_t weight) {
        return static_cast<std::uint64_t>(clock) * weight;
    }

    /// Takes in one stage. `who` packs CPU and task.
    void add(std::uint64_t who, Cycles clock, std::uint64_t trail) {
        hash_ = scatter(hash_ ^ trail);
        hash_ = scatter(hash_ ^ (static_cast<std::uint64_t>(clock) * weight(who)));
    }

    std::uint64_t value() const { return hash_; }

  private:
    std::uint64_t hash_ = 0x2545f4914f6cdd1dU;
};

} // namespace uringsim::sim
