#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace uringsim::sim {

/// A named, seeded stream of random numbers (xoshiro256**, Blackman and Vigna, 2018). Streams with
/// different names are independent, so adding a draw to one never shifts another. The same seed and
/// name give the same numbers on every compiler.
class RandomStream {
  public:
    RandomStream(std::uint64_t seed, std::string_view name);

    /// The next 64 random bits.
    std::uint64_t next();

    /// Uniform in [0, bound), without modulo bias. `bound` must be positive.
    std::uint64_t below(std::uint64_t bound);

  private:
    std::array<std::uint64_t, 4> state_{};
};

} // namespace uringsim::sim
