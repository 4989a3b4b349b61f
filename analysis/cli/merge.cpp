#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/sweep/merge.h"

#include <fmt/format.h>

namespace uringsim::analysis {

int merge_command(const Invocation& invocation) {
    Options options("merge",
                    "Puts the files of all shards of a sweep together, in the order of the sweep: "
                    "the same bytes as the sweep in one. A row that is missing, there twice, or of "
                    "another sweep is an error.",
                    "FILE...");
    options.value("output,o", "FILE", "write to FILE in place of standard output");
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    std::string error;
    const std::string output = options.get("output").value_or("-");
    const bool done =
        output == "-"
            ? merge_rows(options.arguments(),
                         [&](std::string_view text, std::string& /*error*/) {
                             invocation.out << text;
                             return static_cast<bool>(invocation.out);
                         },
                         error)
            : merge_to_file(options.arguments(), output, error);
    if (!done) {
        invocation.err << "uringsim merge: " << error << '\n';
        return exit_status::bad_input;
    }
    return exit_status::done;
}

} // namespace uringsim::analysis
