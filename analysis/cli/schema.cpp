#include "analysis/schema/schema.h"

#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "scenarios/did_you_mean.h"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace uringsim::analysis {

namespace {

struct SchemaRow {
    std::string_view name;
    FileKind kind;
};

constexpr std::array rows{
    SchemaRow{"scenario", FileKind::scenario}, SchemaRow{"design", FileKind::design},
    SchemaRow{"machine", FileKind::machine},   SchemaRow{"published", FileKind::published},
    SchemaRow{"sweep", FileKind::sweep},
};

FileKind find_kind(const std::string& name) {
    std::vector<std::string_view> names;
    for (const SchemaRow& row : rows) {
        if (row.name == name) {
            return row.kind;
        }
        names.push_back(row.name);
    }
    std::string message =
        fmt::format("there is no kind of file \"{}\"; there are {}", name, fmt::join(names, ", "));
    if (const auto near = scenarios::did_you_mean(name, names)) {
        message += fmt::format("; did you mean \"{}\"?", *near);
    }
    throw UsageError(message);
}

} // namespace

int schema_command(const Invocation& invocation) {
    Options options("schema",
                    "Prints the JSON Schema (2020-12) of a kind of file: scenario, design, "
                    "machine, published or sweep. For editors; `uringsim check` knows more.",
                    "KIND");
    if (options.parse(invocation.args, invocation.out)) {
        invocation.out << json_schema(find_kind(options.arguments().front()));
    }
    return exit_status::done;
}

} // namespace uringsim::analysis
