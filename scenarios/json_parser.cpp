// parse_json: what nlohmann's SAX parser finds, as a tree that knows its places, and its errors in
// words.

#include "scenarios/json_text.h"
#include "scenarios/strict_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <system_error>

namespace uringsim::scenarios {

using namespace json_text;

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_word_byte(char c) {
    return is_number_byte(c) || is_letter(c) || c == '_' || c == '$';
}

/// Bytes of the UTF-8 sequence that `lead` opens; 0 if it cannot open one of several bytes.
std::size_t sequence_length(char lead) {
    const auto byte = static_cast<unsigned char>(lead);
    if (byte >= 0xC2 && byte <= 0xDF)
        return 2;
    if (byte >= 0xE0 && byte <= 0xEF)
        return 3;
    return byte >= 0xF0 && byte <= 0xF4 ? 4 : 0;
}

bool is_valid_utf8(std::string_view text) {
    try {
        static_cast<void>(nlohmann::json(text).dump());
        return true;
    } catch (const nlohmann::json::exception&) {
        return false;
    }
}

std::string pointer_token(std::string_view key) {
    std::string result = "/";
    for (const char c : key) {
        if (c == '~')
            result += "~0";
        else if (c == '/')
            result += "~1";
        else
            result += c;
    }
    return result;
}

/// Feeds the lexer and writes down how much of the text it has taken.
class CountingIterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, std::size_t* taken)
        : at_(at)
        , taken_(taken) {}

    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        ++at_;
        ++*taken_;
        return *this;
    }
    CountingIterator operator++(int) {
        CountingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

  private:
    const char* at_;
    std::size_t* taken_;
};

/// From offsets to lines and columns.
class LineIndex {
  public:
    explicit LineIndex(std::string_view text) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\n')
                starts_.push_back(i + 1);
        }
    }

    Position at(std::size_t offset) const {
        const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
        return {static_cast<unsigned>(next - starts_.begin()),
                static_cast<unsigned>(offset - *std::prev(next) + 1)};
    }

  private:
    std::vector<std::size_t> starts_{0};
};

} // namespace

/// Receives the events of nlohmann's SAX parser, builds the tree and words the errors.
///
/// Where a value starts cannot be read off the lexer: it has then taken the whole token and, after
/// a number that does not end the text, one character more. But between the end of one token that
/// raises an event and the start of the next there is only white space, ',', ':' and comments (the
/// parser has checked the grammar when the event comes). So this class remembers the end of the
/// last one, which for all but numbers is what the lexer has taken, and skips ahead from there.
class JsonTreeBuilder {
  public:
    JsonTreeBuilder(std::shared_ptr<const std::string> file, std::string_view text,
                    Diagnostics& diagnostics)
        : file_(std::move(file))
        , text_(text)
        , lines_(text)
        , diagnostics_(diagnostics) {}

    std::optional<JsonNode> run();

