#include "sim/jitter.h"

namespace uringsim::sim {

Cycles Jitter::draw(RandomStream& stream) const {
    constexpr std::uint64_t million = 1'000'000;
    constexpr std::int64_t permille = 1000;
    constexpr std::int64_t steps = 1LL << 16;
    Cycles length = base;
    if (spread_permille > 0 && base > 0) {
        const std::uint64_t bits = stream.next();
        const auto up = static_cast<std::int64_t>(bits & (steps - 1));
        const auto down = static_cast<std::int64_t>((bits >> 16U) & (steps - 1));
        const std::int64_t width = base * static_cast<std::int64_t>(spread_permille) / permille;
        length += width * (up - down) / steps;
    }
    if (tail_ppm > 0 && tail > 0 && stream.below(million) < tail_ppm) {
        length += static_cast<Cycles>(stream.below(static_cast<std::uint64_t>(tail) + 1));
    }
    return length;
}

} // namespace uringsim::sim
