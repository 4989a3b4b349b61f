#include "analysis/native/uring/clock.h"

#include <algorithm>
#include <limits>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace uringsim::analysis::native {

std::uint64_t now_ns() {
    constexpr std::uint64_t ns_a_second = 1'000'000'000;
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * ns_a_second +
           static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t clock_cost_ns() {
    constexpr int readings = 64;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < readings; ++i) {
        const std::uint64_t before = now_ns();
        least = std::min(least, now_ns() - before);
    }
    return least;
}

double null_call_ns(std::uint32_t calls) {
    if (calls == 0) {
        return 0;
    }
    const std::uint64_t before = now_ns();
    for (std::uint32_t i = 0; i < calls; ++i) {
        ::syscall(SYS_getppid);
    }
    return static_cast<double>(now_ns() - before) / calls;
}

long involuntary_switches() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

} // namespace uringsim::analysis::native
