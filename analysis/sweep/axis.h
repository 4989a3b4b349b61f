#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis {

/// What an axis of a sweep moves.
enum class AxisKind { knob, parameter, design, machine, seed };

/// What a parameter's label starts with, so that it is not taken for a knob.
inline constexpr std::string_view parameter_prefix = "param:";

/// One thing that a sweep moves, and the values that it takes, as users write them.
struct Axis {
    AxisKind kind = AxisKind::knob;
    std::string name;  ///< of the knob or parameter; "design", "machine" or "seed"
    std::vector<std::string> values;
    std::size_t group = 0; ///< axes of one group move together (zipped)

    /// As rows, constraints and messages write it: "node_cache.limit", "param:slots", "design".
    std::string label() const;
};

/// "param:slots", as Axis::label() has it.
std::string parameter_label(std::string_view name);

/// The longest list that a range may expand to.
inline constexpr std::size_t max_axis_values = 1'000'000;

/// The kind and name that a label means: "param:slots" and "knob:node_cache.limit" say it, "design",
/// "machine" and "seed" are themselves, anything else is a knob.
Axis axis_of(std::string_view label);

/// Expands "0,32,64..4096x2": numbers, A..B (step 1), A..B+STEP and A..BxFACTOR. Both ends of a
/// range are in it, also where the last step would pass over its end. Names stay as they are.
/// Nothing, with `error` set, where a range makes no sense or a value is there twice.
std::optional<std::vector<std::string>> expand_values(std::string_view text, bool ranges,
                                                      std::string& error);

} // namespace uringsim::analysis
