#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace uringsim::analysis::native {

/// Which slots of a ring's table hold a file, a bit a slot: cheap enough to be kept while a phase
/// is timed.
class SlotMap {
  public:
    struct Span {
        std::uint32_t offset = 0;
        std::uint32_t length = 0;
    };

    /// A table of `slots` slots, all empty or all with a file.
    void reset(std::uint32_t slots, bool used) {
        slots_ = slots;
        words_.assign((slots + word_bits - 1) / word_bits, 0);
        used_ = 0;
        if (used) {
            change(0, slots, true);
        }
    }

    std::uint32_t size() const { return slots_; }
    std::uint64_t used() const { return used_; }

    /// Marks a slot as used; whether it was before.
    bool set(std::uint32_t slot) {
        std::uint64_t& word = words_[slot / word_bits];
        const std::uint64_t bit = std::uint64_t{1} << (slot % word_bits);
        const bool was = (word & bit) != 0;
        word |= bit;
        used_ += was ? 0 : 1;
        return was;
    }

    /// Marks slots as used or empty; how many of them were used before.
    std::uint32_t change(std::uint32_t offset, std::uint32_t length, bool to_used) {
        std::uint32_t were = 0;
        for (std::uint32_t at = offset; at < offset + length;) {
            const std::uint32_t bit = at % word_bits;
            const std::uint32_t count = std::min(word_bits - bit, offset + length - at);
            const std::uint64_t mask = (~std::uint64_t{0} >> (word_bits - count)) << bit;
            std::uint64_t& word = words_[at / word_bits];
            were += static_cast<std::uint32_t>(std::popcount(word & mask));
            word = to_used ? word | mask : word & ~mask;
            at += count;
        }
        used_ += (to_used ? length : 0);
        used_ -= were;
        return were;
    }

    /// The contiguous runs of used slots, in order.
    std::vector<Span> spans() const {
        std::vector<Span> found;
        for (std::uint32_t at = next(0, true); at < slots_; at = next(at, true)) {
            const std::uint32_t end = next(at, false);
            found.push_back({at, end - at});
            at = end;
        }
        return found;
    }

  private:
    static constexpr std::uint32_t word_bits = 64;

    /// The first slot from `from` on that is used, or empty; size() where there is none.
    std::uint32_t next(std::uint32_t from, bool wanted) const {
        while (from < slots_) {
            const std::uint64_t word = words_[from / word_bits];
            const std::uint64_t bits = (wanted ? word : ~word) >> (from % word_bits);
            if (bits != 0) {
                const auto found = from + static_cast<std::uint32_t>(std::countr_zero(bits));
                return std::min(found, slots_);
            }
            from = (from / word_bits + 1) * word_bits;
        }
        return slots_;
    }

    std::vector<std::uint64_t> words_;
    std::uint32_t slots_ = 0;
    std::uint64_t used_ = 0;
};

} // namespace uringsim::analysis::native
