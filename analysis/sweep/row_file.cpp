#include "analysis/sweep/row_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace uringsim::analysis {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 16;

} // namespace

std::optional<RowFile> RowFile::open(const std::string& path, bool resume, std::string& error) {
    RowFile file(path, ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file.fd_ < 0) {
        error = std::strerror(errno);
        return std::nullopt;
    }
    struct stat status {};
    const bool regular = ::fstat(file.fd_, &status) == 0 && S_ISREG(status.st_mode);
    if (!regular && resume) {
        error = "is no regular file, so there is nothing to resume";
        return std::nullopt;
    }
    if (regular && ::flock(file.fd_, LOCK_EX | LOCK_NB) != 0) {
        error = errno == EWOULDBLOCK ? "another sweep writes to it" : std::strerror(errno);
        return std::nullopt;
    }
    if (regular && !resume && !file.cut(0, error)) {
        return std::nullopt;
    }
    return file;
}

RowFile::~RowFile() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

bool RowFile::cut(std::uint64_t bytes, std::string& error) {
    if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0 ||
        ::lseek(fd_, static_cast<off_t>(bytes), SEEK_SET) < 0) {
        error = std::strerror(errno);
        return false;
    }
    return true;
}

bool RowFile::append(std::string_view lines, std::string& error) {
    while (!lines.empty()) {
        const ssize_t written = ::write(fd_, lines.data(), lines.size());
        if (written < 0 && errno != EINTR) {
            error = std::strerror(errno);
            return false;
        }
        lines.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
    return true;
}

std::optional<LineReader> LineReader::open(const std::string& path, std::string& error,
                                           std::uint64_t from) {
    LineReader reader(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (reader.fd_ < 0 ||
        (from > 0 && ::lseek(reader.fd_, static_cast<off_t>(from), SEEK_SET) < 0)) {
        error = std::strerror(errno);
        return std::nullopt;
    }
    reader.position_ = from;
    return reader;
}

LineReader::LineReader(LineReader&& other) noexcept
    : fd_(other.fd_)
    , buffer_(std::move(other.buffer_))
    , used_(other.used_)
    , position_(other.position_)
    , torn_(other.torn_)
    , failure_(std::move(other.failure_)) {
    other.fd_ = -1;
}

LineReader::~LineReader() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

std::optional<std::string_view> LineReader::next() {
    for (;;) {
        const std::size_t end = buffer_.find('\n', used_);
        if (end != std::string::npos) {
            const std::string_view line = std::string_view(buffer_).substr(used_, end - used_);
            position_ += line.size() + 1;
            used_ = end + 1;
            return line;
        }
        buffer_.erase(0, used_);
        used_ = 0;
        const std::size_t before = buffer_.size();
        buffer_.resize(before + chunk_bytes);
        const ssize_t got = ::read(fd_, buffer_.data() + before, chunk_bytes);
        buffer_.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            failure_ = got < 0 ? std::strerror(errno) : "";
            torn_ = !buffer_.empty();
            return std::nullopt;
        }
    }
}

std::string LineReader::at(std::uint64_t position) const {
    std::string line;
    std::string chunk(chunk_bytes, '\0');
    for (;;) {
        const ssize_t got =
            ::pread(fd_, chunk.data(), chunk.size(), static_cast<off_t>(position + line.size()));
        if (got <= 0) {
            return line;
        }
        const std::size_t end = chunk.find('\n');
        if (end < static_cast<std::size_t>(got)) {
            return line.append(chunk, 0, end);
        }
        line.append(chunk, 0, static_cast<std::size_t>(got));
    }
}

} // namespace uringsim::analysis
