#pragma once

#include "analysis/cli/cli.h"

namespace uringsim::analysis {

/// Whether `validate` or `calibrate` was called with --native, which takes other options.
bool asks_for_native(const Invocation& invocation);

int validate_native_command(const Invocation& invocation);
int calibrate_native_command(const Invocation& invocation);

} // namespace uringsim::analysis
