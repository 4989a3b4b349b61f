#include "analysis/export/table.h"

#include <algorithm>

namespace uringsim::analysis {

namespace {

constexpr std::size_t gap = 2;

bool starts_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

/// The byte at which the character of that index starts.
std::size_t byte_of(std::string_view text, std::size_t character) {
    std::size_t seen = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (starts_character(text[i]) && seen++ == character) {
            return i;
        }
    }
    return text.size();
}

std::string padded(const std::string& text, std::size_t width, Align align) {
    const std::string blanks(width - std::min(width, display_width(text)), ' ');
    return align == Align::left ? text + blanks : blanks + text;
}

std::string without_trailing_blanks(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

/// A cell of a pipe table: a bar or a line break would end it.
std::string markdown_cell(std::string_view text) {
    std::string cell;
    for (const char c : text) {
        if (c == '|') {
            cell += '\\';
        }
        cell += c == '\n' ? ' ' : c;
    }
    return cell;
}

} // namespace

void Table::add_row(std::vector<std::string> cells) {
    cells.resize(columns_.size());
    rows_.push_back(std::move(cells));
}

void Table::drop_empty_columns() {
    for (std::size_t i = columns_.size(); i-- > 0;) {
        if (std::ranges::any_of(rows_, [&](const auto& row) { return !row[i].empty(); })) {
            continue;
        }
        const auto offset = static_cast<std::ptrdiff_t>(i);
        columns_.erase(columns_.begin() + offset);
        for (auto& row : rows_) {
            row.erase(row.begin() + offset);
        }
    }
}

std::vector<std::size_t> Table::widths() const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t width = display_width(columns_[i].title);
        for (const auto& row : rows_) {
            width = std::max(width, display_width(row[i]));
        }
        result.push_back(width);
    }
    return result;
}

std::string Table::text_of(const std::vector<std::size_t>& columns,
                           const std::vector<std::size_t>& widths) const {
    const auto line = [&](const auto& cell) {
        std::string text;
        for (const std::size_t i : columns) {
            text += std::string(text.empty() ? 0 : gap, ' ') +
                    padded(cell(i), widths[i], columns_[i].align);
        }
        return without_trailing_blanks(std::move(text)) + '\n';
    };
    std::string text = line([&](std::size_t i) { return columns_[i].title; });
    for (const auto& row : rows_) {
        text += line([&](std::size_t i) { return row[i]; });
    }
    return text;
}

std::string Table::to_text(std::size_t width) const {
    if (columns_.empty()) {
        return "";
    }
    const std::vector<std::size_t> all = widths();
    std::string text;
    std::vector<std::size_t> part{0};
    std::size_t used = all[0];
    for (std::size_t i = 1; i < columns_.size(); ++i) {
        if (used + gap + all[i] > width && part.size() > 1) {
            text += text_of(part, all) + '\n';
            part = {0};
            used = all[0];
        }
        part.push_back(i);
        used += gap + all[i];
    }
    return text + text_of(part, all);
}

std::string Table::to_markdown() const {
    std::string text = "|";
    std::string rule = "|";
    for (const Column& column : columns_) {
        text += ' ' + markdown_cell(column.title) + " |";
        rule += column.align == Align::left ? " :-- |" : " --: |";
    }
    text += '\n' + rule + '\n';
    for (const auto& row : rows_) {
        text += '|';
        for (const std::string& cell : row) {
            text += ' ' + markdown_cell(cell) + " |";
        }
        text += '\n';
    }
    return text;
}

std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string shortened(std::string_view text, std::size_t width) {
    constexpr std::string_view dots = "...";
    const std::size_t length = display_width(text);
    if (length <= width || width <= dots.size()) {
        return std::string(text);
    }
    const std::size_t kept = width - dots.size();
    const std::size_t head = (kept + 1) / 2;
    return std::string(text.substr(0, byte_of(text, head))) + std::string(dots) +
           std::string(text.substr(byte_of(text, length - (kept - head))));
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
    std::string result;
    std::size_t column = 0;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t blank = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, blank - at);
        const std::size_t needed = display_width(word);
        if (column > indent && column + 1 + needed > width) {
            result += '\n' + std::string(indent, ' ');
            column = indent;
        } else if (at > 0) {
            result += ' ';
            ++column;
        }
        result += word;
        column += needed;
        at = blank + 1;
    }
    std::ranges::replace(result, no_break, ' ');
    return result;
}

} // namespace uringsim::analysis
