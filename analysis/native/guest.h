#pragma once

#include "analysis/native/job.h"
#include "analysis/native/native.h"
#include "analysis/native/record.h"

#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis::native {

/// A kernel that runs in QEMU under its instruction clock (TCG, -icount shift=0): a guest ns is one
/// guest instruction, and the same guest gives the same bytes each time.
struct GuestOptions {
    std::string kernel; ///< a kernel image: an unpacked ELF image (faster) or a bzImage
    int cpus = 1;       ///< more than one: QEMU runs them in turn; 6.1 does not come up so
    Job job;
    std::uint32_t timeout_s = 300; ///< of real time
};

/// QEMU's arguments, the program first.
std::vector<std::string> qemu_command(const GuestOptions& options, const std::string& initramfs);

/// The records in what a guest printed, in order.
std::vector<Record> parse_console(std::string_view console);

/// Why guests cannot run here, with how to change it; nothing where they can.
std::optional<std::string> why_no_guests(const std::string& kernel);

/// Runs a scenario file's text in a guest. Throws Unavailable and NativeError.
NativeRun run_guest(const scenarios::Scenario& scenario, std::string_view scenario_text,
                    const GuestOptions& options);

} // namespace uringsim::analysis::native
