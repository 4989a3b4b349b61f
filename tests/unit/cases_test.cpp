// What people ran into: tests/cases/*.json, each a report restated as operations with their right
// outcome. A file that runs to its end holds; `expect` and `assert` do the checking.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "support.h"

using namespace uringsim;

namespace {

std::vector<std::filesystem::path> case_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(tests::test_folder() / "cases")) {
        if (entry.path().extension() == ".json") {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    return files;
}

scenarios::Result run_case(const std::filesystem::path& file, const std::string& design) {
    return scenarios::replay(tests::load_scenario(file.string()), tests::load_design(design),
                             tests::i7());
}

} // namespace

TEST_CASE("user cases have the right outcome") {
    const std::vector<std::filesystem::path> files = case_files();
    CHECK(files.size() >= 14);
    for (const std::filesystem::path& file : files) {
        const scenarios::Scenario scenario = tests::load_scenario(file.string());
        INFO(file.filename().string(), ": ", scenario.summary);
        CHECK(scenario.name == file.stem().string());
        CHECK_NOTHROW(run_case(file, scenario.design));
    }
}

TEST_CASE("user cases hold on every design that has the mechanism") {
    // Node caches and slabs decide costs, never outcomes; only the node's lifetime does.
    const std::set<std::string> per_ring{"ordered-reclaim-6.12"};
    for (const std::filesystem::path& file : case_files()) {
        if (per_ring.contains(file.stem().string())) {
            continue;
        }
        const scenarios::Scenario scenario = tests::load_scenario(file.string());
        if (scenario.design != "linux-6.18") {
            continue;
        }
        for (const char* design : {"linux-6.13", "rfc-0001", "rfc-0001+0002", "rfc-0001+0002+0003",
                                   "rfc-opt-in", "rfc-0001+account+nomerge"}) {
            INFO(file.filename().string(), " on ", design);
            CHECK_NOTHROW(run_case(file, design));
        }
    }
}

TEST_CASE("rewriting a live table allocates a node for every entry") {
    // liburing issue 267. 6.12 takes one for every entry removed, 6.18 one for every entry stored.
    for (const char* design : {"linux-6.12", "linux-6.18"}) {
        const auto result =
            run_case(tests::test_folder() / "cases" / "rewrite-live-table.json", design);
        const auto* phase = result.find_phase("rewrite");
        REQUIRE(phase != nullptr);
        CHECK(scenarios::counter_value(phase->counters, "node_alloc") == 64);
        CHECK(scenarios::counter_value(phase->counters, "files_removed") == 64);
        CHECK(scenarios::counter_value(phase->counters, "files_installed") == 64);
    }
}
