#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace uringsim::analysis {

/// What the program's exit statuses mean.
namespace exit_status {
inline constexpr int done = 0;
inline constexpr int failed = 1;    ///< a check failed, the run stopped, or output was not written
inline constexpr int bad_input = 2; ///< bad usage, or a file in error
inline constexpr int unavailable = 77; ///< this host cannot do it; a line says what is missing
} // namespace exit_status

/// The program without a process: `args` without the program's name, results to `out`, everything
/// else to `err`. Returns the exit status. Throws nothing.
int run_cli(std::span<const std::string> args, std::ostream& out, std::ostream& err);

/// What a sub-command gets.
struct Invocation {
    std::span<const std::string> args; ///< after the sub-command's name
    std::ostream& out;
    std::ostream& err;
};

int run_command(const Invocation& invocation);
int compare_command(const Invocation& invocation);
int native_command(const Invocation& invocation);
int check_command(const Invocation& invocation);
int list_command(const Invocation& invocation);
int validate_command(const Invocation& invocation);
int calibrate_command(const Invocation& invocation);
int explain_command(const Invocation& invocation);
int schema_command(const Invocation& invocation);

/// One row of the table that declares the sub-commands.
struct Command {
    std::string_view name;
    std::string_view help;
    int (*call)(const Invocation& invocation);
};

std::span<const Command> commands();

} // namespace uringsim::analysis
