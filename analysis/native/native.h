#pragma once

#include "analysis/native/host.h"
#include "analysis/native/program.h"
#include "analysis/native/record.h"
#include "analysis/native/statistics.h"
#include "scenarios/result.h"
#include "scenarios/scenario.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace uringsim::analysis::native {

/// How a scenario is run on the kernel.
struct NativeOptions {
    bool count = true;
    bool time = true;
    bool check = true;            ///< first a run that reads installed files back
    std::uint32_t processes = 8;  ///< that are timed, one after the other
    std::vector<int> cpus;        ///< to use in place of those that this process may run on
    double reference_null_ns = 0; ///< see phase_times()
};

/// The kernel or host cannot do it. what() says in one line what is missing and how to get it.
class Unavailable : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The kernel did something else than the scenario says. what() says where and what.
class NativeError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A scenario as the kernel ran it.
struct NativeRun {
    /// The same structure as a simulated run's, less what cannot be known: no ledger, no snapshots,
    /// no memory, no fingerprint, and only the counters that could be counted. The machine's clock
    /// is 1000 MHz, so that a cycle is a ns (a guest's: an instruction). Rounds are those of all
    /// processes, as measured.
    scenarios::Result result;
    std::vector<PhaseTimes> times; ///< by phase; empty where nothing was timed
    std::vector<Absence> absent;   ///< counters, and why
    std::vector<std::string> notes;
    Host host;
    bool instructions = false; ///< a guest under an instruction clock
};

/// The host CPU of each task: tasks of one scenario CPU share one. Throws Unavailable where there
/// are too few. The last CPUs are taken first, since CPU 0 has the most interrupts.
std::vector<int> place_tasks(const scenarios::Scenario& scenario, std::vector<int> cpus);

/// Turns records of the same scenario into a run: times from `timed`, counts from `counted`.
NativeRun assemble(const scenarios::Scenario& scenario, const std::vector<Record>& timed,
                   const std::optional<Record>& counted, double reference_null_ns);

/// Runs a scenario on the running kernel, in child processes. Throws Unavailable and NativeError.
NativeRun run_native(const scenarios::Scenario& scenario, const NativeOptions& options);

/// Runs the program once, in a child process. Throws Unavailable and NativeError.
Record run_once(const scenarios::Scenario& scenario, const ProgramOptions& options);

/// Throws what a record says went wrong.
void check_record(const Record& record);

/// The shipped design that is nearest to a kernel release: the newest that is not newer
/// ("linux-6.12" for 6.12.117), or the oldest of all. Of `designs` (names as `uringsim list
/// designs` prints them) only plain linux-X.Y count. Nothing where there is none.
std::optional<std::string> design_for(const std::string& release,
                                      const std::vector<std::string>& designs);

} // namespace uringsim::analysis::native
