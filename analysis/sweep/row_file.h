#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace uringsim::analysis {

/// The output of a sweep: a file to which whole lines are appended, locked against a second sweep
/// that would write to it too. Whatever a kill leaves behind, at most the last line is incomplete,
/// and opening the file to resume cuts it off.
class RowFile {
  public:
    /// Opens `path` for writing, empty or with what is there if `resume`. Nothing, with `error`
    /// set, where it cannot be written or another sweep has it.
    static std::optional<RowFile> open(const std::string& path, bool resume, std::string& error);

    RowFile(RowFile&& other) noexcept
        : path_(std::move(other.path_))
        , fd_(other.fd_) {
        other.fd_ = -1;
    }
    RowFile& operator=(RowFile&&) = delete;
    ~RowFile();

    const std::string& path() const { return path_; }

    /// Cuts the file to its first `bytes` bytes; what follows is appended behind them.
    bool cut(std::uint64_t bytes, std::string& error);

    /// Appends whole lines in one write.
    bool append(std::string_view lines, std::string& error);

  private:
    RowFile(std::string path, int fd)
        : path_(std::move(path))
        , fd_(fd) {}

    std::string path_;
    int fd_;
};

/// Reads a file line by line, without holding more than one. Lines end in a newline; a rest without
/// one is not given out.
class LineReader {
  public:
    /// Starts at a position in the file; a pipe has none but the first.
    static std::optional<LineReader> open(const std::string& path, std::string& error,
                                          std::uint64_t from = 0);

    LineReader(LineReader&& other) noexcept;
    LineReader& operator=(LineReader&&) = delete;
    ~LineReader();

    /// The next line, without its newline; nothing at the end. Valid until the next call.
    std::optional<std::string_view> next();

    /// Where the next line starts.
    std::uint64_t position() const { return position_; }
    /// Why reading ended before the file did; empty where it did not.
    const std::string& failure() const { return failure_; }
    /// True once the file ended in the middle of a line.
    bool torn() const { return torn_; }
    /// What there is of that line.
    std::string_view unfinished() const { return torn_ ? std::string_view(buffer_) : ""; }

    /// The line at a position, whatever was read before.
    std::string at(std::uint64_t position) const;

  private:
    explicit LineReader(int fd)
        : fd_(fd) {}

    int fd_;
    std::string buffer_;
    std::size_t used_ = 0;
    std::uint64_t position_ = 0;
    bool torn_ = false;
    std::string failure_;
};

} // namespace uringsim::analysis