    // The interface that nlohmann::json::sax_parse asks for.
    bool null() { return add_scalar(JsonType::null, {}); }
    bool boolean(bool value) {
        boolean_ = value;
        return add_scalar(JsonType::boolean, {});
    }
    bool number_integer(std::int64_t /*value*/) { return add_scalar(JsonType::number, {}); }
    bool number_unsigned(std::uint64_t /*value*/) { return add_scalar(JsonType::number, {}); }
    bool number_float(double /*value*/, const std::string& /*text*/) {
        return add_scalar(JsonType::number, {});
    }
    bool string(std::string& value) { return add_scalar(JsonType::string, std::move(value)); }
    bool binary(std::vector<std::uint8_t>& /*value*/) { return false; } // not in JSON text
    bool start_object(std::size_t /*unknown*/) { return open(JsonType::object); }
    bool start_array(std::size_t /*unknown*/) { return open(JsonType::array); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(std::string& name);
    bool parse_error(std::size_t taken, const std::string& token,
                     const nlohmann::json::exception& error);

  private:
    struct Key {
        std::string name;
        Position at;
    };
    struct Frame { // an array or object that is still open
        JsonNode node;
        std::map<std::string, unsigned> key_lines; // where each key was first seen
        std::optional<Key> key;                    // read, its value not yet
    };
    struct Separators { // what lay between two tokens
        std::optional<std::size_t> comma;
        bool colon = false;
    };

    Separators skip_to_token(std::size_t limit);
    void report_comment(std::size_t start, std::size_t end);
    std::size_t number_end(std::size_t start) const;
    JsonNode make_node(JsonType type) const;
    void attach(JsonNode&& node);
    bool add_scalar(JsonType type, std::string text);
    bool open(JsonType type);
    bool close();

    bool in_object() const { return !frames_.empty() && frames_.back().node.is_object(); }
    std::string container_pointer() const;
    std::string value_pointer() const;
    void report(std::size_t offset, std::string pointer, std::string message);

    bool fail_string(std::size_t start, std::size_t offset, std::string_view lexer_message);
    bool fail_number(std::size_t start, std::string pointer);
    bool fail_token(std::size_t start, const Separators& separators);
    std::size_t bad_utf8_start(std::size_t offset) const;
    std::string_view word_at(std::size_t start) const;
    std::string describe_token(std::size_t start) const;
    std::string hint(std::size_t start, bool key_expected) const;
    std::string opened_at() const;

    std::shared_ptr<const std::string> file_;
    std::string_view text_;
    LineIndex lines_;
    Diagnostics& diagnostics_;
    std::size_t taken_ = 0;    // by the lexer
    std::size_t last_end_ = 0; // of the last token with an event, or of what was skipped since
    std::optional<std::size_t> last_number_; // its start, if that token was a number
    bool boolean_ = false;
    std::vector<Frame> frames_;
    std::optional<JsonNode> root_;
};

std::optional<JsonNode> JsonTreeBuilder::run() {
    // Comments are let through here only to be reported, all of them, by skip_to_token().
    const bool accepted = nlohmann::json::sax_parse(
        CountingIterator(text_.data(), &taken_),
        CountingIterator(text_.data() + text_.size(), &taken_), this,
        nlohmann::json::input_format_t::json, /*strict=*/true, /*ignore_comments=*/true);
    if (!accepted)
        return std::nullopt;
    skip_to_token(text_.size());
    return std::move(root_);
}

/// Moves last_end_ to the start of the next token, at most to `limit`.
JsonTreeBuilder::Separators JsonTreeBuilder::skip_to_token(std::size_t limit) {
    Separators seen;
    while (last_end_ < limit) {
        const char c = text_[last_end_];
        if (c == ',')
            seen.comma = last_end_;
        else if (c == ':')
            seen.colon = true;
        else if (!is_blank(c) && c != '/')
            break;
        if (c != '/') {
            ++last_end_;
            continue;
        }
        // The end of a comment as nlohmann's lexer sees it: CR ends a line too.
        const bool line_comment = text_.substr(last_end_, 2) == "//";
        const std::size_t found =
            line_comment ? text_.find_first_of("\r\n", last_end_) : text_.find("*/", last_end_ + 2);
        if (!line_comment && (text_.substr(last_end_, 2) != "/*" || found == text_.npos))
            break; // no comment, or one without an end: a syntax error, reported as that
        const std::size_t end =
            found == text_.npos ? text_.size() : found + (line_comment ? 0U : 2U);
        report_comment(last_end_, end);
        last_end_ = end;
    }
    return seen;
}

void JsonTreeBuilder::report_comment(std::size_t start, std::size_t end) {
    report(start, container_pointer(),
           fmt::format("comment {}; JSON has no comments: remove it",
                       in_quotes(text_.substr(start, end - start))));
}

/// The longest run that could be meant as one number. In a good file that is the number; where it
/// is longer than what the lexer took ("01", "1.2.3") the parser fails next, inside the run.
std::size_t JsonTreeBuilder::number_end(std::size_t start) const {
    std::size_t end = start;
    while (end < text_.size() && is_number_byte(text_[end]))
        ++end;
    return end;
}

JsonNode JsonTreeBuilder::make_node(JsonType type) const {
    JsonNode node;
    node.type_ = type;
    node.file_ = file_;
    node.position_ = lines_.at(last_end_);
    node.key_position_ = node.position_;
    node.pointer_ = value_pointer();
    if (in_object() && frames_.back().key) {
        node.key_ = frames_.back().key->name;
        node.key_position_ = frames_.back().key->at;
    }
    return node;
}

void JsonTreeBuilder::attach(JsonNode&& node) {
    if (frames_.empty()) {
        root_ = std::move(node);
        return;
    }
    frames_.back().node.children_.push_back(std::move(node));
    frames_.back().key.reset();
}

bool JsonTreeBuilder::add_scalar(JsonType type, std::string text) {
    skip_to_token(taken_);
    const std::size_t start = last_end_;
    JsonNode node = make_node(type);
    last_number_.reset();
    if (type == JsonType::number) {
        last_number_ = start;
        last_end_ = number_end(start);
        node.text_ = text_.substr(start, last_end_ - start);
    } else {
        last_end_ = taken_;
        node.text_ = std::move(text);
        node.boolean_ = type == JsonType::boolean && boolean_;
    }
    attach(std::move(node));
    return true;
}

bool JsonTreeBuilder::open(JsonType type) {
    skip_to_token(taken_);
    if (frames_.size() == max_json_depth) {
        report(last_end_, {},
               fmt::format("arrays and objects nested too deep; at most {} levels are allowed",
                           max_json_depth));
        return false;
    }
    frames_.push_back({make_node(type), {}, {}});
    last_end_ = taken_;
    last_number_.reset();
    return true;
}

bool JsonTreeBuilder::close() {
    skip_to_token(taken_);
    JsonNode node = std::move(frames_.back().node);
    frames_.pop_back();
    attach(std::move(node));
    last_end_ = taken_;
    last_number_.reset();
    return true;
}

bool JsonTreeBuilder::key(std::string& name) {
    skip_to_token(taken_);
    Frame& frame = frames_.back();
    const Position at = lines_.at(last_end_);
    const auto [first, is_new] = frame.key_lines.try_emplace(name, at.line);
    if (!is_new) {
        report(last_end_, frame.node.pointer_ + pointer_token(name),
               fmt::format("duplicate key {}; first given at line {}", in_quotes(name),
                           first->second));
    }
    frame.key = Key{std::move(name), at};
    last_end_ = taken_;
    last_number_.reset();
    return true;
}

std::string JsonTreeBuilder::container_pointer() const {
    return frames_.empty() ? std::string() : frames_.back().node.pointer_;
}

/// Of the value that comes next.
std::string JsonTreeBuilder::value_pointer() const {
    if (frames_.empty())
        return {};
    const Frame& frame = frames_.back();
    if (frame.node.is_array())
        return fmt::format("{}/{}", frame.node.pointer_, frame.node.children_.size());
    return frame.node.pointer_ + (frame.key ? pointer_token(frame.key->name) : std::string());
}

void JsonTreeBuilder::report(std::size_t offset, std::string pointer, std::string message) {
    diagnostics_.add({*file_, lines_.at(offset), std::move(pointer), std::move(message)});
}

bool JsonTreeBuilder::parse_error(std::size_t taken, const std::string& /*token*/,
                                  const nlohmann::json::exception& error) {
    constexpr int number_overflow = 406;
    // "[json.exception...] parse error at line 1, column 2: syntax error while parsing value -
    // invalid string: ill-formed UTF-8 byte; last read: ...". Up to the first dash the words are
    // nlohmann's own; the lexer's complaint, if it has one, follows.
    std::string_view what = error.what();
    const std::size_t dash = what.find(" - ");
    const std::string_view complaint = dash == what.npos ? what : what.substr(dash + 3);

    // Reading the end of the text counts as taking a character, each time.
    const std::size_t offset = std::min(taken - 1, text_.size());
    const bool bad_number = complaint.starts_with("invalid number");
    if (last_number_ && (offset < last_end_ ||
                         (offset == last_end_ && (bad_number || (offset < text_.size() &&
                                                                 is_word_byte(text_[offset])))))) {
        // The text goes on where the lexer saw the number's end: "01", "0x10", "12abc".
        const Frame* frame = frames_.empty() ? nullptr : &frames_.back();
        return fail_number(*last_number_, frame != nullptr ? frame->node.children_.back().pointer_
                                                           : std::string());
    }
    const Separators separators = skip_to_token(offset);
    const std::size_t start = last_end_;
    if (complaint.starts_with("invalid string"))
        return fail_string(start, offset, complaint);
    if (error.id == number_overflow) {
        report(start, value_pointer(),
               fmt::format("the number {} is beyond the range of a double; at most about 1.8e308",
                           shortened(text_.substr(start, number_end(start) - start))));
        return false;
    }
    if (bad_number)
        return fail_number(start, value_pointer());
    return fail_token(start, separators);
}

bool JsonTreeBuilder::fail_string(std::size_t start, std::size_t offset,
                                  std::string_view lexer_message) {
    const bool value_expected = !in_object() || frames_.back().key.has_value();
    const std::string pointer = value_expected ? value_pointer() : container_pointer();
    const auto contains = [&](std::string_view part) {
        return lexer_message.find(part) != lexer_message.npos;
    };

    if (offset == text_.size()) {
        report(start, pointer, "the string is not closed; it needs a '\"' at its end");
    } else if (text_[offset] == '\n' || text_[offset] == '\r') {
        report(start, pointer,
               "the string is not closed on its line; a line break in a string is written \\n");
    } else if (contains("ill-formed UTF-8")) {
        const std::size_t bad = bad_utf8_start(offset);
        report(bad, pointer,
               fmt::format("invalid UTF-8 in a string (byte 0x{:02X}); the file must be UTF-8",
                           static_cast<unsigned>(static_cast<unsigned char>(text_[bad]))));
    } else if (contains("forbidden character after backslash")) {
        report(
            offset - 1, pointer,
            fmt::format("unknown escape {} in a string; allowed: \\\" \\\\ \\/ \\b \\f \\n \\r \\t "
                        "\\uXXXX",
                        describe_token(offset - 1)));
    } else if (contains("4 hex digits")) {
        report(text_.rfind("\\u", offset), pointer,
               "\\u in a string must be followed by 4 hexadecimal digits");
    } else if (contains("surrogate")) {
        std::size_t escape = text_.rfind("\\u", offset);
        // A high surrogate followed by some other complete \uXXXX: the first is the culprit.
        if (contains("must be followed") && offset == escape + 5)
            escape -= 6;
        report(escape, pointer,
               "unpaired surrogate in a string; \\uD800..\\uDBFF must be followed by "
               "\\uDC00..\\uDFFF");
    } else {
        // The other control characters, in nlohmann's words.
        constexpr std::string_view prefix = "invalid string: ";
        const std::size_t end = std::min(lexer_message.find("; last read"), lexer_message.size());
        report(offset, pointer,
               std::string(lexer_message.substr(prefix.size(), end - prefix.size())) +
                   " in a string");
    }
    return false;
}

bool JsonTreeBuilder::fail_number(std::size_t start, std::string pointer) {
    report(start, std::move(pointer),
           fmt::format("malformed number {}; write it as in 10, -2.5 or 1e3: decimal, no leading "
                       "zero, '+' or '.'",
                       in_quotes(word_at(start))));
    return false;
}

bool JsonTreeBuilder::fail_token(std::size_t start, const Separators& separators) {
    const bool at_end = start == text_.size();
    const char c = at_end ? '\0' : text_[start];
    if (!at_end && c == '/') {
        report(start, container_pointer(),
               text_.substr(start, 2) == "/*" ? "comment that is not closed; JSON has no comments"
                                              : "unexpected '/'; JSON has no comments either");
        return false;
    }
    if (frames_.empty() && root_) {
        report(start, {},
               fmt::format("unexpected {} after the end of the JSON value; a file holds one value",
                           describe_token(start)));
        return false;
    }
    if (frames_.empty() && at_end) {
        report(start, {}, "the file is empty; a JSON value is expected");
        return false;
    }
    if (separators.comma && (c == '}' || c == ']')) {
        report(*separators.comma, container_pointer(),
               fmt::format("',' before '{}'; JSON has no trailing commas: remove it", c));
        return false;
    }
    const bool first = frames_.empty() || frames_.back().node.children_.empty();
    std::string expected = "a value";
    std::string pointer = value_pointer();
    bool key_expected = false;
    if (in_object() && frames_.back().key) {
        if (!separators.colon)
            expected = "':' after the key " + in_quotes(frames_.back().key->name);
    } else if (!frames_.empty() && !first && !separators.comma) {
        expected = in_object() ? "',' or '}'" : "',' or ']'";
        pointer = container_pointer();
    } else if (in_object()) {
        key_expected = true;
        expected =
            first && !separators.comma ? "a key in double quotes or '}'" : "a key in double quotes";
    } else if (!frames_.empty() && first && !separators.comma) {
        expected = "a value or ']'";
    }
    const bool digit_next = start + 1 < text_.size() && is_digit(text_[start + 1]);
    if (!key_expected && (c == '+' || c == '.') && digit_next)
        return fail_number(start, std::move(pointer));
    report(start, std::move(pointer),
           fmt::format("unexpected {}; expected {}{}{}", describe_token(start), expected,
                       at_end ? opened_at() : std::string(), hint(start, key_expected)));
    return false;
}

/// Where the sequence starts that is broken at `offset`: there, or up to 3 bytes before.
std::size_t JsonTreeBuilder::bad_utf8_start(std::size_t offset) const {
    for (std::size_t back = 1; back <= 3 && back <= offset; ++back) {
        const char c = text_[offset - back];
        if (!is_continuation(c))
            return sequence_length(c) > back ? offset - back : offset;
    }
    return offset;
}

std::string_view JsonTreeBuilder::word_at(std::size_t start) const {
    std::size_t end = start;
    while (end < text_.size() && is_word_byte(text_[end]))
        ++end;
    return text_.substr(start, end - start);
}

std::string JsonTreeBuilder::describe_token(std::size_t start) const {
    if (start == text_.size())
        return "end of file";
    const char c = text_[start];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"')
        return "string";
    if (c == '\\') {
        const char next = start + 1 < text_.size() ? text_[start + 1] : '\0';
        const std::size_t bytes = std::max<std::size_t>(1, sequence_length(next));
        const std::string_view escape = text_.substr(start, 1 + bytes);
        return fmt::format("'{}'", is_valid_utf8(escape) ? escape : "\\");
    }
    if (is_word_byte(c))
        return (is_digit(c) || c == '-' ? "number " : "word ") + in_quotes(word_at(start));
    if (byte > 0x20 && byte < 0x7F)
        return fmt::format("'{}'", c);
    const std::string_view sequence = text_.substr(start, sequence_length(c));
    if (!sequence.empty() && is_valid_utf8(sequence))
        return fmt::format("character '{}'", sequence);
    return fmt::format("byte 0x{:02X}", static_cast<unsigned>(byte));
}

/// What often explains the token at `start`.
std::string JsonTreeBuilder::hint(std::size_t start, bool key_expected) const {
    if (start == text_.size())
        return {};
    const char c = text_[start];
    // Quotation marks U+2018..U+201F, as mail programs and word processors make them.
    const bool curly = text_.substr(start, 2) == "\xE2\x80" && start + 2 < text_.size() &&
                       static_cast<unsigned char>(text_[start + 2]) >= 0x98 &&
                       static_cast<unsigned char>(text_[start + 2]) <= 0x9F;
    if (c == '\'' || curly)
        return "; strings are put in plain double quotes";
    if (c == '#')
        return "; JSON has no comments";
    if (key_expected || !is_word_byte(c))
        return {};
    static constexpr std::array<std::string_view, 3> literals{"true", "false", "null"};
    return suggestion(did_you_mean(word_at(start), literals));
}

std::string JsonTreeBuilder::opened_at() const {
    if (frames_.empty())
        return {};
    return fmt::format(" (the {} opens at line {})", in_object() ? "object" : "array",
                       frames_.back().node.position_.line);
}

std::optional<JsonNode> parse_json(std::string file, std::string_view text,
                                   Diagnostics& diagnostics) {
    const auto refuse = [&](Position at, std::string message) -> std::optional<JsonNode> {
        diagnostics.add({file, at, {}, std::move(message)});
        return std::nullopt;
    };
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        return refuse({}, "the file is UTF-16; save it as UTF-8");
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(byte_order_mark))
        refuse({}, "the file starts with a byte order mark; save it as UTF-8 without one");
    while (text.starts_with(byte_order_mark))
        text.remove_prefix(byte_order_mark.size());
    // nlohmann's lexer takes a NUL for the end of the text and would never see what follows.
    if (const std::size_t nul = text.find('\0'); nul != text.npos) {
        return refuse(LineIndex(text).at(nul),
                      "NUL byte; the file must be UTF-8 text (is it binary, or UTF-16?)");
    }
    return JsonTreeBuilder(std::make_shared<const std::string>(file), text, diagnostics).run();
}

} // namespace uringsim::scenarios
