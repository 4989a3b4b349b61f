#pragma once

#include "analysis/fit.h"
#include "analysis/native/cases.h"
#include "models/design.h"
#include "models/machine.h"

#include <string>
#include <vector>

namespace uringsim::analysis::native {

/// What one phase of a case took on the kernel.
struct MeasuredPhase {
    std::size_t which = 0; ///< index of the case
    std::string phase;
    double ns_per_operation = 0; ///< under an instruction clock: instructions
    double noise_percent = 0;
};

struct NativeCalibration {
    models::Machine machine; ///< with the chosen costs, marked as measured
    FitProblem problem;
    FitResult fit;
    std::vector<models::Primitive> free; ///< in the order of the unknowns
    std::string source;                  ///< for the costs: what was measured
};

/// The costs that `calibrate --native` chooses.
std::vector<models::Primitive> native_free_costs();

/// A machine of this host before anything is measured: clock, CPUs, caches; costs at their priors.
models::Machine host_machine();

/// The machine of an instruction clock before anything is fitted: 1 instruction a ns, one CPU, no
/// memory.
models::Machine instruction_machine();

/// Fits the free costs of `machine` to what was measured, by bounded least squares over the counts
/// of simulated runs (time on one CPU is the sum of count x cost). Throws scenarios::RunError.
NativeCalibration calibrate_native(const std::vector<LoadedCase>& cases,
                                   const std::vector<MeasuredPhase>& measured,
                                   const models::Design& design, const models::Machine& machine,
                                   const Placement& placement, const std::string& source);

/// The machine as a file.
std::string machine_json(const models::Machine& machine);

} // namespace uringsim::analysis::native
