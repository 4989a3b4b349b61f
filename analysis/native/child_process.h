#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace uringsim::analysis::native {

/// What another program printed.
struct ChildOutput {
    std::string text;
    bool timed_out = false; ///< it was ended after its time
};

/// Runs a program and reads its standard output to the end; its errors go where ours do. Throws
/// NativeError where it cannot be started.
ChildOutput run_child(const std::vector<std::string>& command, std::uint32_t timeout_s);

} // namespace uringsim::analysis::native
