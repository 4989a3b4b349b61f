#include "analysis/sweep/merge.h"

#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/output_file.h"

#include <fmt/format.h>

namespace uringsim::analysis {

namespace {

/// Merges into `file`, or to standard output where there is none. Returns the exit status.
int merge_into(const std::optional<OutputFile>& file, const std::vector<std::string>& inputs,
               const Invocation& invocation) {
    std::string error;
    bool inputs_are_good = true;
    const TextSource rows = [&](const TextSink& sink, std::string& why) {
        bool taken = true;
        const TextSink watched = [&](std::string_view text, std::string& write_error) {
            taken = sink(text, write_error);
            return taken;
        };
        const bool done = merge_rows(inputs, watched, why);
        inputs_are_good = done || !taken;
        return done;
    };
    const TextSink standard_output = [&](std::string_view text, std::string& /*why*/) {
        return static_cast<bool>(invocation.out << text); // who owns the stream says why
    };
    const bool done = file ? file->write_from(rows, error) : rows(standard_output, error);
    if (done) {
        return exit_status::done;
    }
    if (!inputs_are_good) {
        invocation.err << "uringsim merge: " << error << '\n';
        return exit_status::bad_input;
    }
    if (file) {
        invocation.err << "uringsim merge: the rows cannot be written: " << error << '\n';
    }
    return exit_status::failed;
}

} // namespace

int merge_command(const Invocation& invocation) {
    Options options("merge",
                    "Puts the files of all shards of a sweep together, in the order of the sweep: "
                    "the same bytes as the sweep in one. A row that is missing, there twice, or of "
                    "another sweep is an error, and FILE of -o is then left as it was.",
                    "FILE...");
    options.value("output,o", "FILE", "write to FILE in place of standard output");
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    const std::string path = options.get("output").value_or("-");
    std::optional<OutputFile> file;
    if (path != "-") {
        std::string error;
        file = OutputFile::open(path, error);
        if (!file) {
            invocation.err << fmt::format("command line: --output {}: cannot be written: {}\n",
                                          path, error);
            return exit_status::bad_input;
        }
    }
    return merge_into(file, options.arguments(), invocation);
}

} // namespace uringsim::analysis
