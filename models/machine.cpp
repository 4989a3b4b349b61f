#include "models/machine.h"

#include <cmath>

namespace uringsim::models {

std::string_view name(Provenance provenance) {
    switch (provenance) {
    case Provenance::published:
        return "published";
    case Provenance::fitted:
        return "fitted";
    case Provenance::measured:
        return "measured";
    case Provenance::assumed:
        return "assumed";
    }
    return "assumed";
}

CostRange cost_range(Primitive primitive, bool instructions) {
    constexpr double instructions_a_cycle = 100;
    const PrimitiveInfo& row = info(primitive);
    return instructions ? CostRange{0, instructions_a_cycle * row.max_cycles}
                        : CostRange{row.min_cycles, row.max_cycles};
}

Machine::Machine() {
    for (const PrimitiveInfo& row : primitive_table()) {
        Cost& entry = cost(row.id);
        entry.millicycles =
            std::llround(row.default_cycles * static_cast<double>(sim::millicycles_per_cycle));
        entry.source = std::string(row.source);
    }
}

} // namespace uringsim::models
