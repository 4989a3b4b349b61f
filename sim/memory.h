#pragma once

#include "sim/cost.h"
#include "sim/cycles.h"

#include <cstdint>

namespace uringsim::sim {

/// When and by whom a cache line was last touched: its temperature. Embedded in whatever the models
/// keep in simulated memory.
struct Line {
    static constexpr std::uint16_t untouched = 0xffff;
    static constexpr unsigned cpu_shift = 48;

    std::uint64_t fine = 0; ///< the fine clock of the CPU that touched it; 0: nobody did
    std::uint32_t coarse = 0;
#ifndef NDEBUG
    // The causality check goes by these.
    Cycles written_at = 0;
    std::uint16_t written_by = 0;
#endif

    /// Where a CPU's fine clock begins: far enough from the others' that no two ever meet, so that
    /// a stamp also says whose it is.
    static constexpr std::uint64_t clock_start(std::uint16_t cpu) {
        return (std::uint64_t{cpu} + 1) << cpu_shift;
    }

    /// The CPU that touched it last, or `untouched`.
    std::uint16_t cpu() const { return static_cast<std::uint16_t>((fine >> cpu_shift) - 1); }
};

/// Whether a line holds data or instructions. They cool differently: after an idle gap data has
/// slipped to the last-level cache, while code must also refill the instruction side and predictors.
enum class LineKind : std::uint8_t { data, code };

/// Many lines that are always touched together (a code path, a request), as one record that counts
/// `weight` times.
struct LineGroup {
    Line line{};
    std::uint32_t weight = 1;
    LineKind kind = LineKind::data;
};

/// Cache sizes of one CPU, in 64-byte lines, and what an idle gap does.
struct MemoryGeometry {
    std::uint64_t l1_lines = 768;      ///< touches nearer than this are L1 hits and cost nothing
    std::uint64_t l1_code_lines = 512; ///< the same for instructions
    std::uint64_t far_lines = 4096;    ///< touches farther than this advance the coarse clock
    std::uint32_t l2_lines = 20480;    ///< far touches that L2 remembers
    std::uint32_t llc_lines = 409600;  ///< far touches that the last level remembers
    Cycles aging_idle = 3'600'000;     ///< an idle gap at least this long cools everything
    /// Sets of L1, chosen by a line's address: lines at a stride use only some of them, and so less
    /// of L1. 0: not known, a line may take any place.
    std::uint32_t l1_sets = 0;
};

/// The primitives that pay for a line, by where it is found. An L1 hit is free.
struct MemoryPrimitives {
    PrimitiveId l2{};
    PrimitiveId llc{};
    PrimitiveId memory{};
    PrimitiveId remote{};
    PrimitiveId aged{};
    PrimitiveId cold_code{};
};

/// The two touch clocks of one CPU for one kind of line. The fine clock counts all touches and
/// decides L1. The coarse one advances only on touches that went far, and decides L2 and beyond:
/// one clock alone would age a steady working set that never leaves L2.
class TouchClocks {
  public:
    TouchClocks(const MemoryGeometry& geometry, LineKind kind, std::uint16_t cpu)
        : fine_(Line::clock_start(cpu))
        , l1_lines_(kind == LineKind::code ? geometry.l1_code_lines : geometry.l1_lines)
        , kind_(kind)
        , geometry_(geometry) {}

    /// True, and the line is stamped, when the line is still in L1.
    bool touch_l1(Line& line, std::uint32_t weight) {
        const bool hit = fine_ - line.fine <= l1_lines_; // another CPU's is never near
        fine_ += weight;
        if (hit) {
            stamp(line);
        }
        return hit;
    }

    /// This CPU touched the line last.
    bool owns(const Line& line) const {
        return ((line.fine ^ fine_) >> Line::cpu_shift) == 0;
    }

    /// For a line that is not in L1 and that this CPU touched last: where it is found. Stamps it.
    PrimitiveId touch_own(Line& line, std::uint32_t weight, const MemoryPrimitives& primitives);

    /// The same for a line that another CPU touched last, or nobody. `owner_cooled`: that CPU has
    /// since been idle for long, so that its copy is no dearer than a line of our own that has
    /// cooled.
    PrimitiveId touch_other(Line& line, std::uint32_t weight, bool owner_cooled,
                            const MemoryPrimitives& primitives);

    /// Stamps a line that is written whole, in sequence: the hardware streams such writes, so their
    /// price is part of the primitive that does them.
    void stream(Line& line) {
        ++fine_;
        stamp(line);
    }

    /// True when the line was last touched here before the last long idle gap.
    bool cooled(const Line& line) const { return line.fine <= aged_before_; }

    /// The CPU was idle for long: everything that it held has cooled.
    void age() {
        aged_before_ = fine_;
        fine_ += l1_lines_ + geometry_.far_lines;
    }

    const MemoryGeometry& geometry() const { return geometry_; }

  private:
    void stamp(Line& line) const {
        line.fine = fine_;
        line.coarse = coarse_;
    }

    std::uint64_t fine_;
    std::uint64_t l1_lines_;
    std::uint32_t coarse_ = 0;
    LineKind kind_;
    std::uint64_t aged_before_ = 0;
    MemoryGeometry geometry_;
};

inline PrimitiveId TouchClocks::touch_own(Line& line, std::uint32_t weight,
                                          const MemoryPrimitives& primitives) {
    const Line before = line;
    const std::uint32_t coarse_distance = coarse_ - before.coarse;
    if (fine_ - before.fine > geometry_.far_lines) {
        coarse_ += weight;
    }
    stamp(line);

    if (cooled(before)) {
        return kind_ == LineKind::code ? primitives.cold_code : primitives.aged;
    }
    if (coarse_distance <= geometry_.l2_lines) {
        return primitives.l2;
    }
    return coarse_distance <= geometry_.llc_lines ? primitives.llc : primitives.memory;
}

inline PrimitiveId TouchClocks::touch_other(Line& line, std::uint32_t weight, bool owner_cooled,
                                            const MemoryPrimitives& primitives) {
    const bool untouched = line.cpu() == Line::untouched;
    coarse_ += weight;
    stamp(line);

    if (untouched) {
        return kind_ == LineKind::code ? primitives.cold_code : primitives.memory;
    }
    if (!owner_cooled) {
        return primitives.remote;
    }
    return kind_ == LineKind::code ? primitives.cold_code : primitives.aged;
}

} // namespace uringsim::sim
