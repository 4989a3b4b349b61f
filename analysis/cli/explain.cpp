#include "analysis/cli/cli.h"
#include "analysis/cli/options.h"
#include "analysis/export/numbers.h"
#include "analysis/export/table.h"
#include "analysis/library.h"
#include "analysis/schema/schema.h"
#include "models/counters.h"
#include "models/design.h"
#include "models/machine.h"
#include "models/primitives.h"
#include "models/uring/node_cache.h"
#include "scenarios/configuration.h"
#include "scenarios/did_you_mean.h"
#include "scenarios/scenario_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::analysis {

namespace {

constexpr std::size_t label_width = 10;

/// "label     words", wrapped; nothing where there are no words.
std::string line(std::string_view label, std::string_view words) {
    if (words.empty()) {
        return "";
    }
    return wrapped(fmt::format("  {:<{}}{}", label, label_width, words), label_width + 2) + '\n';
}

std::string_view type_name(models::KnobType type) {
    switch (type) {
    case models::KnobType::integer:
        return "whole number";
    case models::KnobType::boolean:
        return "true or false";
    case models::KnobType::choice:
        return "choice";
    }
    return "";
}

std::string explain_knob(const std::string& name) {
    const models::Knob* knob = models::find_knob(name);
    if (knob == nullptr) {
        return "";
    }
    return fmt::format("{}: a knob of designs\n", name) + line("help", knob->help) +
           line("type", type_name(knob->type)) + line("unit", knob->unit) +
           line("allowed", knob->allowed()) +
           line("default", knob->format(knob->default_value()) + " (linux-6.18)") +
           line("source", knob->source);
}

std::string explain_primitive(const std::string& name,
                              const std::optional<models::Machine>& machine) {
    const auto primitive = models::find_primitive(name);
    if (!primitive) {
        return "";
    }
    const models::PrimitiveInfo& row = models::info(*primitive);
    std::string text =
        fmt::format("{}: a primitive, the smallest step that has a cost\n", name) +
        line("help", row.help) + line("unit", "cycles") +
        line("range",
             fmt::format("{} to {}", exact_number(row.min_cycles), exact_number(row.max_cycles))) +
        line("default", exact_number(row.default_cycles)) + line("source", row.source);
    if (machine) {
        const models::Cost& cost = machine->cost(*primitive);
        const double cycles =
            static_cast<double>(cost.millicycles) / static_cast<double>(sim::millicycles_per_cycle);
        text += fmt::format("  on {} at {} MHz\n", machine->name, machine->mhz) +
                line("  cost", fmt::format("{} cycles, {} ns", exact_number(cycles),
                                           short_number(machine->ns_of_cycles(cycles)))) +
                line("  known", fmt::format("{}{}{}", models::name(cost.provenance),
                                            cost.source.empty() ? "" : ": ", cost.source));
    }
    return text;
}

std::string explain_counter(const std::string& name) {
    const auto counter = models::find_counter(name);
    if (!counter) {
        return "";
    }
    const models::CounterInfo& row = models::info(*counter);
    return fmt::format("{}: a counter of results\n", name) + line("help", row.help) +
           line("type", "whole number") + line("unit", row.unit) + line("source", row.source);
}

std::string explain_policy(const std::string& name) {
    for (const models::NodeCachePolicy& row : models::node_cache_policies()) {
        if (row.name == name) {
            return fmt::format("{}: a policy of node caches, for the knob node_cache.policy\n",
                               name) +
                   line("help", row.help);
        }
    }
    return "";
}

std::string explain_operation(const std::string& name) {
    const auto keys = operation_keys(name);
    if (!keys) {
        return "";
    }
    std::size_t width = label_width;
    for (const RecordedKey& key : *keys) {
        width = std::max(width, key.name.size() + 2);
    }
    std::string text = fmt::format("{}: an operation of scenarios; its keys:\n", name);
    for (const RecordedKey& key : *keys) {
        if (key.name != "op" && key.name != "comment") {
            text += wrapped(fmt::format("  {:<{}}{}", key.name, width, shape_text(key.shape)),
                            width + 2) +
                    '\n';
        }
    }
    return text;
}

std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (const models::Knob& row : models::knob_table()) {
        names.emplace_back(row.name);
    }
    for (const models::PrimitiveInfo& row : models::primitive_table()) {
        names.emplace_back(row.name);
    }
    for (const models::CounterInfo& row : models::counter_table()) {
        names.emplace_back(row.name);
    }
    for (const models::NodeCachePolicy& row : models::node_cache_policies()) {
        names.emplace_back(row.name);
    }
    for (const std::string_view name : scenarios::operation_names()) {
        names.emplace_back(name);
    }
    return names;
}

std::string unknown_name(const std::string& name) {
    std::string message = fmt::format(
        "there is no knob, primitive, counter, policy or operation \"{}\"; `uringsim list knobs` and "
        "so on name all",
        name);
    const std::vector<std::string> names = all_names();
    if (const auto near = scenarios::did_you_mean(name, names)) {
        message += fmt::format("; did you mean \"{}\"?", *near);
    }
    return message;
}

std::optional<models::Machine> read_machine(const Options& options,
                                            scenarios::Diagnostics& diagnostics) {
    const auto name = options.get("machine");
    const auto library =
        name ? Library::open(options.get("data"), diagnostics) : std::optional<Library>();
    const auto node =
        library ? library->load(FileKind::machine, *name, "--machine", diagnostics) : std::nullopt;
    return node ? scenarios::read_machine(*node, diagnostics) : std::nullopt;
}

} // namespace

int explain_command(const Invocation& invocation) {
    Options options("explain",
                    "Says what a knob, a primitive, a counter, a policy or an operation of scenarios "
                    "is: type, unit, range, default, source.",
                    "NAME");
    options.value("machine", "M", "machine, by name or path: says what a primitive costs on it");
    add_data_option(options);
    if (!options.parse(invocation.args, invocation.out)) {
        return exit_status::done;
    }
    scenarios::Diagnostics diagnostics;
    const auto machine = read_machine(options, diagnostics);
    const std::string name = options.arguments().front();
    std::string text; // a name may be several things: page_alloc is a primitive and a counter
    for (const std::string& part : {explain_knob(name), explain_primitive(name, machine),
                                    explain_counter(name), explain_policy(name),
                                    explain_operation(name)}) {
        text += (text.empty() || part.empty() ? "" : "\n") + part;
    }
    if (text.empty()) {
        diagnostics.add_option("NAME", unknown_name(name));
    }
    invocation.err << diagnostics.to_string();
    if (!diagnostics.empty()) {
        return exit_status::bad_input;
    }
    invocation.out << text;
    return exit_status::done;
}

} // namespace uringsim::analysis
