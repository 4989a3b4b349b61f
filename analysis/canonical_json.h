#pragma once

#include "scenarios/strict_json.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uringsim::analysis {

/// A JSON value that is to be written: numbers as they are spelt, keys in their order.
class JsonText {
  public:
    static JsonText number(double value); ///< the shortest text that reads back as the same number
    static JsonText string(std::string_view value);
    static JsonText array() { return JsonText(Kind::array); }
    static JsonText object() { return JsonText(Kind::object); }
    static JsonText copy(const scenarios::JsonNode& node);

    /// Appends an element to an array.
    void add(JsonText value) { children_.emplace_back("", std::move(value)); }
    /// Sets a member of an object: in its place, or after the others.
    void set(std::string_view key, JsonText value);
    /// The same, but a new member comes right before `next` where that is there.
    void set_before(std::string_view key, JsonText value, std::string_view next);

    const JsonText* find(std::string_view key) const;

    /// Laid out in the one way that our files have: two blanks a level, and an object or array of
    /// plain values on one line where that fits 100 columns. Ends with a newline.
    std::string to_string() const;

  private:
    enum class Kind { scalar, array, object };
    explicit JsonText(Kind kind)
        : kind_(kind) {}

    bool is_plain() const;
    std::string one_line() const;
    std::string laid_out(std::size_t indent, std::size_t used) const;

    Kind kind_ = Kind::scalar;
    std::string text_; ///< a scalar's
    std::vector<std::pair<std::string, JsonText>> children_;
};

} // namespace uringsim::analysis
