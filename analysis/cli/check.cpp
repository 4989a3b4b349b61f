#include "analysis/check.h"

#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/library.h"

#include <fmt/format.h>

namespace uringsim::analysis {

int check_command(const Invocation& invocation) {
    Options options("check",
                    "Parses and validates scenarios, designs, machines and published figures, and "
                    "reports all errors of all files. Exit status 2 where there is any.",
                    "FILE...");
    add_data_option(options);
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    scenarios::Diagnostics diagnostics;
    const auto library = Library::open(options.get("data"), diagnostics);
    if (!library) {
        invocation.err << diagnostics.to_string();
        return exit_status::bad_input;
    }
    for (const std::string& file : options.arguments()) {
        if (const auto checked = check_file(*library, file, diagnostics)) {
            invocation.out << fmt::format("{}: ok ({} {})\n", file, kind_name(checked->kind),
                                          checked->name);
        }
    }
    invocation.err << diagnostics.to_string();
    return diagnostics.empty() ? exit_status::done : exit_status::bad_input;
}

} // namespace uringsim::analysis
