#pragma once

#include "analysis/compare.h"
#include "analysis/library.h"
#include "analysis/published.h"
#include "analysis/run.h"
#include "scenarios/replay.h"

#include <string>
#include <utility>
#include <vector>

namespace uringsim::tests {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// The shipped library.
analysis::Library shipped_library();

/// A shipped scenario on a shipped design. Fails the test with the messages where it cannot run.
analysis::Run run_shipped(const std::string& scenario, const std::string& design,
                          const Pairs& parameters = {}, const Pairs& knobs = {},
                          const std::string& machine = "");

/// A program, the JSON of its steps, as the only task of a scenario, on CPU 2 of xeon-e5-2682v4,
/// with one ring "ring" of 1024 entries.
scenarios::Result run_program(const std::string& steps, const std::string& design,
                              const Pairs& knobs = {});

std::uint64_t counted(const scenarios::Result& result, const std::string& counter);

/// Cycles of one operation of a phase, by the mean of its rounds.
double cycles_per_operation(const scenarios::Result& result, const std::string& phase);

/// Cycles of a phase by mechanism, or by primitive, an operation.
double cycles_of_mechanism(const scenarios::Result& result, const std::string& phase,
                           const std::string& mechanism);
double cycles_of_primitive(const scenarios::Result& result, const std::string& phase,
                           const std::string& primitive);

} // namespace uringsim::tests
