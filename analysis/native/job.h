#pragma once

#include "analysis/native/program.h"
#include "scenarios/scenario.h"

#include <optional>
#include <string>
#include <string_view>

namespace uringsim::analysis::native {

/// What a guest is told to do, as lines in a file of its initramfs beside the scenario's.
struct Job {
    scenarios::ParameterOverrides parameters;
    bool time = true;
    bool count = false;
    std::uint32_t settle_ms = 30'000; ///< virtual time asleep before the first run
};

std::string to_lines(const Job& job);

/// Nothing where a line makes no sense.
std::optional<Job> parse_job(std::string_view text);

} // namespace uringsim::analysis::native
