#include "scenarios/key_shape.h"

#include <fmt/format.h>

#include <cmath>

namespace uringsim::scenarios {

namespace {

template <class Range>
KeyShape shape_of_whole(const Range& range) {
    KeyShape shape = shape_of_type("integer");
    shape.min = std::to_string(range.min);
    shape.max = std::to_string(range.max);
    shape.unit = range.unit;
    return shape;
}

} // namespace

KeyShape shape_of(const IntegerRange& range) {
    return shape_of_whole(range);
}

KeyShape shape_of(const UnsignedRange& range) {
    return shape_of_whole(range);
}

KeyShape shape_of(const NumberRange& range) {
    KeyShape shape = shape_of_type("number");
    if (std::isfinite(range.min)) {
        shape.min = fmt::format("{}", range.min);
    }
    if (std::isfinite(range.max)) {
        shape.max = fmt::format("{}", range.max);
    }
    shape.min_excluded = range.min_excluded;
    shape.unit = range.unit;
    return shape;
}

KeyShape shape_of_choice(std::span<const std::string_view> allowed) {
    KeyShape shape = shape_of_type("string");
    shape.choices.assign(allowed.begin(), allowed.end());
    return shape;
}

KeyShape shape_of_type(std::string_view type) {
    KeyShape shape;
    shape.types = {type};
    return shape;
}

} // namespace uringsim::scenarios
