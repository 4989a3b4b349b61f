#pragma once

#include "scenarios/did_you_mean.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Strict JSON: every error of a file at once, each as
/// `file:line:column: /json/pointer: what is wrong; what is allowed; did you mean "x"?`.
///
/// How it is used: parse_json() gives a tree whose nodes know where they stand in the file; an
/// ObjectReader takes the keys of an object one by one; the get_*() functions and the reader's
/// shorthands check one value each. None of them throws or stops at an error: they add to a
/// Diagnostics and return nothing (or a fallback), so that reading goes on. The caller asks
/// Diagnostics::empty() once at the end, before it uses what was read.
namespace uringsim::scenarios {

/// A place in a text: line from 1, column from 1 in bytes (a tab is one column; a byte order mark
/// at the start of the file is not counted). Line 0 means "no place".
struct Position {
    unsigned line = 1;
    unsigned column = 1;

    friend bool operator==(const Position&, const Position&) = default;
    /// Earlier in the text. (No operator<=>: clang-tidy 14 takes a defaulted one for a null
    /// pointer.)
    friend bool operator<(const Position& a, const Position& b) {
        return a.line != b.line ? a.line < b.line : a.column < b.column;
    }
};

inline constexpr Position no_position{0, 0};

/// One error.
struct Diagnostic {
    std::string file;
    Position at = no_position;
    std::string pointer; ///< RFC 6901; empty for the whole document. Or the option's name.
    std::string message;

    /// `file:line:column: pointer: message` on one line, without the parts that are absent.
    std::string to_string() const;
};

class KeyObserver;
struct KeyShape;

/// The errors found so far, of one or several files and of the command line.
class Diagnostics {
  public:
    void add(Diagnostic diagnostic) { all_.push_back(std::move(diagnostic)); }

    /// `command line: OPTION: MESSAGE`, for example with option "--param slots".
    void add_option(std::string option, std::string message) {
        add({"command line", no_position, std::move(option), std::move(message)});
    }

    bool empty() const { return all_.empty(); }
    std::size_t size() const { return all_.size(); }

    /// In the order in which they were found.
    const std::vector<Diagnostic>& all() const { return all_; }

    /// Files in the order in which they first had an error; in a file by position; at the same
    /// position in the order found.
    std::vector<Diagnostic> sorted() const;

    /// sorted(), one a line, each ended by a newline; empty if there are none.
    std::string to_string() const;

    /// From now on readers that report here tell the observer what they ask for.
    void observe(KeyObserver* observer) { observer_ = observer; }
    KeyObserver* observer() const { return observer_; }

  private:
    std::vector<Diagnostic> all_;
    KeyObserver* observer_ = nullptr;
};

enum class JsonType { null, boolean, number, string, array, object };

/// "null", "a boolean", "a number", "a string", "an array", "an object".
std::string_view type_name(JsonType type);

/// A JSON value and where it was read. Immutable; copies are deep.
class JsonNode {
  public:
    JsonType type() const { return type_; }
    bool is_null() const { return type_ == JsonType::null; }
    bool is_boolean() const { return type_ == JsonType::boolean; }
    bool is_number() const { return type_ == JsonType::number; }
    bool is_string() const { return type_ == JsonType::string; }
    bool is_array() const { return type_ == JsonType::array; }
    bool is_object() const { return type_ == JsonType::object; }

    const std::string& file() const { return *file_; }
    /// Of the value's first character.
    Position position() const { return position_; }
    /// RFC 6901, with ~ and / in keys escaped; "" for the root.
    const std::string& pointer() const { return pointer_; }

    /// The value of a boolean; false for anything else.
    bool boolean() const { return boolean_; }
    /// A string's content in UTF-8 with its escapes resolved (it may hold any character, U+0000
    /// too), or a number exactly as written, so that 3.9, 1e3 and 18446744073709551616 can be told
    /// apart from what they would round to. Empty for anything else.
    const std::string& text() const { return text_; }

    /// The elements of an array or the member values of an object, in the order of the file. A
    /// key given twice (which parse_json reports) is there twice.
    const std::vector<JsonNode>& children() const { return children_; }
    /// The first member of that name of an object; null if there is none or this is no object.
    const JsonNode* find(std::string_view key) const;

    /// The key under which an object holds this value; empty for an element or the root.
    const std::string& key() const { return key_; }
    /// Of the key's opening quote; the value's own position for an element or the root.
    Position key_position() const { return key_position_; }

