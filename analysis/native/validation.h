#pragma once

#include "analysis/native/calibration.h"
#include "analysis/native/cases.h"
#include "analysis/native/native.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis::native {

/// A counter that both sides have and that differs.
struct CountDifference {
    std::string counter;
    std::uint64_t simulated = 0;
    std::uint64_t native = 0;
    /// Slab internals depend on what the slabs held before the run, and on who else uses them.
    bool slab_internal = false;
};

/// A phase of a case, both ways.
struct ValidationRow {
    std::string scenario;
    std::string parameters;
    std::string phase;
    std::size_t counters = 0; ///< compared
    std::vector<CountDifference> differences;
    bool timed = false;
    bool calibrates = false; ///< its time chose costs: no prediction
    double simulated = 0;    ///< ns or instructions an operation
    double measured = 0;     ///< the normalised median
    double spread_percent = 0;
    double error_percent = 0;
    double limit_percent = 0;

    /// All but slab internals, whose differences are listed.
    bool counts_exact() const;
    bool within() const { return !timed || calibrates || std::abs(error_percent) <= limit_percent; }
};

struct NativeValidation {
    std::string release;
    std::string design;
    bool instructions = false;
    std::vector<std::string> facts;
    std::vector<ValidationRow> rows;
    std::optional<NativeCalibration> calibration; ///< nothing where the machine was given

    /// Every count exact. Times are judged in the rows, since they depend on the host's noise.
    bool counts_exact() const;
};

/// What runs the cases on a kernel: their runs, in order.
struct NativeRuns {
    std::vector<NativeRun> runs;
    Placement placement;
    std::string release;
    bool instructions = false;
    std::vector<std::string> facts;
};

NativeRuns run_cases_here(const std::vector<LoadedCase>& cases, const NativeOptions& options);
NativeRuns run_cases_in_guest(const std::vector<LoadedCase>& cases, const std::string& kernel,
                              bool time, bool count);

/// What the calibrating cases measured: phases that hold no other.
std::vector<MeasuredPhase> measured_phases(const std::vector<LoadedCase>& cases,
                                           const NativeRuns& runs);

/// Puts the runs beside simulated ones. Without a `machine`, one is calibrated on the calibrating
/// cases first. Throws scenarios::RunError.
NativeValidation validate_native(const std::vector<LoadedCase>& cases, const NativeRuns& runs,
                                 const models::Design& design,
                                 const std::optional<models::Machine>& machine);

std::string validation_text(const NativeValidation& validation);
std::string validation_markdown(const NativeValidation& validation);
std::string validation_csv(const NativeValidation& validation);

} // namespace uringsim::analysis::native
