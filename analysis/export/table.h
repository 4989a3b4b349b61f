#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis {

/// What text output keeps to, so that it can be pasted into a mail.
inline constexpr std::size_t text_columns = 80;

enum class Align { left, right };

struct Column {
    std::string title;
    Align align = Align::right;
};

/// Cells under titles; the first column names the rows.
class Table {
  public:
    explicit Table(std::vector<Column> columns)
        : columns_(std::move(columns)) {}

    void add_row(std::vector<std::string> cells);
    bool empty() const { return rows_.empty(); }

    /// Leaves out each column without a single cell that is not empty.
    void drop_empty_columns();

    /// Aligned by blanks, no blank at a line's end. Columns that do not fit `width` follow below,
    /// beside the first column once more.
    std::string to_text(std::size_t width = text_columns) const;

    /// A pipe table, as GitHub reads it.
    std::string to_markdown() const;

  private:
    std::vector<std::size_t> widths() const;
    std::string text_of(const std::vector<std::size_t>& columns,
                        const std::vector<std::size_t>& widths) const;

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// The number of characters of a UTF-8 text.
std::size_t display_width(std::string_view text);

/// The text with its middle left out where it has more than `width` characters.
std::string shortened(std::string_view text, std::size_t width);

/// A blank at which wrapped() does not break a line; it becomes an ordinary one.
inline constexpr char no_break = '\x1f';

/// Words put into lines of at most `width` columns; lines after the first start with `indent`
/// blanks. No newline at the end.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = text_columns);

} // namespace uringsim::analysis
