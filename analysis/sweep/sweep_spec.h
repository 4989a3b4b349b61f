#pragma once

#include "analysis/run.h"
#include "analysis/sweep/axis.h"
#include "scenarios/strict_json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis {

/// More runs than this are taken for a mistake unless a flag allows them.
inline constexpr std::uint64_t default_max_runs = 1'000'000;

/// What a user asks to sweep: a base request and what moves. From a file, from options, or both.
struct SweepSpec {
    std::string name;
    RunRequest base; ///< its scenario, overrides and seed; designs and machines are axes
    std::vector<Axis> axes; ///< the last one moves fastest
    std::vector<std::string> constraints; ///< "limit <= slots": points that break one are left out
    std::uint64_t repeats = 1;            ///< runs a point, each with the next seed
    std::uint64_t max_runs = default_max_runs;

    /// Adds an axis in a group of its own, or reports under `option`.
    void add_axis(const std::string& label, const std::string& values, const std::string& option,
                  scenarios::Diagnostics& diagnostics);

    /// Makes two axes or more move together; reports under `option` names that are no axes.
    void zip(const std::vector<std::string>& labels, const std::string& option,
             scenarios::Diagnostics& diagnostics);
};

/// True where a parsed file describes a sweep: it has "axes".
bool is_sweep(const scenarios::JsonNode& root);

/// Reads a sweep's file. Nothing after reporting.
std::optional<SweepSpec> read_sweep(const scenarios::JsonNode& root,
                                    scenarios::Diagnostics& diagnostics);

} // namespace uringsim::analysis
