#include "analysis/native/child_process.h"

#include "analysis/native/native.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace uringsim::analysis::native {

namespace {

[[noreturn]] void start(const std::vector<std::string>& command, int output) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // nothing is left running where we die
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    std::vector<char*> argv;
    for (const std::string& word : command) {
        argv.push_back(const_cast<char*>(word.c_str()));
    }
    argv.push_back(nullptr);
    ::execvp(argv.front(), argv.data());
    ::_exit(127);
}

} // namespace

ChildOutput run_child(const std::vector<std::string>& command, std::uint32_t timeout_s) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        throw NativeError(fmt::format("no pipe: {}", std::strerror(errno)));
    }
    const pid_t pid = ::fork();
    if (pid == 0) {
        start(command, pipe[1]);
    }
    ::close(pipe[1]);
    if (pid < 0) {
        ::close(pipe[0]);
        throw NativeError(fmt::format("no process: {}", std::strerror(errno)));
    }
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::seconds(timeout_s);
    ChildOutput output;
    std::array<char, 65536> buffer{};
    while (true) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd wait{pipe[0], POLLIN, 0};
        const int ready = left > 0 ? ::poll(&wait, 1, static_cast<int>(left)) : 0;
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready <= 0) {
            output.timed_out = true;
            ::kill(pid, SIGKILL);
            break;
        }
        const ssize_t count = ::read(pipe[0], buffer.data(), buffer.size());
        if (count <= 0) {
            break;
        }
        output.text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    ::close(pipe[0]);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    constexpr int not_started = 127;
    if (WIFEXITED(status) && WEXITSTATUS(status) == not_started) {
        throw NativeError(fmt::format("{} cannot be started", command.front()));
    }
    return output;
}

} // namespace uringsim::analysis::native
