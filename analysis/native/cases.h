#pragma once

#include "analysis/library.h"
#include "models/design.h"
#include "models/machine.h"
#include "scenarios/result.h"
#include "scenarios/scenario.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis::native {

/// A scenario and parameters that are run both ways.
struct Case {
    std::string scenario;
    scenarios::ParameterOverrides parameters;
    bool calibrates = false; ///< its times choose the machine's costs; else they are predicted
};

/// The cases of `calibrate --native` and `validate --native`. No size that is predicted is in the
/// calibrating ones. `instructions`: for an instruction clock, of which fewer rounds say as much.
std::vector<Case> standard_cases(bool instructions);

/// A case with what it is made of.
struct LoadedCase {
    Case the_case;
    scenarios::Scenario scenario;
    std::string text; ///< of the scenario's file
};

/// Nothing after reporting.
std::optional<std::vector<LoadedCase>> load_cases(const Library& library,
                                                  const std::vector<Case>& cases,
                                                  scenarios::Diagnostics& diagnostics);

/// How the kernel side ran the tasks, for the simulator to do the same.
struct Placement {
    std::vector<int> cpus;       ///< of each task; none: the scenario's own
    std::uint64_t settle_us = 0; ///< asleep after each close of a ring
    bool booted_guest = false;   ///< the slabs are as the boot of a guest left them
};

/// The design with the slabs of where the kernel side ran.
models::Design placed(const models::Design& design, const Placement& placement);

/// The scenario with its tasks on other CPUs and a sleep after each close_ring.
scenarios::Scenario placed(const scenarios::Scenario& scenario, const Placement& placement);

} // namespace uringsim::analysis::native
