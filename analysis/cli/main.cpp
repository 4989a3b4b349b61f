#include "analysis/cli/cli.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

/// Standard output, written with one's own hands: a sweep may write more than fits in memory, and
/// the library's stream does not say why a write failed.
class StandardOutput final : public std::streambuf {
  public:
    StandardOutput() { setp(buffer_.data(), buffer_.data() + buffer_.size()); }

    /// Writes what is pending; false, also for good, after the first failure.
    bool flush() {
        std::string_view text(pbase(), static_cast<std::size_t>(pptr() - pbase()));
        while (error_ == 0 && !text.empty()) {
            const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
            if (written >= 0) {
                text.remove_prefix(static_cast<std::size_t>(written));
            } else if (errno != EINTR) {
                error_ = errno;
            }
        }
        setp(buffer_.data(), buffer_.data() + buffer_.size());
        return error_ == 0;
    }

    int error() const { return error_; }

  protected:
    int_type overflow(int_type character) override {
        if (!flush()) {
            return traits_type::eof();
        }
        if (traits_type::eq_int_type(character, traits_type::eof())) {
            return traits_type::not_eof(character);
        }
        return sputc(traits_type::to_char_type(character));
    }

    int sync() override { return flush() ? 0 : -1; }

  private:
    std::array<char, std::size_t{1} << 16> buffer_;
    int error_ = 0;
};

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN); // a reader that went away is an error of write
    const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
    StandardOutput output;
    std::ostream out(&output);
    const int status = uringsim::analysis::run_cli(args, out, std::cerr);
    if (!output.flush()) {
        std::cerr << "uringsim: cannot write to standard output: " << std::strerror(output.error())
                  << '\n';
        return uringsim::analysis::exit_status::failed;
    }
    return status;
}
