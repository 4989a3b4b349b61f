#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis::native {

/// One measured round of a phase.
struct Round {
    std::size_t phase = 0; ///< index into Scenario::phases
    std::uint64_t ns = 0;  ///< in a guest under an instruction clock: instructions
    double null_ns = 0;    ///< one null system call around this round; 0 where none was timed
    bool switched = false; ///< the task lost its CPU, not of its own will, in this round
};

/// A counter over the measured rounds of a phase, or over the whole run.
struct Count {
    std::optional<std::size_t> phase; ///< nothing: the whole run
    std::string counter;
    std::uint64_t value = 0;
};

/// A counter that cannot be known here.
struct Absence {
    std::string counter;
    std::string reason;
};

/// What one process that ran a scenario's program found. It travels as lines of text: over a pipe
/// from a child process, over the serial line from a guest.
struct Record {
    std::vector<Round> rounds;
    std::vector<Count> counts;
    std::vector<Absence> absent;
    std::vector<std::string> notes;
    std::optional<std::string> missing; ///< this kernel or host cannot run the program: why
    std::optional<std::string> error;   ///< the program found a wrong result: where, and what
    std::string release;                ///< the kernel's, from uname
    bool complete = false;              ///< the record was written to its end
};

std::string to_lines(const Record& record);

/// Reads the lines of a record; others (a guest's console prints them too) are passed over. A line
/// of ours that cannot be read sets `error`.
Record parse_record(std::string_view text);

} // namespace uringsim::analysis::native
