#pragma once

#include "models/design.h"
#include "models/machine.h"
#include "models/primitives.h"
#include "sim/cycles.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace uringsim::models {

/// How long the code of a step is in other kernels than 6.18: instructions more (or fewer).
struct CodeLength {
    Primitive primitive;
    std::int32_t v6_1 = 0;
    std::int32_t v6_12 = 0;
    std::int32_t v6_16 = 0;
    std::string_view source; ///< the functions that differ
};

/// What was measured, a row a primitive; without a row: the same in all.
std::span<const CodeLength> code_length_table();

/// Instructions that the step takes more in the design's kernel (knob kernel.code) than in 6.18.
std::int32_t code_difference(const Design& design, Primitive primitive);

/// What a step costs on the machine under the design: what the machine says, and on an instruction
/// clock what the design's code is longer, never less than nothing. Where costs are cycles they
/// stay as they are: a core runs several instructions at once, and what such costs were fitted to
/// has the difference in it.
sim::Millicycles cost_under(const Machine& machine, const Design& design, Primitive primitive);

} // namespace uringsim::models
