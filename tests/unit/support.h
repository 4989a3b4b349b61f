#pragma once

#include "analysis/library.h"
#include "models/counters.h"
#include "models/design.h"
#include "models/kernel.h"
#include "models/machine.h"
#include "models/primitives.h"
#include "scenarios/configuration.h"
#include "scenarios/replay.h"
#include "scenarios/result.h"
#include "scenarios/scenario.h"

#include <filesystem>
#include <string>
#include <string_view>

/// What the tests of models and replays share: the files of the source tree, runs of them, and
/// machines for kernels that are called directly.
namespace uringsim::tests {

/// tests/ of the source tree.
std::filesystem::path test_folder();
/// scenarios/ of the source tree.
const analysis::Library& library();

std::string read_file(const std::filesystem::path& path);

/// A scenario by shipped name, or by path. Fails the test where it has errors.
scenarios::Scenario load_scenario(const std::string& name,
                                  const scenarios::ParameterOverrides& parameters = {});
/// A scenario given as text; its messages name the file `test.json`.
scenarios::Scenario parse_scenario(std::string_view text,
                                   const scenarios::ParameterOverrides& parameters = {});
models::Design load_design(const std::string& name, const scenarios::KnobOverrides& knobs = {});
const models::Machine& i7();

/// A scenario by name on a design by name.
scenarios::Result run(const std::string& scenario, const std::string& design,
                      const scenarios::ParameterOverrides& parameters = {},
                      const scenarios::KnobOverrides& knobs = {});

/// The message of the RunError that a run of this text throws; empty where it throws none.
std::string run_error(std::string_view text, const std::string& design = "linux-6.18");

/// Fills in the ring's next SQE.
void prepare(sim::Cpu& cpu, models::Ring& ring, const models::Sqe& sqe);

/// A machine with default costs.
models::Machine machine_of(std::int64_t cpus);

/// How often a primitive was charged, and how often an event was counted, by whomever.
std::uint64_t charged(sim::Engine& engine, models::Primitive primitive);
std::uint64_t counted(sim::Engine& engine, models::Counter counter);

} // namespace uringsim::tests
