#include "sim/memory.h"

namespace uringsim::sim {

PrimitiveId TouchClocks::touch_far(Line& line, std::uint32_t weight, bool owner_cooled,
                                   const MemoryPrimitives& primitives) {
    const Line before = line;
    const std::uint64_t distance = fine_ - before.fine;
    const std::uint32_t coarse_distance = coarse_ - before.coarse;
    const bool own = before.cpu == cpu_;
    if (!own || distance > geometry_.far_lines) {
        coarse_ += weight;
    }
    stamp(line);

    if (before.cpu == Line::untouched) {
        return kind_ == LineKind::code ? primitives.cold_code : primitives.memory;
    }
    if (!own && !owner_cooled) {
        return primitives.remote;
    }
    if (!own || cooled(before)) {
        return kind_ == LineKind::code ? primitives.cold_code : primitives.aged;
    }
    if (coarse_distance <= geometry_.l2_lines) {
        return primitives.l2;
    }
    return coarse_distance <= geometry_.llc_lines ? primitives.llc : primitives.memory;
}

} // namespace uringsim::sim
