#include "analysis/cli/cli.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

/// Written with one's own hands, because a stream does not say why a write failed.
bool write_standard_output(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            std::cerr << "uringsim: cannot write to standard output: " << std::strerror(errno)
                      << '\n';
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN); // a reader that went away is an error of write
    const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
    std::ostringstream out;
    const int status = uringsim::analysis::run_cli(args, out, std::cerr);
    if (!write_standard_output(out.str())) {
        return uringsim::analysis::exit_status::failed;
    }
    return status;
}
