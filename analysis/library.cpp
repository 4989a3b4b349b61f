#include "analysis/library.h"

#include "scenarios/configuration.h"
#include "scenarios/did_you_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>

namespace uringsim::analysis {

namespace fs = std::filesystem;
using scenarios::Diagnostics;
using scenarios::JsonNode;

namespace {

/// No file of ours comes near; it stops a device or a log file that was named by mistake.
constexpr std::size_t max_file_bytes = std::size_t{64} << 20;

std::string_view folder_of(FileKind kind) {
    switch (kind) {
    case FileKind::scenario:
        return "";
    case FileKind::design:
        return "designs";
    case FileKind::machine:
        return "machines";
    case FileKind::published:
        return "published";
    case FileKind::sweep:
        return "sweeps";
    }
    return "";
}

/// The content of a file; nothing with `error` set.
std::optional<std::string> read_text(const fs::path& path, std::string& error) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                               &std::fclose);
    if (!file) {
        error = std::strerror(errno);
        return std::nullopt;
    }
    std::string text;
    std::string chunk(std::size_t{1} << 16, '\0');
    std::size_t got = 0;
    while ((got = std::fread(chunk.data(), 1, chunk.size(), file.get())) > 0) {
        text.append(chunk, 0, got);
        if (text.size() > max_file_bytes) {
            error = fmt::format("larger than {} MiB", max_file_bytes >> 20);
            return std::nullopt;
        }
    }
    if (std::ferror(file.get()) != 0) {
        error = std::strerror(errno);
        return std::nullopt;
    }
    return text;
}

fs::path running_program() {
    std::error_code error;
    const fs::path path = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path() : path;
}

bool is_data_folder(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(path / "designs", error);
}

/// Loads the designs that a design builds on, one after the other. A base that is a path starts at
/// the folder of the first design.
class BaseLoader {
  public:
    BaseLoader(const Library& library, const JsonNode& root, Diagnostics& diagnostics)
        : library_(library)
        , folder_(fs::path(root.file()).parent_path())
        , diagnostics_(diagnostics) {
        loaded_.push_back(root);
    }

    std::optional<JsonNode> operator()(const std::string& name) {
        const JsonNode* place = loaded_.back().find("base");
        const auto path = library_.find(FileKind::design, name, folder_, [&](std::string message) {
            (place != nullptr ? *place : loaded_.back()).report(std::move(message), diagnostics_);
        });
        auto node = path ? read_json_file(*path, diagnostics_) : std::nullopt;
        if (node) {
            loaded_.push_back(*node);
        }
        return node;
    }

  private:
    const Library& library_;
    fs::path folder_;
    Diagnostics& diagnostics_;
    std::deque<JsonNode> loaded_; // the last one names the design asked for next
};

} // namespace

std::string_view kind_name(FileKind kind) {
    switch (kind) {
    case FileKind::scenario:
        return "scenario";
    case FileKind::design:
        return "design";
    case FileKind::machine:
        return "machine";
    case FileKind::published:
        return "published figures";
    case FileKind::sweep:
        return "sweep";
    }
    return "";
}

std::optional<JsonNode> read_json_file(const fs::path& path, Diagnostics& diagnostics) {
    std::string error;
    const auto text = read_text(path, error);
    if (!text) {
        diagnostics.add({path.string(), scenarios::no_position, "", "cannot be read: " + error});
        return std::nullopt;
    }
    return scenarios::parse_json(path.string(), *text, diagnostics);
}

bool is_path(std::string_view name) {
    return name.find('/') != std::string_view::npos || name.ends_with(".json");
}

std::string named_in(const JsonNode& root, const std::string& name) {
    return is_path(name) ? (fs::path(root.file()).parent_path() / name).string() : name;
}

std::vector<fs::path> data_folders(const fs::path& executable) {
    std::vector<fs::path> folders;
    if (!executable.empty()) {
        folders.push_back(executable.parent_path().parent_path() / "share" / "uringsim");
    }
    folders.emplace_back(URINGSIM_SOURCE_DATA);
    folders.emplace_back(URINGSIM_INSTALL_DATA);
    return folders;
}

std::optional<Library> Library::open(const std::optional<std::string>& folder,
                                     Diagnostics& diagnostics) {
    const char* variable = std::getenv("URINGSIM_DATA"); // NOLINT(concurrency-mt-unsafe)
    std::vector<fs::path> candidates;
    std::string given_by;
    if (folder) {
        candidates.emplace_back(*folder);
        given_by = "--data";
    } else if (variable != nullptr && *variable != '\0') {
        candidates.emplace_back(variable);
        given_by = "$URINGSIM_DATA";
    } else {
        candidates = data_folders(running_program());
    }
    const auto found = std::ranges::find_if(candidates, is_data_folder);
    if (found != candidates.end()) {
        return Library(*found);
    }
    std::vector<std::string> tried(candidates.size());
    std::ranges::transform(candidates, tried.begin(),
                           [](const fs::path& path) { return path.string(); });
    diagnostics.add_option(given_by.empty() ? "--data" : given_by,
                           fmt::format("no data folder at {}: it holds the scenarios and the "
                                       "folders designs and machines",
                                       fmt::join(tried, ", ")));
    return std::nullopt;
}

std::vector<std::string> Library::names(FileKind kind) const {
    std::vector<std::string> names;
    std::error_code error;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(root_ / folder_of(kind), error)) {
        if (entry.path().extension() == ".json" && entry.is_regular_file(error) &&
            !entry.path().stem().string().ends_with(".schema")) {
            names.push_back(entry.path().stem().string());
        }
    }
    std::ranges::sort(names);
    return names;
}

fs::path Library::path_of(FileKind kind, std::string_view name) const {
    return root_ / folder_of(kind) / (std::string(name) + ".json");
}

bool Library::has(FileKind kind, const std::string& name) const {
    return std::ranges::binary_search(names(kind), name);
}

std::string Library::unknown(FileKind kind, const std::string& name) const {
    const std::vector<std::string> all = names(kind);
    std::string message = fmt::format("there is no {} \"{}\"; there are {}", kind_name(kind), name,
                                      fmt::join(all, ", "));
    if (const auto near = scenarios::did_you_mean(name, all)) {
        message += fmt::format("; did you mean \"{}\"?", *near);
    }
    return message;
}

std::optional<JsonNode> Library::load(FileKind kind, const std::string& name,
                                      const std::string& option, Diagnostics& diagnostics) const {
    const auto path = find(kind, name, {}, [&](std::string message) {
        diagnostics.add_option(option, std::move(message));
    });
    return path ? read_json_file(*path, diagnostics) : std::nullopt;
}

std::optional<models::Design> Library::design(const JsonNode& root,
                                              Diagnostics& diagnostics) const {
    BaseLoader loader(*this, root, diagnostics);
    return scenarios::read_design(
        root, [&](const std::string& name) { return loader(name); }, diagnostics);
}

} // namespace uringsim::analysis
