#pragma once

#include "models/design.h"
#include "models/machine.h"
#include "scenarios/strict_json.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uringsim::scenarios {

/// Finds a design file by its name and parses it; nothing after reporting that there is none.
using DesignLoader = std::function<std::optional<JsonNode>(const std::string& name)>;

/// Reads a design: `base` first (through `load`), then its own knobs. Nothing after reporting.
std::optional<models::Design> read_design(const JsonNode& root, const DesignLoader& load,
                                          Diagnostics& diagnostics);

/// Knobs given on the command line: name to text.
using KnobOverrides = std::vector<std::pair<std::string, std::string>>;

/// Sets knobs by name; reports unknown names, bad values, and combinations that make no sense.
void apply_knobs(models::Design& design, const KnobOverrides& overrides, Diagnostics& diagnostics);

/// Reads a machine: clock, CPUs, caches, and the costs that differ from the primitive table's.
std::optional<models::Machine> read_machine(const JsonNode& root, Diagnostics& diagnostics);

} // namespace uringsim::scenarios
