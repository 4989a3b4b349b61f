// Operations that are one step each, and assertions.

#include "analysis/native/uring/program_thread.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace uringsim::analysis::native {

namespace op = scenarios::op;

void ProgramThread::run(const op::Submit& op) {
    ++own_.enters;
    check(ring(op.ring).enter(op.wait.value_or(0), op.wait.has_value()), op.expect,
          "io_uring_enter");
}

void ProgramThread::run(const op::Reap& op) {
    KernelRing& own = ring(op.ring);
    const std::uint32_t wanted = op.count.value_or(own.ready());
    for (std::uint32_t i = 0; i < wanted && !run_.stop; ++i) {
        const io_uring_cqe& cqe = wait_front(own, "a completion");
        const std::int32_t result = cqe.res;
        const std::uint64_t user_data = cqe.user_data;
        own.pop();
        ++own_.cqe_reaped;
        check(result, op.expect, "a completion");
        if (op.first_user_data && user_data != *op.first_user_data + i) {
            fail(fmt::format("completion {} carries user_data {}, expected {}", i, user_data,
                             *op.first_user_data + i));
        }
    }
}

void ProgramThread::run(const op::Poll& op) {
    KernelRing& own = ring(op.ring);
    io_uring_sqe& sqe = own.next_sqe();
    sqe.opcode = IORING_OP_POLL_ADD;
    sqe.fd = static_cast<int>(op.slot);
    sqe.flags = IOSQE_FIXED_FILE;
    sqe.poll32_events = 1; // POLLIN
    sqe.user_data = own.next_user_data++;
    ++own_.enters;
    if (own.enter(0, false) != 1) {
        fail("the poll was not submitted");
    }
    if (op.expect.kind == Expect::Kind::value) {
        const std::int32_t result = wait_front(own, "the poll's completion").res;
        own.pop();
        ++own_.cqe_reaped;
        check(result, op.expect, "poll");
        return;
    }
    ++polls_pending_;
}

void ProgramThread::run(const op::EndPoll& op) {
    if (polls_pending_ != 1) {
        throw NotHere(fmt::format("{}: {} polls wait for the file, and the kernel ends all at once",
                                  spec_.program[pc_].where, polls_pending_));
    }
    std::uint64_t value = 1;
    if (::write(run_.file, &value, sizeof value) != sizeof value) {
        fail("the polled file cannot be written");
    }
    wait_front(ring(op.ring), "the poll's completion");
    if (::read(run_.file, &value, sizeof value) != sizeof value) {
        fail("the polled file cannot be read");
    }
    polls_pending_ = 0;
}

void ProgramThread::run(const op::Sleep& op) {
    if (op.us == 0) {
        return;
    }
    constexpr std::uint64_t us_a_second = 1'000'000;
    constexpr std::uint64_t ns_a_us = 1'000;
    timespec time{static_cast<time_t>(op.us / us_a_second),
                  static_cast<long>(op.us % us_a_second * ns_a_us)};
    while (::clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) == EINTR) {
    }
}

void ProgramThread::run(const op::SetRlimitNofile& op) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = op.limit;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        throw NotHere(
            fmt::format("RLIMIT_NOFILE cannot be set to {}: {}", op.limit, std::strerror(errno)));
    }
}

void ProgramThread::run(const op::Assert& op) {
    std::uint64_t value = 0;
    switch (op.quantity) {
    case op::Quantity::cq_ready:
        value = ring(op.ring).ready();
        break;
    case op::Quantity::cq_dropped:
        value = ring(op.ring).dropped();
        break;
    case op::Quantity::files_installed:
        value = ring(op.ring).slots.used();
        break;
    default:
        return; // a state of the kernel that a program does not see
    }
    if (value != op.equals) {
        fail(fmt::format("assertion: the quantity is {}, expected {}", value, op.equals));
    }
}

} // namespace uringsim::analysis::native
