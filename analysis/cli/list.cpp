#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/export/table.h"
#include "analysis/library.h"
#include "analysis/schema/schema.h"
#include "models/counters.h"
#include "models/design.h"
#include "models/primitives.h"
#include "models/uring/node_cache.h"
#include "scenarios/did_you_mean.h"
#include "scenarios/scenario_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uringsim::analysis {

namespace {

using scenarios::Diagnostics;

/// One thing that is listed: a name and what it is.
struct Entry {
    std::string name;
    std::string help;
};

/// The file's own words. A file in error is listed all the same; the error is reported.
std::vector<Entry> list_files(const Library& library, FileKind kind, Diagnostics& diagnostics) {
    std::vector<Entry> entries;
    for (const std::string& name : library.names(kind)) {
        const auto root = library.load(kind, name, "list", diagnostics);
        const scenarios::JsonNode* summary = root ? root->find("summary") : nullptr;
        entries.push_back({name, summary != nullptr ? summary->text() : ""});
    }
    return entries;
}

std::vector<Entry> list_scenarios(const Library& library, Diagnostics& diagnostics) {
    return list_files(library, FileKind::scenario, diagnostics);
}

std::vector<Entry> list_designs(const Library& library, Diagnostics& diagnostics) {
    return list_files(library, FileKind::design, diagnostics);
}

std::vector<Entry> list_machines(const Library& library, Diagnostics& diagnostics) {
    return list_files(library, FileKind::machine, diagnostics);
}

std::vector<Entry> list_sweeps(const Library& library, Diagnostics& diagnostics) {
    return list_files(library, FileKind::sweep, diagnostics);
}

std::vector<Entry> list_knobs(const Library& /*library*/, Diagnostics& /*diagnostics*/) {
    std::vector<Entry> entries;
    for (const models::Knob& knob : models::knob_table()) {
        entries.push_back(
            {std::string(knob.name),
             fmt::format("default {}; {}", knob.format(knob.default_value()), knob.allowed())});
    }
    return entries;
}

std::vector<Entry> list_primitives(const Library& /*library*/, Diagnostics& /*diagnostics*/) {
    std::vector<Entry> entries;
    for (const models::PrimitiveInfo& row : models::primitive_table()) {
        entries.push_back({std::string(row.name), std::string(row.help)});
    }
    return entries;
}

std::vector<Entry> list_counters(const Library& /*library*/, Diagnostics& /*diagnostics*/) {
    std::vector<Entry> entries;
    for (const models::CounterInfo& row : models::counter_table()) {
        entries.push_back({std::string(row.name), fmt::format("{} ({})", row.help, row.unit)});
    }
    return entries;
}

std::vector<Entry> list_policies(const Library& /*library*/, Diagnostics& /*diagnostics*/) {
    std::vector<Entry> entries;
    for (const models::NodeCachePolicy& row : models::node_cache_policies()) {
        entries.push_back({std::string(row.name), fmt::format("node_cache.policy: {}", row.help)});
    }
    return entries;
}

std::vector<Entry> list_operations(const Library& /*library*/, Diagnostics& /*diagnostics*/) {
    std::vector<Entry> entries;
    for (const std::string_view name : scenarios::operation_names()) {
        std::string keys;
        for (const RecordedKey& key : operation_keys(name).value_or(RecordedKeys{})) {
            if (key.name != "op" && key.name != "comment") {
                keys += fmt::format("{}{}", keys.empty() ? "" : ", ", key.name);
            }
        }
        entries.push_back({std::string(name), keys});
    }
    return entries;
}

struct ListRow {
    std::string_view name;
    std::vector<Entry> (*entries)(const Library& library, Diagnostics& diagnostics);
};

constexpr std::array rows{
    ListRow{"scenarios", &list_scenarios},   ListRow{"designs", &list_designs},
    ListRow{"machines", &list_machines},     ListRow{"sweeps", &list_sweeps},
    ListRow{"knobs", &list_knobs},           ListRow{"primitives", &list_primitives},
    ListRow{"counters", &list_counters},     ListRow{"policies", &list_policies},
    ListRow{"operations", &list_operations},
};

const ListRow& find_row(const std::string& name) {
    std::vector<std::string_view> names;
    for (const ListRow& row : rows) {
        if (row.name == name) {
            return row;
        }
        names.push_back(row.name);
    }
    std::string message =
        fmt::format("cannot list \"{}\"; it lists {}", name, fmt::join(names, ", "));
    if (const auto near = scenarios::did_you_mean(name, names)) {
        message += fmt::format("; did you mean \"{}\"?", *near);
    }
    throw UsageError(message);
}

std::string entries_text(const std::vector<Entry>& entries) {
    std::size_t width = 0;
    for (const Entry& entry : entries) {
        width = std::max(width, display_width(entry.name));
    }
    width += 2;
    std::string text;
    for (const Entry& entry : entries) {
        const std::string blanks(width - display_width(entry.name), ' ');
        text += entry.help.empty() ? entry.name : wrapped(entry.name + blanks + entry.help, width);
        text += '\n';
    }
    return text;
}

} // namespace

int list_command(const Invocation& invocation) {
    Options options("list",
                    "Names what there is: scenarios, designs, machines, sweeps, knobs (with what "
                    "is allowed and the default), primitives, counters, policies or operations.",
                    "KIND");
    add_data_option(options);
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    const ListRow& row = find_row(options.arguments().front());
    Diagnostics diagnostics;
    if (const auto library = Library::open(options.get("data"), diagnostics)) {
        invocation.out << entries_text(row.entries(*library, diagnostics));
    }
    invocation.err << diagnostics.to_string();
    return diagnostics.empty() ? exit_status::done : exit_status::bad_input;
}

} // namespace uringsim::analysis
