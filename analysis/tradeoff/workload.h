#pragma once

#include "analysis/library.h"
#include "analysis/sweep/sweep_plan.h"
#include "analysis/tradeoff/pareto.h"
#include "scenarios/configuration.h"
#include "scenarios/result.h"
#include "scenarios/strict_json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uringsim::analysis {

/// An axis, as SweepSpec names it, and the whole numbers over which the winner is looked for.
struct BreakEvenRange {
    std::string label; ///< "param:installs", "node_cache.limit"
    std::int64_t first = 0;
    std::int64_t last = 0;
};

/// Reads "1..4096" for `label`. Nothing after reporting under `option`.
std::optional<BreakEvenRange> read_range(const std::string& label, const std::string& text,
                                         const std::string& option,
                                         scenarios::Diagnostics& diagnostics);

/// One workload of a mix: SCENARIO[,NAME=VALUE...][:WEIGHT]. A VALUE of X..Y is a range.
struct Workload {
    std::string text; ///< as it was given, without the weight
    std::string scenario;
    scenarios::ParameterOverrides parameters;
    std::optional<BreakEvenRange> range;
    std::uint64_t weight = 1;

    /// For sentences: "table-life with installs = 64".
    std::string subject() const;
};

Workload read_workload(const std::string& text, scenarios::Diagnostics& diagnostics);

/// What all workloads are run on, as the options say it.
struct TradeoffRequest {
    std::vector<std::string> designs;
    std::vector<std::pair<std::string, std::string>> axes; ///< label and values
    std::vector<std::string> constraints;
    scenarios::ParameterOverrides parameters; ///< a workload's own come before these
    scenarios::KnobOverrides knobs;
    std::optional<std::string> machine;
    std::optional<std::string> phase; ///< nothing: the first of each scenario
};

/// A workload with its candidates: the designs, by what the axes give.
struct PlannedWorkload {
    Workload workload;
    SweepPlan plan;
    std::size_t phase = 0; ///< index of the phase that is compared

    const std::string& phase_name() const { return plan.scenario().phases[phase].name; }
};

/// Nothing after reporting every error found.
std::optional<PlannedWorkload> plan_workload(const Workload& workload,
                                             const TradeoffRequest& request,
                                             const Library& library,
                                             scenarios::Diagnostics& diagnostics);

/// What a phase costs, and whether that is a file installed in it or, in a phase without installs,
/// an operation.
struct UnitCost {
    double ns = 0;
    bool an_install = false;
};
UnitCost unit_cost(const scenarios::Result& result, const scenarios::PhaseResult& phase);

/// Candidates that were run on a mix.
struct MeasuredMix {
    std::vector<Candidate> candidates;
    std::vector<std::string> units; ///< of each workload's time: "ns/install" or "ns/operation"

    /// Of the mean over the workloads: theirs where they have one, else "ns".
    std::string unit() const;
};

/// Runs all candidates on all workloads; candidates that make no sense on one are left out. The
/// plans must have been made from the same request. Throws scenarios::RunError.
MeasuredMix measure(const std::vector<PlannedWorkload>& mix);

} // namespace uringsim::analysis
