#include "analysis/cli/output.h"

#include "analysis/cli/cli.h"

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

bool replace(const fs::path& path, std::string_view text, std::string& error) {
    std::string name;
    Descriptor file(make_beside(path, name));
    if (!file.is_open()) {
        return fail(error);
    }
    const bool done = write_all(file.get(), text) && ::fchmod(file.get(), mode_for(path)) == 0 &&
                      file.close() && ::rename(name.c_str(), path.c_str()) == 0;
    if (!done) {
        fail(error);
        ::unlink(name.c_str());
    }
    return done;
}

bool write_in_place(const fs::path& path, std::string_view text, std::string& error) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return file.is_open() && write_all(file.get(), text) && file.close() ? true : fail(error);
}

} // namespace

std::optional<OutputFile> OutputFile::open(const std::string& path, std::string& error) {
    std::error_code ignored;
    fs::path target = fs::weakly_canonical(path, ignored);
    if (ignored || target.empty()) {
        target = path;
    }
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
    return replaced_ ? replace(path_, text, error) : write_in_place(path_, text, error);
}

std::optional<ResultWriter> ResultWriter::open(const Options& options,
                                               scenarios::Diagnostics& diagnostics) {
    ResultWriter writer;
    std::string error;
    const auto index = scenarios::parse_choice(options.get("format").value_or("text"),
                                               export_format_names(), error);
    if (index) {
        writer.exporter_ = export_formats()[*index].make();
    } else {
        diagnostics.add_option("--format", error);
    }
    if (const auto path = options.get("output"); path && *path != "-") {
        writer.path_ = *path;
        writer.file_ = OutputFile::open(*path, error);
        if (!writer.file_) {
            diagnostics.add_option("--output " + *path, "cannot be written: " + error);
            return std::nullopt;
        }
    }
    return index ? std::optional(std::move(writer)) : std::nullopt;
}

int ResultWriter::write(const std::string& text, const Invocation& invocation) const {
    if (!file_) {
        invocation.out << text;
        return exit_status::done;
    }
    std::string error;
    if (!file_->write(text, error)) {
        invocation.err << "uringsim: " << path_ << " cannot be written: " << error << '\n';
        return exit_status::failed;
    }
    return exit_status::done;
}

} // namespace uringsim::analysis
