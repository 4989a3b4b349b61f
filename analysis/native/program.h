#pragma once

#include "analysis/native/record.h"
#include "scenarios/scenario.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis::native {

/// What a run of a program is for. Counting makes the kernel about three times slower, and reading
/// files back disturbs the slabs, so each is a run of its own.
enum class Purpose : std::uint8_t {
    check, ///< read installed files back; nothing is timed or counted
    time,
    count
};

struct ProgramOptions {
    Purpose purpose = Purpose::check;
    std::vector<int> cpus;          ///< host CPU of each task, in the order of the scenario
    std::uint32_t null_calls = 200; ///< null calls timed before and after a round; 0: none
    bool kernel_probes = false;     ///< also count functions by kprobes (guests)
    std::uint32_t settle_us = 0;    ///< asleep after a ring is closed, for its exit work to be done
    bool subtract_clock = false;    ///< take the clock's own cost off (instruction clocks)
};

/// Why this build or host cannot run io_uring programs at all, in one line with what to do about
/// it; nothing where it can.
std::optional<std::string> why_unavailable();

/// Why this scenario cannot run on a real kernel: it asks for a fault, say. Nothing where it can.
std::optional<std::string> why_refused(const scenarios::Scenario& scenario);

/// Runs the scenario's program in this process, a thread a task, and checks every result. Call it
/// in a child process: it changes limits and leaves rings to the process's end after an error.
Record run_program(const scenarios::Scenario& scenario, const ProgramOptions& options);

} // namespace uringsim::analysis::native
