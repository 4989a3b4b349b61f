#include "analysis/native/uring/tracefs.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

namespace uringsim::analysis::native {

namespace {

constexpr const char* mount_point = "/sys/kernel/tracing";

bool readable(const std::string& root) {
    return ::access((root + "/events/io_uring").c_str(), R_OK | X_OK) == 0;
}

} // namespace

std::optional<std::string> tracefs_root(std::string& why) {
    for (const char* root : {mount_point, "/sys/kernel/debug/tracing"}) {
        if (readable(root)) {
            return root;
        }
    }
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tracefs", mount_point, "tracefs", 0, nullptr) != 0) {
        why = std::string("tracefs is not readable and cannot be mounted (") +
              std::strerror(errno) + "): run as root on a kernel with CONFIG_FTRACE";
        return std::nullopt;
    }
    if (!readable(mount_point)) {
        why = "this kernel has no io_uring trace events";
        return std::nullopt;
    }
    return mount_point;
}

std::string read_first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

} // namespace uringsim::analysis::native
