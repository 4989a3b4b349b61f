#pragma once

#include "scenarios/strict_json.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::scenarios {

/// What a reader takes for one key of an object. Values stand here as JSON text.
struct KeyShape {
    std::vector<std::string_view> types; ///< as JSON Schema names them; none: not said
    bool required = false;
    std::string help; ///< what it is; may be empty
    std::optional<std::string> min;
    std::optional<std::string> max;
    bool min_excluded = false;
    std::string unit;                    ///< of a number; may be empty
    std::vector<std::string> choices;    ///< the strings that are allowed; none: not said
    bool parameter = false;              ///< "$name" of a parameter may stand in the value's place
    std::size_t min_items = 0;           ///< of an array
    std::optional<std::string> fallback; ///< what holds where the key is absent
};

KeyShape shape_of(const IntegerRange& range);
KeyShape shape_of(const UnsignedRange& range);
KeyShape shape_of(const NumberRange& range);
KeyShape shape_of_choice(std::span<const std::string_view> allowed);
KeyShape shape_of_type(std::string_view type);

/// Told what readers ask for, key by key, while they read. It is how the JSON schemas and the help
/// of operations are made: from the reading code itself, so that they cannot differ from it.
class KeyObserver {
  public:
    KeyObserver() = default;
    KeyObserver(const KeyObserver&) = delete;
    KeyObserver& operator=(const KeyObserver&) = delete;
    virtual ~KeyObserver() = default;

    /// A reader asks for `key` of `object`. It may do so several times and say more each time.
    virtual void asked(const JsonNode& object, std::string_view key, const KeyShape& shape) = 0;
};

} // namespace uringsim::scenarios
