#pragma once

#include "models/design.h"
#include "models/machine.h"
#include "scenarios/result.h"
#include "scenarios/scenario.h"

#include <stdexcept>
#include <string>

namespace uringsim::scenarios {

/// A run that cannot go on: an operation returned what the scenario did not expect, an assertion
/// does not hold, the program waits for something that never comes, or the books do not balance.
/// what() says where in the scenario file.
class RunError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Runs a scenario on a design and a machine. The same arguments give the same result, byte for
/// byte, on every host. Throws RunError.
Result replay(const Scenario& scenario, const models::Design& design,
              const models::Machine& machine);

} // namespace uringsim::scenarios
