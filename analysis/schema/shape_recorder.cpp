#include "analysis/schema/shape_recorder.h"

#include <algorithm>

namespace uringsim::analysis {

using scenarios::JsonNode;
using scenarios::KeyShape;

namespace {

template <class Value>
void add_new(std::vector<Value>& all, const std::vector<Value>& more) {
    for (const Value& each : more) {
        if (std::ranges::find(all, each) == all.end()) {
            all.push_back(each);
        }
    }
}

void add_to(KeyShape& shape, const KeyShape& more) {
    add_new(shape.types, more.types);
    add_new(shape.choices, more.choices);
    shape.required = shape.required || more.required;
    shape.parameter = shape.parameter || more.parameter;
    shape.min_excluded = shape.min_excluded || more.min_excluded;
    shape.min_items = std::max(shape.min_items, more.min_items);
    if (more.min) {
        shape.min = more.min;
    }
    if (more.max) {
        shape.max = more.max;
    }
    if (more.fallback) {
        shape.fallback = more.fallback;
    }
    if (!more.help.empty()) {
        shape.help = more.help;
    }
    if (!more.unit.empty()) {
        shape.unit = more.unit;
    }
}

/// The looser of two bounds; none where one of the variants has none.
std::optional<std::string> looser(const std::optional<std::string>& a,
                                  const std::optional<std::string>& b, bool lower) {
    if (!a || !b) {
        return std::nullopt;
    }
    const bool a_is_less = std::stod(*a) < std::stod(*b);
    return a_is_less == lower ? a : b;
}

/// A key of another variant of the object: what either takes.
void add_variant(KeyShape& shape, const KeyShape& other) {
    KeyShape both = shape;
    add_to(both, other);
    both.required = shape.required && other.required;
    both.min = looser(shape.min, other.min, true);
    both.max = looser(shape.max, other.max, false);
    both.min_excluded = shape.min_excluded && other.min_excluded;
    shape = both;
}

} // namespace

void add_shape(RecordedKeys& keys, std::string_view key, const KeyShape& shape) {
    const auto found = std::ranges::find(keys, key, &RecordedKey::name);
    if (found == keys.end()) {
        keys.push_back({std::string(key), shape});
    } else {
        add_to(found->shape, shape);
    }
}

RecordedKeys merged(const std::vector<const RecordedKeys*>& variants) {
    RecordedKeys keys;
    for (const RecordedKeys* variant : variants) {
        for (const RecordedKey& key : *variant) {
            const auto found = std::ranges::find(keys, key.name, &RecordedKey::name);
            if (found == keys.end()) {
                keys.push_back(key);
            } else {
                add_variant(found->shape, key.shape);
            }
        }
    }
    for (RecordedKey& key : keys) {
        const bool everywhere = std::ranges::all_of(variants, [&](const RecordedKeys* variant) {
            return std::ranges::find(*variant, key.name, &RecordedKey::name) != variant->end();
        });
        key.shape.required = key.shape.required && everywhere;
    }
    return keys;
}

void ShapeRecorder::asked(const JsonNode& object, std::string_view key, const KeyShape& shape) {
    add_shape(objects_[&object], key, shape);
}

const RecordedKeys* ShapeRecorder::keys_of(const JsonNode& object) const {
    const auto found = objects_.find(&object);
    return found != objects_.end() ? &found->second : nullptr;
}

} // namespace uringsim::analysis
