#include "analysis/library.h"
#include "tests/unit/cli_test.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// Each file of tests/bad is wrong in its own ways; beside it lies what `uringsim check` must say.

using namespace uringsim;
namespace fs = std::filesystem;

namespace {

fs::path bad_folder() {
    scenarios::Diagnostics diagnostics;
    const auto library = analysis::Library::open(std::nullopt, diagnostics);
    REQUIRE_MESSAGE(library, diagnostics.to_string());
    return library->root().parent_path() / "tests" / "bad";
}

std::vector<fs::path> bad_files() {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(bad_folder())) {
        if (entry.path().extension() == ".json") {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    return files;
}

std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file.good(), path.string());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The text with the folder left out wherever it is named, so that any source tree gives the same.
std::string relative(std::string text, const fs::path& folder) {
    const std::string prefix = folder.string() + "/";
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
        text.erase(at, prefix.size());
    }
    return text;
}

} // namespace

TEST_CASE("check reports every error of each malformed file, word for word") {
    const std::vector<fs::path> files = bad_files();
    CHECK(files.size() >= 20);
    for (const fs::path& file : files) {
        CAPTURE(file.filename().string());
        const tests::Called called = tests::call({"check", file.string()});
        CHECK(called.status == analysis::exit_status::bad_input);
        CHECK(called.out == "");
        fs::path expected = file;
        expected.replace_extension(".expected");
        CHECK(relative(called.err, file.parent_path()) == content(expected));
    }
}

TEST_CASE("check reports the errors of several files at once, and which files are good") {
    const fs::path folder = bad_folder();
    const std::string good = (folder.parent_path().parent_path() / "scenarios" / "first-fill.json");
    const tests::Called called = tests::call({"check", (folder / "01-empty-file.json").string(),
                                              good, (folder / "23-nothing-of-ours.json").string()});
    CHECK(called.status == analysis::exit_status::bad_input);
    CHECK(called.out == good + ": ok (scenario first-fill)\n");
    CHECK(relative(called.err, folder) == content(folder / "01-empty-file.expected") +
                                              content(folder / "23-nothing-of-ours.expected"));
}

TEST_CASE("a run of a malformed scenario reports the same errors and ends with status 2") {
    const fs::path file = bad_folder() / "07-unknown-keys.json";
    const tests::Called called = tests::call({"run", file.string()});
    CHECK(called.status == analysis::exit_status::bad_input);
    CHECK(called.out == "");
    CHECK(relative(called.err, file.parent_path()) ==
          content(bad_folder() / "07-unknown-keys.expected"));
}
