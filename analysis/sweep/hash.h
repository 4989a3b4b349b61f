#pragma once

#include <cstdint>
#include <string_view>

namespace uringsim::analysis {

/// FNV-1a over fields, each ended so that two neighbours cannot run into each other, with a last
/// mix so that short inputs differ in all digits. For keys of rows, not against adversaries.
class Hash {
  public:
    Hash& add(std::string_view text) {
        for (const char byte : text) {
            step(static_cast<unsigned char>(byte));
        }
        step(0xffU); // no byte of UTF-8
        return *this;
    }

    Hash& add(std::uint64_t number) {
        for (unsigned shift = 0; shift < 64; shift += 8) {
            step((number >> shift) & 0xffU);
        }
        return *this;
    }

    std::uint64_t value() const {
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
        return mixed ^ (mixed >> 31U);
    }

  private:
    void step(std::uint64_t byte) { state_ = (state_ ^ byte) * 0x100000001b3U; }

    std::uint64_t state_ = 0xcbf29ce484222325U;
};

} // namespace uringsim::analysis
