#include "sim/random.h"

#include <bit>
#include <stdexcept>

namespace uringsim::sim {

namespace {

std::uint64_t split_mix(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

std::uint64_t fnv1a(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return hash;
}

} // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) {
    std::uint64_t mixer = seed ^ fnv1a(name);
    for (std::uint64_t& word : state_) {
        word = split_mix(mixer);
    }
}

std::uint64_t RandomStream::next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
    if (bound == 0) {
        throw std::invalid_argument("RandomStream::below: the bound must be positive");
    }
    // Draws under this threshold would favour the small remainders; they are thrown away.
    const std::uint64_t threshold = (0 - bound) % bound;
    for (;;) {
        const std::uint64_t draw = next();
        if (draw >= threshold) {
            return draw % bound;
        }
    }
}

} // namespace uringsim::sim
