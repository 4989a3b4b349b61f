#include "analysis/native/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace uringsim::analysis::native {

namespace {

constexpr std::string_view prefix = "uringsim: ";

/// Takes the next word off the front of `text`.
std::string_view next_word(std::string_view& text) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

template <class Number>
bool read_number(std::string_view& text, Number& value) {
    const std::string_view word = next_word(text);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() && !word.empty();
}

bool read_round(std::string_view text, Record& record) {
    Round round;
    int switched = 0;
    if (!read_number(text, round.phase) || !read_number(text, round.ns) ||
        !read_number(text, round.null_ns) || !read_number(text, switched)) {
        return false;
    }
    round.switched = switched != 0;
    record.rounds.push_back(round);
    return true;
}

bool read_count(std::string_view text, Record& record) {
    Count count;
    std::string_view scope = next_word(text);
    count.counter = std::string(next_word(text));
    if (scope != "run") {
        std::size_t phase = 0;
        if (!read_number(scope, phase)) {
            return false;
        }
        count.phase = phase;
    }
    if (count.counter.empty() || !read_number(text, count.value)) {
        return false;
    }
    record.counts.push_back(std::move(count));
    return true;
}

bool read_line(std::string_view line, Record& record) {
    const std::string_view kind = next_word(line);
    if (kind == "round") {
        return read_round(line, record);
    }
    if (kind == "count") {
        return read_count(line, record);
    }
    if (kind == "absent") {
        const std::string_view counter = next_word(line);
        record.absent.push_back({std::string(counter), std::string(line)});
        return !counter.empty();
    }
    if (kind == "note") {
        record.notes.emplace_back(line);
        return true;
    }
    if (kind == "missing") {
        record.missing = std::string(line);
        return true;
    }
    if (kind == "error") {
        record.error = std::string(line);
        return true;
    }
    if (kind == "release") {
        record.release = std::string(line);
        return true;
    }
    if (kind == "end") {
        record.complete = true;
        return true;
    }
    return false;
}

std::string one_line(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return text;
}

} // namespace

std::string to_lines(const Record& record) {
    std::string text = fmt::format("{}release {}\n", prefix, record.release);
    for (const Round& round : record.rounds) {
        text += fmt::format("{}round {} {} {:.4f} {}\n", prefix, round.phase, round.ns,
                            round.null_ns, round.switched ? 1 : 0);
    }
    for (const Count& count : record.counts) {
        text += fmt::format("{}count {} {} {}\n", prefix,
                            count.phase ? std::to_string(*count.phase) : "run", count.counter,
                            count.value);
    }
    for (const Absence& absence : record.absent) {
        text += fmt::format("{}absent {} {}\n", prefix, absence.counter, one_line(absence.reason));
    }
    for (const std::string& note : record.notes) {
        text += fmt::format("{}note {}\n", prefix, one_line(note));
    }
    if (record.missing) {
        text += fmt::format("{}missing {}\n", prefix, one_line(*record.missing));
    }
    if (record.error) {
        text += fmt::format("{}error {}\n", prefix, one_line(*record.error));
    }
    return text + fmt::format("{}end\n", prefix);
}

Record parse_record(std::string_view text) {
    Record record;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        // A kernel message may stand before ours on the same line.
        const std::size_t start = line.find(prefix);
        if (start == std::string_view::npos) {
            continue;
        }
        if (!read_line(line.substr(start + prefix.size()), record) && !record.error) {
            record.error = fmt::format("a line that cannot be read: \"{}\"", line);
        }
    }
    return record;
}

} // namespace uringsim::analysis::native
