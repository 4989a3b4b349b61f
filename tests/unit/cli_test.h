#pragma once

#include "analysis/cli/cli.h"

#include <sstream>
#include <string>
#include <vector>

namespace uringsim::tests {

/// What one call of the program did.
struct Called {
    int status = 0;
    std::string out;
    std::string err;
};

inline Called call(const std::vector<std::string>& args) {
    std::ostringstream out;
    std::ostringstream err;
    const int status = analysis::run_cli(args, out, err);
    return {status, out.str(), err.str()};
}

} // namespace uringsim::tests