    /// Adds an error about this value, at its position.
    void report(std::string message, Diagnostics& diagnostics) const;
    /// Adds an error about this value's key, at the key's position.
    void report_key(std::string message, Diagnostics& diagnostics) const;

    /// The value for an error message: `3.9`, `true`, `the string "abc"`, `an array`; shortened.
    std::string describe() const;

  private:
    friend class JsonTreeBuilder; // in json_parser.cpp
    JsonNode() = default;

    JsonType type_ = JsonType::null;
    bool boolean_ = false;
    Position position_;
    Position key_position_;
    std::shared_ptr<const std::string> file_; // one name, shared by all nodes of the file
    std::string pointer_;
    std::string key_;
    std::string text_;
    std::vector<JsonNode> children_;
};

/// Deepest nesting of arrays and objects that parse_json accepts; no file of ours comes near, and
/// it bounds the recursion of everything that walks a tree.
inline constexpr std::size_t max_json_depth = 64;

/// Parses one document of RFC 8259 in UTF-8. `file` is only a name, for the messages.
///
/// Reported, with parsing going on: every comment, every duplicate key (at the second, naming the
/// line of the first), a byte order mark. Then a tree is returned although the file is in error, so
/// that a reader can report what else is wrong: look at `diagnostics`, not at the result, to know
/// whether the file is good. Reported, and nothing returned: the first error of syntax (also:
/// nothing in the file, something after the value, invalid UTF-8, NUL bytes, UTF-16, a number
/// beyond the range of a double), nesting beyond max_json_depth.
std::optional<JsonNode> parse_json(std::string file, std::string_view text,
                                   Diagnostics& diagnostics);

// --- What is allowed ---

/// A signed whole number. `unit` is for messages ("slots", "ns"); may be empty. `alternative` says
/// what else the caller accepts in its place ("a parameter such as \"$slots\""); may be empty.
struct IntegerRange {
    std::int64_t min = std::numeric_limits<std::int64_t>::min();
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
    std::string unit = {};
    std::string alternative = {};

    /// "a whole number from 1 to 65536 (slots)"; both ends are always named.
    std::string to_string() const;
};

/// A whole number from 0 that may need all 64 bits, such as a seed.
struct UnsignedRange {
    std::uint64_t min = 0;
    std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
    std::string unit = {};
    std::string alternative = {};

    std::string to_string() const;
};

/// A finite number; an end that is infinite is no bound.
struct NumberRange {
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
    std::string unit = {};
    bool min_excluded = false; ///< the number must be above min
    std::string alternative = {};

    /// "a number from 0 to 1 (fraction)", "a number above 0 and at most 10".
    std::string to_string() const;
};

// --- Values given as text, on the command line ---

// Each returns the value, or nothing with `error` set to the words a file's error would have:
// "must be a whole number from 1 to 65536 (slots); got 3.9". On success `error` is left alone.

/// Decimal digits with at most a leading '-': no fraction, exponent, '+', blank, leading zero, 0x.
std::optional<std::int64_t> parse_integer(std::string_view text, const IntegerRange& range,
                                          std::string& error);
std::optional<std::uint64_t> parse_unsigned(std::string_view text, const UnsignedRange& range,
                                            std::string& error);
/// A number as JSON writes it; so no nan, inf or hexadecimal.
std::optional<double> parse_number(std::string_view text, const NumberRange& range,
                                   std::string& error);
/// "true" or "false".
std::optional<bool> parse_boolean(std::string_view text, std::string& error);
/// The index of `text` in `allowed`.
std::optional<std::size_t>
parse_choice(std::string_view text, std::span<const std::string_view> allowed, std::string& error);

// --- Values of a file ---

// Each returns the value, or nothing after reporting what is wrong with the node. Types are never
// converted: "12" is no number, 1.0 no whole number.

std::optional<std::int64_t> get_integer(const JsonNode& node, const IntegerRange& range,
                                        Diagnostics& diagnostics);
std::optional<std::uint64_t> get_unsigned(const JsonNode& node, const UnsignedRange& range,
                                          Diagnostics& diagnostics);
std::optional<double> get_number(const JsonNode& node, const NumberRange& range,
                                 Diagnostics& diagnostics);
std::optional<bool> get_boolean(const JsonNode& node, Diagnostics& diagnostics);
std::optional<std::string> get_string(const JsonNode& node, Diagnostics& diagnostics);
/// A string that is not empty.
std::optional<std::string> get_name(const JsonNode& node, Diagnostics& diagnostics);
/// The index in `allowed` of the string.
std::optional<std::size_t> get_choice(const JsonNode& node,
                                      std::span<const std::string_view> allowed,
                                      Diagnostics& diagnostics);
/// The node itself (see its children()) if it is an array of at least `min_items`; else null.
const JsonNode* get_array(const JsonNode& node, Diagnostics& diagnostics,
                          std::size_t min_items = 0);
/// The node itself if it is an object, else null. To read known keys use ObjectReader; this is for
/// objects whose keys are free names.
const JsonNode* get_object(const JsonNode& node, Diagnostics& diagnostics);

/// Reads the members of an object by name and reports, at the end, those that nobody asked for.
///
///     ObjectReader reader(node, diagnostics);
///     const auto slots = reader.integer("slots", {1, 65536, "slots"});
///     const auto batch = reader.integer_or("batch", {1, 4096}, 64);
///     if (!reader.finish()) return std::nullopt;
///
/// A node that is no object is reported once by the constructor; then every member is absent and
/// nothing more is said. Node and Diagnostics must outlive the reader.
class ObjectReader {
  public:
    ObjectReader(const JsonNode& node, Diagnostics& diagnostics);
    /// Calls finish() if the caller did not.
    ~ObjectReader();
    ObjectReader(const ObjectReader&) = delete;
    ObjectReader& operator=(const ObjectReader&) = delete;

