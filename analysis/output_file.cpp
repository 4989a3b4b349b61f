#include "analysis/output_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace uringsim::analysis {

namespace fs = std::filesystem;

namespace {

/// An open file; closes itself.
class Descriptor {
  public:
    explicit Descriptor(int fd)
        : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }

    bool is_open() const { return fd_ >= 0; }
    int get() const { return fd_; }

    /// Some file systems report a full disk only here.
    bool close() {
        const int fd = fd_;
        fd_ = -1;
        return ::close(fd) == 0;
    }

  private:
    int fd_;
};

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            return false;
        }
        text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
    return true;
}

/// Makes an empty file beside `path`; `name` gets its name. Its fd is negative where that failed.
int make_beside(const fs::path& path, std::string& name) {
    name = (path.parent_path() / fmt::format(".{}.XXXXXX", path.filename().string())).string();
    return ::mkostemp(name.data(), O_CLOEXEC);
}

/// The permissions that the file has, or that a new one would get.
mode_t mode_for(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) {
        return status.st_mode & 07777U;
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666U & ~mask;
}

/// Sets `error` from errno; false, for callers to return.
bool fail(std::string& error) {
    error = std::strerror(errno);
    return false;
}

/// Lets `source` write to an open file, in large pieces. False, with `error` set, where the source
/// gave up or the file takes no more.
bool pour(const TextSource& source, const Descriptor& file, std::string& error) {
    constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
    std::string pending;
    const auto flush = [&](std::string& write_error) {
        const bool written = write_all(file.get(), pending);
        pending.clear();
        return written || fail(write_error);
    };
    const TextSink sink = [&](std::string_view text, std::string& write_error) {
        pending += text;
        return pending.size() < chunk_bytes || flush(write_error);
    };
    return source(sink, error) && flush(error);
}

bool replace(const fs::path& path, const TextSource& source, std::string& error) {
    std::string name;
    Descriptor file(make_beside(path, name));
    if (!file.is_open()) {
        return fail(error);
    }
    const bool poured = pour(source, file, error);
    const bool done = poured && ::fchmod(file.get(), mode_for(path)) == 0 && file.close() &&
                      ::rename(name.c_str(), path.c_str()) == 0;
    if (poured && !done) {
        fail(error);
    }
    if (!done) {
        ::unlink(name.c_str());
    }
    return done;
}

bool write_in_place(const fs::path& path, const TextSource& source, std::string& error) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.is_open()) {
        return fail(error);
    }
    return pour(source, file, error) && (file.close() || fail(error));
}

/// The path with symbolic links followed, also a last one that leads to no file yet.
fs::path followed(const fs::path& path) {
    std::error_code error;
    const fs::path target = fs::weakly_canonical(path, error);
    if (error || target.empty()) {
        return path;
    }
    const fs::path link = fs::read_symlink(target, error);
    return error ? target : target.parent_path() / link;
}

} // namespace

std::optional<OutputFile> OutputFile::open(const std::string& path, std::string& error) {
    std::error_code ignored;
    fs::path target = followed(path);
    if (path.empty() || path.ends_with('/') || fs::is_directory(target, ignored)) {
        error = "names a folder, not a file";
        return std::nullopt;
    }
    if (fs::exists(target, ignored) && ::access(target.c_str(), W_OK) != 0) {
        fail(error);
        return std::nullopt;
    }
    if (fs::exists(target, ignored) && !fs::is_regular_file(target, ignored)) {
        return OutputFile(target, false);
    }
    std::string name;
    const Descriptor probe(make_beside(target, name));
    if (!probe.is_open()) {
        fail(error);
        return std::nullopt;
    }
    ::unlink(name.c_str());
    return OutputFile(target, true);
}

bool OutputFile::write(std::string_view text, std::string& error) const {
    return write_from([text](const TextSink& sink, std::string& why) { return sink(text, why); },
                      error);
}

bool OutputFile::write_from(const TextSource& source, std::string& error) const {
    return replaced_ ? replace(path_, source, error) : write_in_place(path_, source, error);
}

} // namespace uringsim::analysis
