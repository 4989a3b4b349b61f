#pragma once

#include "sim/cycles.h"
#include "sim/random.h"

#include <cstdint>

namespace uringsim::sim {

/// A length of time that scatters: a base, a symmetric spread around it, and now and then a tail.
///
/// Shape: base x (1 + spread x t), t the difference of two uniform draws (a triangle over -1 .. 1
/// with mean 0), so the mean is the base. With probability `tail_ppm` a uniform draw of up to
/// `tail` cycles comes on top. Integer arithmetic only.
struct Jitter {
    Cycles base = 0;
    std::uint32_t spread_permille = 0; ///< half width of the triangle; at most 1000
    std::uint32_t tail_ppm = 0;        ///< how often the tail strikes, of a million
    Cycles tail = 0;                   ///< its greatest length

    /// The next length, at least 0. Draws from the stream only what the shape needs.
    Cycles draw(RandomStream& stream) const;
};

} // namespace uringsim::sim
