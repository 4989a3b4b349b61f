#include "analysis/check.h"
#include "analysis/library.h"
#include "analysis/run.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace uringsim;
using analysis::FileKind;
using analysis::Library;
using scenarios::Diagnostics;
namespace fs = std::filesystem;

namespace {

Library shipped() {
    Diagnostics diagnostics;
    auto library = Library::open(std::nullopt, diagnostics);
    REQUIRE_MESSAGE(library, diagnostics.to_string());
    return *library;
}

/// A folder that goes away with the test.
class ScratchFolder {
  public:
    ScratchFolder() {
        std::string name = (fs::temp_directory_path() / "uringsim-test-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }

    fs::path write(const std::string& name, const std::string& text) const {
        const fs::path path = path_ / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path;
    }

    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

constexpr const char* tiny_machine =
    R"({ "name": "tiny", "frequency_mhz": 1000, "cpus": 2, "costs": {} })";

} // namespace

TEST_CASE("a name with a slash or .json is a path, any other the name of a shipped file") {
    CHECK(analysis::is_path("./first-fill"));
    CHECK(analysis::is_path("first-fill.json"));
    CHECK_FALSE(analysis::is_path("first-fill"));
    CHECK_FALSE(analysis::is_path("rfc-0001+0002"));
}

TEST_CASE("a moved install is looked for before the source tree, and that before the install") {
    const auto folders = analysis::data_folders("/opt/sim/bin/uringsim");
    REQUIRE(folders.size() == 3);
    CHECK(folders[0] == "/opt/sim/share/uringsim");
    CHECK(folders[1].filename() == "scenarios");
    CHECK(folders[2].filename() == "uringsim");
}

TEST_CASE("every shipped file is in order and has the name that its file has") {
    const Library library = shipped();
    for (const FileKind kind : {FileKind::scenario, FileKind::design, FileKind::machine}) {
        CHECK_FALSE(library.names(kind).empty());
        for (const std::string& name : library.names(kind)) {
            Diagnostics diagnostics;
            const auto checked =
                analysis::check_file(library, library.path_of(kind, name), diagnostics);
            REQUIRE_MESSAGE(checked, diagnostics.to_string());
            CHECK(checked->kind == kind);
            CHECK(checked->name == name);
        }
    }
    for (const std::string& name : library.names(FileKind::published)) {
        Diagnostics diagnostics;
        CHECK_MESSAGE(
            analysis::check_file(library, library.path_of(FileKind::published, name), diagnostics),
            diagnostics.to_string());
    }
}

TEST_CASE("an unknown name is reported with those that there are and the nearest") {
    Diagnostics diagnostics;
    CHECK_FALSE(shipped().load(FileKind::scenario, "frist-fill", "SCENARIO", diagnostics));
    const std::string text = diagnostics.to_string();
    CHECK(text.starts_with(
        "command line: SCENARIO: there is no scenario \"frist-fill\"; there are "));
    CHECK(text.find("cold-warm, first-fill") != std::string::npos);
    CHECK(text.ends_with("; did you mean \"first-fill\"?\n"));
}

TEST_CASE("a data folder that is none is reported") {
    Diagnostics diagnostics;
    CHECK_FALSE(Library::open("/nonexistent", diagnostics));
    CHECK(diagnostics.to_string().starts_with(
        "command line: --data: no data folder at /nonexistent: "));
}

TEST_CASE("a file that cannot be read is reported with the reason") {
    Diagnostics diagnostics;
    CHECK_FALSE(analysis::read_json_file("/nonexistent.json", diagnostics));
    CHECK_FALSE(analysis::read_json_file("/tmp", diagnostics));
    CHECK_FALSE(analysis::read_json_file("/dev/zero", diagnostics));
    CHECK(diagnostics.to_string() ==
          "/nonexistent.json: cannot be read: No such file or directory\n"
          "/tmp: cannot be read: Is a directory\n"
          "/dev/zero: cannot be read: larger than 64 MiB\n");
}

TEST_CASE("designs build on each other: the shipped RFC designs") {
    const Library library = shipped();
    Diagnostics diagnostics;
    const auto node = library.load(FileKind::design, "rfc-0001+0002+0003", "--design", diagnostics);
    REQUIRE(node);
    const auto design = library.design(*node, diagnostics);
    REQUIRE_MESSAGE(design, diagnostics.to_string());
    CHECK(design->node_slab_kind == models::NodeSlab::dedicated);
    CHECK(design->node_cache_refill_batch == 32);
    CHECK(design->node_cache_prefill == models::Prefill::always);
    CHECK(design->node_cache_limit == 128);
}

TEST_CASE("the base of a design in a file is a shipped name or a path beside the file") {
    const ScratchFolder folder;
    folder.write("mine.json", R"({ "name": "mine", "base": "linux-6.13", "knobs": {} })");
    const fs::path top = folder.write(
        "top.json", R"({ "name": "top", "base": "mine.json", "knobs": { "slab.nomerge": true } })");
    Diagnostics diagnostics;
    const Library library = shipped();
    const auto node = library.load(FileKind::design, top.string(), "--design", diagnostics);
    REQUIRE(node);
    const auto design = library.design(*node, diagnostics);
    REQUIRE_MESSAGE(design, diagnostics.to_string());
    CHECK(design->name == "top");
    CHECK(design->node_bytes == 32);
    CHECK(design->slab_nomerge);
}

TEST_CASE("an unknown base is reported where it stands") {
    const ScratchFolder folder;
    const fs::path path =
        folder.write("d.json", R"({ "name": "d", "base": "linux-6.188", "knobs": {} })");
    Diagnostics diagnostics;
    const Library library = shipped();
    const auto node = library.load(FileKind::design, path.string(), "--design", diagnostics);
    REQUIRE(node);
    CHECK_FALSE(library.design(*node, diagnostics));
    CHECK(diagnostics.to_string().starts_with(
        path.string() + ":1:24: /base: there is no design \"linux-6.188\"; there are "));
    CHECK(diagnostics.to_string().ends_with("; did you mean \"linux-6.18\"?\n"));
}

TEST_CASE("a scenario names its design and machine, by name or by a path beside it") {
    const ScratchFolder folder;
    folder.write("tiny.json", tiny_machine);
    folder.write("s.json", R"({ "name": "s", "machine": "tiny.json", "design": "rfc-0001",
        "rings": { "a": {} },
        "tasks": [ { "name": "t", "cpu": 1, "program": [ { "op": "create_ring", "ring": "a" } ] } ] })");
    Diagnostics diagnostics;
    const auto prepared = analysis::prepare(
        shipped(), {(folder.path() / "s.json").string(), {}, {}, {}, {}, {}, {}}, diagnostics);
    REQUIRE_MESSAGE(prepared, diagnostics.to_string());
    CHECK(prepared->machine.name == "tiny");
    REQUIRE(prepared->designs.size() == 1);
    CHECK(prepared->designs[0].design.name == "rfc-0001");
}

TEST_CASE("the command line's machine takes the place of the scenario's: fewer CPUs are noticed") {
    const ScratchFolder folder;
    const std::string machine = folder.write("tiny.json", tiny_machine).string();
    Diagnostics diagnostics;
    analysis::RunRequest request;
    request.scenario = "first-fill";
    request.machine = machine;
    CHECK_FALSE(analysis::prepare(shipped(), request, diagnostics));
    CHECK(diagnostics.to_string().find(
              "/tasks/0/cpu: must be a whole number from 0 to 1 on machine tiny; got 2") !=
          std::string::npos);
}
