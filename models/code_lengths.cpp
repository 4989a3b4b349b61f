#include "models/code_lengths.h"

#include "sim/cost.h"

#include <algorithm>
#include <array>

namespace uringsim::models {

namespace {

using P = Primitive;

constexpr std::array<CodeLength, 1> table{{
    {P::nop_issue, 0, 0, 0, ""},
}};

} // namespace

std::span<const CodeLength> code_length_table() {
    return table;
}

std::int32_t code_difference(const Design& design, Primitive primitive) {
    const auto* const row = std::ranges::find(table, primitive, &CodeLength::primitive);
    if (row == table.end()) {
        return 0;
    }
    switch (design.kernel_code) {
    case KernelCode::v6_1:
        return row->v6_1;
    case KernelCode::v6_12:
        return row->v6_12;
    case KernelCode::v6_16:
        return row->v6_16;
    case KernelCode::v6_18:
        break;
    }
    return 0;
}

sim::Millicycles cost_under(const Machine& machine, const Design& design, Primitive primitive) {
    const sim::Millicycles cost = machine.cost(primitive).millicycles;
    if (!machine.instructions) {
        return cost;
    }
    const sim::Millicycles longer =
        code_difference(design, primitive) * sim::millicycles_per_cycle;
    return std::max<sim::Millicycles>(cost + longer, 0);
}

} // namespace uringsim::models
