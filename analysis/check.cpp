#include "analysis/check.h"

#include "analysis/published.h"
#include "analysis/run.h"
#include "analysis/sweep/sweep_plan.h"
#include "scenarios/configuration.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace uringsim::analysis {

using scenarios::Diagnostics;
using scenarios::JsonNode;

namespace {

/// The key by which each kind is known.
constexpr std::array<std::pair<std::string_view, FileKind>, 6> marks{{
    {"axes", FileKind::sweep},
    {"tasks", FileKind::scenario},
    {"figures", FileKind::published},
    {"costs", FileKind::machine},
    {"knobs", FileKind::design},
    {"base", FileKind::design},
}};

std::optional<FileKind> kind_of(const JsonNode& root) {
    for (const auto& [key, kind] : marks) {
        if (root.find(key) != nullptr) {
            return kind;
        }
    }
    return std::nullopt;
}

/// Reads a file of a known kind; what is wrong is in `diagnostics`. Returns its name.
std::string read_as(FileKind kind, const Library& library, const JsonNode& root,
                    Diagnostics& diagnostics) {
    switch (kind) {
    case FileKind::scenario: {
        const auto prepared = prepare_parsed(library, root, {}, diagnostics);
        return prepared ? prepared->scenario.name : "";
    }
    case FileKind::design: {
        const auto design = library.design(root, diagnostics);
        return design ? design->name : "";
    }
    case FileKind::machine: {
        const auto machine = scenarios::read_machine(root, diagnostics);
        return machine ? machine->name : "";
    }
    case FileKind::published: {
        const auto figures = read_published(root, diagnostics);
        return figures ? root.find("source")->text() : "";
    }
    case FileKind::sweep: {
        auto spec = read_sweep(root, diagnostics);
        const std::string name = spec ? spec->name : "";
        const auto plan =
            spec ? SweepPlan::make(library, *std::move(spec), diagnostics) : std::nullopt;
        return plan ? fmt::format("{}, {} runs", name, plan->runs()) : "";
    }
    }
    return "";
}

} // namespace

std::optional<CheckedFile> check_file(const Library& library, const std::filesystem::path& path,
                                      Diagnostics& diagnostics) {
    const std::size_t reported_before = diagnostics.size();
    const auto root = read_json_file(path, diagnostics);
    if (!root) {
        return std::nullopt;
    }
    if (!root->is_object()) {
        root->report("must be an object; got " + root->describe(), diagnostics);
        return std::nullopt;
    }
    const auto kind = kind_of(*root);
    if (!kind) {
        root->report("this is no file of uringsim: a scenario has \"tasks\", a design \"knobs\" or "
                     "\"base\", a machine \"costs\", published figures \"figures\", a sweep \"axes\"",
                     diagnostics);
        return std::nullopt;
    }
    CheckedFile checked{*kind, read_as(*kind, library, *root, diagnostics)};
    if (diagnostics.size() > reported_before) {
        return std::nullopt;
    }
    return checked;
}

} // namespace uringsim::analysis