    /// The member, or null after reporting, at the object, that it is missing.
    const JsonNode* required(std::string_view key);
    /// The member, or null.
    const JsonNode* optional(std::string_view key);
    /// Allows the key without reading it ("$schema").
    void ignore(std::string_view key);
    /// For keys whose values are read by other means than this reader's: what is taken there.
    void describe(std::string_view key, const KeyShape& shape) const;
    bool is_observed() const { return diagnostics_.observer() != nullptr; }

    // Required members: nothing if absent or wrong, which has then been reported.
    std::optional<std::int64_t> integer(std::string_view key, const IntegerRange& range);
    std::optional<std::uint64_t> unsigned_integer(std::string_view key, const UnsignedRange& range);
    std::optional<double> number(std::string_view key, const NumberRange& range);
    std::optional<bool> boolean(std::string_view key);
    std::optional<std::string> string(std::string_view key);
    std::optional<std::string> name(std::string_view key);
    std::optional<std::size_t> choice(std::string_view key,
                                      std::span<const std::string_view> allowed);
    const JsonNode* array(std::string_view key, std::size_t min_items = 0);
    const JsonNode* object(std::string_view key);

    // Members with a default: the fallback if absent, and also if wrong, which has been reported.
    std::int64_t integer_or(std::string_view key, const IntegerRange& range, std::int64_t fallback);
    std::uint64_t unsigned_integer_or(std::string_view key, const UnsignedRange& range,
                                      std::uint64_t fallback);
    double number_or(std::string_view key, const NumberRange& range, double fallback);
    bool boolean_or(std::string_view key, bool fallback);
    std::string string_or(std::string_view key, std::string fallback);
    std::size_t choice_or(std::string_view key, std::span<const std::string_view> allowed,
                          std::size_t fallback);
    /// Null if absent or wrong.
    const JsonNode* optional_array(std::string_view key, std::size_t min_items = 0);
    const JsonNode* optional_object(std::string_view key);

    /// Reports each unknown key at its position with the allowed ones: those asked for so far. So
    /// call it last, once. True if nothing was reported since this reader was made, by it or by the
    /// readers of what lies inside.
    bool finish();

  private:
    void allow(std::string_view key);
    template <class Allowed>
    void note_required(std::string_view key, const Allowed& allowed) const;
    template <class Value, class Allowed>
    void note_fallback(std::string_view key, const Value& fallback, const Allowed& allowed) const;
    void report_unknown(const JsonNode& member);

    const JsonNode& node_;
    Diagnostics& diagnostics_;
    std::size_t reported_before_;
    std::vector<std::string> allowed_; // in the order asked for: the order of the messages
    bool finished_ = false;
};

} // namespace uringsim::scenarios
