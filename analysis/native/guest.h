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
    std::uint32_t timeout_s = 300; ///< of real time, a job
};

/// What a guest is to run: the text of a scenario file, the scenario that it makes, and how.
struct GuestWork {
    scenarios::Scenario scenario;
    std::string scenario_text;
    Job job;
};

/// QEMU's arguments, the program first.
std::vector<std::string> qemu_command(const GuestOptions& options, const std::string& initramfs);

/// The records in what a guest printed, in order.
std::vector<Record> parse_console(std::string_view console);

/// Why guests cannot run here, with how to change it; nothing where they can.
std::optional<std::string> why_no_guests(const std::string& kernel);

/// Runs scenarios in a guest, one after the other in one boot: each finds the kernel as the one
/// before left it. Throws Unavailable and NativeError.
std::vector<NativeRun> run_guest(const std::vector<GuestWork>& work, const GuestOptions& options);

} // namespace uringsim::analysis::native
