#include "analysis/cli/cli.h"

#include "analysis/cli/options.h"
#include "analysis/version.h"
#include "scenarios/did_you_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <vector>

namespace uringsim::analysis {

namespace {

constexpr std::array table{
    Command{"run", "run a scenario and say what it cost", &run_command},
    Command{"compare", "run a scenario on several designs and say what moved", &compare_command},
    Command{"native", "run a scenario on a kernel's own io_uring", &native_command},
    Command{"validate", "simulate every published figure and say how far off it is",
            &validate_command},
    Command{"calibrate", "choose a machine's costs by published or measured figures",
            &calibrate_command},
    Command{"check", "parse and validate files without running anything", &check_command},
    Command{"list", "name scenarios, designs, machines, knobs, primitives ...", &list_command},
    Command{"explain", "say what a knob, primitive, counter, policy or operation is",
            &explain_command},
    Command{"schema", "print the JSON schema of scenarios, designs, machines ...",
            &schema_command},
};

std::string overview() {
    std::string text =
        "usage: uringsim COMMAND ...\n"
        "Simulates what the resource paths of io_uring cost, and why.\n\ncommands:\n";
    for (const Command& command : table) {
        text += fmt::format("  {:<11}{}\n", command.name, command.help);
    }
    return text +
           "\n`uringsim COMMAND --help` says more; `uringsim --version` names the version.\n";
}

std::string unknown_command(const std::string& name) {
    std::vector<std::string_view> names(table.size());
    std::ranges::transform(table, names.begin(), &Command::name);
    const std::string kind = name.starts_with('-') ? "option" : "command";
    std::string message = fmt::format("uringsim: there is no {} \"{}\"; the commands are {}", kind,
                                      name, fmt::join(names, ", "));
    if (const auto near = scenarios::did_you_mean(name, names)) {
        message += fmt::format("; did you mean \"{}\"?", *near);
    }
    return message + '\n';
}

int dispatch(std::span<const std::string> args, std::ostream& out, std::ostream& err) {
    if (args.empty()) {
        err << overview();
        return exit_status::bad_input;
    }
    if (args[0] == "--help" || args[0] == "-h") {
        out << overview();
        return exit_status::done;
    }
    if (args[0] == "--version") {
        out << "uringsim " << version() << '\n';
        return exit_status::done;
    }
    const auto* const command = std::ranges::find(table, std::string_view(args[0]), &Command::name);
    if (command == table.end()) {
        err << unknown_command(args[0]);
        return exit_status::bad_input;
    }
    try {
        return command->call({args.subspan(1), out, err});
    } catch (const UsageError& error) {
        err << "uringsim " << command->name << ": " << error.what() << '\n';
        return exit_status::bad_input;
    }
}

} // namespace

std::span<const Command> commands() {
    return table;
}

int run_cli(std::span<const std::string> args, std::ostream& out, std::ostream& err) {
    try {
        return dispatch(args, out, err);
    } catch (const std::bad_alloc&) {
        err << "uringsim: out of memory\n";
    } catch (const std::exception& error) {
        err << "uringsim: " << error.what() << '\n';
    }
    return exit_status::failed;
}

} // namespace uringsim::analysis
