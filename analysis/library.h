#pragma once

#include "models/design.h"
#include "models/machine.h"
#include "scenarios/scenario.h"
#include "scenarios/strict_json.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::analysis {

/// What a file describes; each kind has its folder in the library.
enum class FileKind { scenario, design, machine, published, sweep };

/// "scenario", "design", "machine", "published figures", "sweep".
std::string_view kind_name(FileKind kind);

/// Reads and parses any JSON file. Nothing after reporting that it cannot be read or has no tree.
std::optional<scenarios::JsonNode> read_json_file(const std::filesystem::path& path,
                                                  scenarios::Diagnostics& diagnostics);

/// True where a name given for a shipped file is a path instead: it has a '/' or ends in ".json".
bool is_path(std::string_view name);

/// What a name in a file means to Library::find(): a path there starts at the file's own folder.
std::string named_in(const scenarios::JsonNode& root, const std::string& name);

/// Where the data folder may be, best first: beside a moved install, the source tree, the install.
/// `executable` is the running program; empty where it is not known.
std::vector<std::filesystem::path> data_folders(const std::filesystem::path& executable);

/// The shipped scenarios, designs and machines: finds them by name, parses them, and resolves what
/// they refer to.
class Library {
  public:
    explicit Library(std::filesystem::path root)
        : root_(std::move(root)) {}

    /// The library in `folder` if one is given, else in $URINGSIM_DATA, else in the first of
    /// data_folders() that is there. Nothing after reporting.
    static std::optional<Library> open(const std::optional<std::string>& folder,
                                       scenarios::Diagnostics& diagnostics);

    const std::filesystem::path& root() const { return root_; }

    /// The names of all shipped files of a kind, in alphabetical order.
    std::vector<std::string> names(FileKind kind) const;

    /// Where the shipped file of that name is or would be.
    std::filesystem::path path_of(FileKind kind, std::string_view name) const;

    /// The file that `name` means: a shipped one or a path, which starts at `folder` unless it is
    /// absolute. Nothing after passing the reason to `report`.
    template <class Report>
    std::optional<std::filesystem::path> find(FileKind kind, const std::string& name,
                                              const std::filesystem::path& folder,
                                              const Report& report) const {
        if (is_path(name)) {
            return folder / name;
        }
        if (has(kind, name)) {
            return path_of(kind, name);
        }
        report(unknown(kind, name));
        return std::nullopt;
    }

    /// Parses the file that `name`, given for `option`, means.
    std::optional<scenarios::JsonNode> load(FileKind kind, const std::string& name,
                                            const std::string& option,
                                            scenarios::Diagnostics& diagnostics) const;

    /// Reads a design that has been parsed, with all that it builds on.
    std::optional<models::Design> design(const scenarios::JsonNode& root,
                                         scenarios::Diagnostics& diagnostics) const;

  private:
    bool has(FileKind kind, const std::string& name) const;

    /// "there is no design "x"; there are a, b, c; did you mean "y"?"
    std::string unknown(FileKind kind, const std::string& name) const;

    std::filesystem::path root_;
};

} // namespace uringsim::analysis
