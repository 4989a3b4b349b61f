#include "tests/unit/cli_test.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <vector>

using namespace uringsim;
using tests::call;
using tests::Called;
namespace fs = std::filesystem;
namespace status = analysis::exit_status;

namespace {

/// first-fill, as small as it gets, with more options behind.
Called run_small(std::vector<std::string> more = {}) {
    std::vector<std::string> args{"run",     "first-fill", "--param", "slots=8",
                                  "--param", "rounds=2",   "--param", "batch=4"};
    args.insert(args.end(), more.begin(), more.end());
    return call(args);
}

/// Bad input: nothing on standard output, status 2, and exactly this on standard error.
void check_refused(const Called& called, const std::string& message) {
    CHECK(called.status == status::bad_input);
    CHECK(called.out == "");
    CHECK(called.err == message + "\n");
}

std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

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

    std::string file(const std::string& name) const { return (path_ / name).string(); }

    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
    }

  private:
    fs::path path_;
};

bool fits_80_columns(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.size() > 80 || line.ends_with(' ')) {
            MESSAGE(line);
            return false;
        }
    }
    return true;
}

} // namespace

TEST_CASE("without a command the program says what it takes, as an error") {
    const Called called = call({});
    CHECK(called.status == status::bad_input);
    CHECK(called.out == "");
    CHECK(called.err.starts_with("usage: uringsim COMMAND"));
}

TEST_CASE("help and version go to standard output") {
    CHECK(call({"--help"}).out.starts_with("usage: uringsim COMMAND"));
    CHECK(call({"--version"}).out.starts_with("uringsim "));
    for (const analysis::Command& command : analysis::commands()) {
        const Called called = call({std::string(command.name), "--help"});
        CHECK(called.status == status::done);
        CHECK(called.out.starts_with("usage: uringsim " + std::string(command.name)));
        CHECK(called.err == "");
    }
}

TEST_CASE("an unknown command or option is refused, with the nearest") {
    check_refused(call({"rnu", "first-fill"}),
                  "uringsim: there is no command \"rnu\"; the commands are run, compare, sweep, "
                  "merge, tradeoff, native, validate, calibrate, check, list, explain, schema; did "
                  "you mean \"run\"?");
    check_refused(call({"run", "first-fill", "--desing", "x"}),
                  "uringsim run: there is no option \"--desing\"; did you mean \"--design\"?");
    check_refused(call({"list", "knobs", "--seed", "1"}),
                  "uringsim list: there is no option \"--seed\"");
}

TEST_CASE("an option's name is never guessed from its start") {
    check_refused(call({"run", "first-fill", "--mach", "x"}),
                  "uringsim run: there is no option \"--mach\"");
}

TEST_CASE("arguments that are missing or too many are refused") {
    check_refused(call({"run"}),
                  "uringsim run: SCENARIO is missing; `uringsim run --help` says what it takes");
    check_refused(call({"run", "a", "b"}), "uringsim run: takes one SCENARIO, not several");
    CHECK(call({"compare", "first-fill"}).status == status::bad_input);
    CHECK(call({"check"}).status == status::bad_input);
    CHECK(call({"run", "first-fill", "--seed"}).status == status::bad_input);
    CHECK(call({"run", "first-fill", "--seed", "1", "--seed", "2"}).status == status::bad_input);
}

TEST_CASE("bad values of knobs are refused with what is allowed") {
    check_refused(run_small({"--set", "node_cache.limit=-1"}),
                  "command line: --set node_cache.limit: must be a whole number from 0 to 1048576 "
                  "(nodes); got -1");
    check_refused(run_small({"--set", "node_cache.limit=3.9"}),
                  "command line: --set node_cache.limit: must be a whole number from 0 to 1048576 "
                  "(nodes); got 3.9");
    CHECK(run_small({"--set", "node_cache.limit=1e9"})
              .err.starts_with("command line: --set node_cache.limit: must be a whole number from "
                               "0 to 1048576 (nodes); "
                               "got 1e9"));
    check_refused(run_small({"--set", "node_cache.limti=128"}),
                  "command line: --set node_cache.limti: there is no such knob; `uringsim list "
                  "knobs` names all; did you mean \"node_cache.limit\"?");
    check_refused(run_small({"--set", "node_cache.prefill=somtimes"}),
                  "command line: --set node_cache.prefill: must be one of \"never\", \"always\", "
                  "\"flag\"; got \"somtimes\"");
    check_refused(run_small({"--set", "node_cache.limit"}),
                  "command line: --set: must be knob=value; got \"node_cache.limit\"");
    CHECK(run_small({"--set", "node_cache.limit="}).status == status::bad_input);
    CHECK(run_small({"--set", "slab.nomerge=1"}).status == status::bad_input);
}

TEST_CASE("knobs that do not go together are refused, naming the design") {
    check_refused(
        run_small({"--set", "node_cache.refill_batch=32"}),
        "command line: --set: on design linux-6.18: node_cache.refill_batch above 1 needs "
        "node_slab.kind dedicated: kmem_cache_alloc_bulk needs a kmem_cache");
}

TEST_CASE("bad values of parameters, seeds and formats are refused, all at once") {
    const Called called = call({"run", "first-fill", "--param", "slots=abc", "--param", "solts=8",
                                "--param", "batch=0", "--seed", "-0x1", "--format", "jsno"});
    CHECK(called.status == status::bad_input);
    CHECK(called.out == "");
    for (const char* line :
         {"--param slots: must be a whole number from 1 to 1048576 (slots); got \"abc\"",
          "--param solts: first-fill has no such parameter; it declares slots, batch, rounds; did "
          "you mean \"slots\"?",
          "--param batch: must be a whole number from 1 to 256 (requests); got 0",
          "--seed: must be a whole number from 0 to 18446744073709551615; got \"-0x1\"",
          "--format: must be one of \"text\", \"json\", \"csv\", \"markdown\"; got \"jsno\"; did "
          "you mean \"json\"?"}) {
        CAPTURE(line);
        CAPTURE(called.err);
        CHECK(called.err.find("command line: " + std::string(line) + "\n") != std::string::npos);
    }
}

TEST_CASE("unknown scenarios, designs and machines are refused with the nearest") {
    CHECK(call({"run", "frist-fill"}).err.ends_with("; did you mean \"first-fill\"?\n"));
    CHECK(run_small({"--design", "linux-6.188"}).err.ends_with("; did you mean \"linux-6.18\"?\n"));
    CHECK(run_small({"--machine", "i7-12700"}).err.ends_with("; did you mean \"i7-12700kf\"?\n"));
    CHECK(call({"run", "none.json"}).err ==
          "none.json: cannot be read: No such file or directory\n");
}

TEST_CASE("a wrong knob is reported once, however many designs are compared") {
    const Called called = call({"compare", "first-fill", "--designs", "linux-6.18,rfc-0001",
                                "--set", "node_cache.limit=-1"});
    CHECK(called.status == status::bad_input);
    CHECK(std::ranges::count(called.err, '\n') == 1);
}

TEST_CASE("compare: designs given twice or unknown, and a baseline that is none of them") {
    check_refused(call({"compare", "first-fill", "--designs", "linux-6.18,linux-6.18"}),
                  "command line: --designs: \"linux-6.18\" given twice");
    check_refused(call({"compare", "first-fill", "--designs", "linux-6.18,"}),
                  "command line: --designs: a name is missing in \"linux-6.18,\"");
    check_refused(call({"compare", "first-fill", "--designs", "linux-6.18,rfc-0001", "--baseline",
                        "rfc-001"}),
                  "command line: --baseline: \"rfc-001\" is none of --designs linux-6.18,rfc-0001; "
                  "did you mean \"rfc-0001\"?");
}

TEST_CASE("compare --vary: each design once with each value, and what is wrong with a variation") {
    const std::vector<std::string> args{"compare",   "rsrc-update", "--designs", "linux-6.3,linux-6.4",
                                        "--param",   "warmup=1",    "--param",   "rounds=1",
                                        "--param",   "batch=1",     "--format",  "csv",
                                        "--baseline", "linux-6.4",  "--vary"};
    const auto with = [&](const std::string& vary) {
        std::vector<std::string> all = args;
        all.push_back(vary);
        return call(all);
    };
    const Called varied = with("kernel.possible_cpus=8,18");
    CHECK(varied.status == status::done);
    for (const char* name : {"linux-6.3 kernel.possible_cpus=8", "linux-6.3 kernel.possible_cpus=18",
                             "linux-6.4 kernel.possible_cpus=8",
                             "linux-6.4 kernel.possible_cpus=18"}) {
        CHECK_MESSAGE(varied.out.find(name) != std::string::npos, name);
    }
    auto as_text = args;
    as_text[11] = "text"; // in place of csv
    as_text.emplace_back("kernel.possible_cpus=8,18");
    CHECK(call(as_text).out.find("\n  linux-6.3 kernel.possible_cpus=18 ") != std::string::npos);
    check_refused(with("kernel.possible_cpus"), "command line: --vary: must be knob=values; got "
                                                "\"kernel.possible_cpus\"");
    check_refused(with("kernel.hz=100,100"), "command line: --vary kernel.hz: \"100\" given twice");
    CHECK(with("kernel.hz=100..400x2").out.find("linux-6.4 kernel.hz=400") !=
          std::string::npos); // ranges, as an axis of a sweep has them
    check_refused(with("kernel.hz=1..1000"), "command line: --vary kernel.hz: 1000 values are more "
                                             "than 100: `uringsim sweep` is for so many");
    check_refused(with("kernel.hz=100,5"), "command line: --vary kernel.hz: must be a whole number "
                                           "from 100 to 1000 (ticks/s); got 5");
}

TEST_CASE("a run prints its result to standard output and nothing else") {
    const Called called = run_small();
    CHECK(called.status == status::done);
    CHECK(called.err == "");
    CHECK(called.out.starts_with("first-fill on linux-6.18, i7-12700kf (3600 MHz)\n"
                                 "slots 8, batch 4, rounds 2, seed 1\n"));
    CHECK(fits_80_columns(called.out));
}

TEST_CASE("the same command gives the same bytes, in every format") {
    for (const char* format : {"text", "json", "csv", "markdown"}) {
        const Called first = run_small({"--format", format});
        CHECK(first.status == status::done);
        CHECK(run_small({"--format", format}).out == first.out);
    }
}

TEST_CASE("options change what is run and are in the result") {
    const Called called = run_small({"--format", "json", "--seed", "18446744073709551615", "--set",
                                     "node_cache.limit=256", "--design", "rfc-0001"});
    const auto json = nlohmann::json::parse(called.out);
    CHECK(json["seed"] == 18446744073709551615U);
    CHECK(json["design"] == "rfc-0001");
    CHECK(json["config"]["parameters"]["slots"] == 8);
    CHECK(json["config"]["knobs"]["node_cache.limit"] == 256);
    CHECK(json["config"]["changed_knobs"] == nlohmann::json({{"node_cache.limit", 256}}));
    CHECK(json["phases"]["fill"]["operations"] == 8);
    CHECK(json["phases"]["fill"]["rounds"] == 2);
    CHECK(json["phases"]["fill"]["counters"]["node_alloc"] == 16);
}

TEST_CASE("every phase's ledger sums to its total, in what JSON says") {
    const auto json = nlohmann::json::parse(
        call({"run", "remove-refill", "--param", "slots=64", "--format", "json"}).out);
    for (const auto& [name, phase] : json["phases"].items()) {
        std::int64_t sum = 0;
        for (const auto& row : json["ledger"]) {
            sum += row["phase"] == name ? row["cycles"].get<std::int64_t>() : 0;
        }
        CHECK(sum == phase["total_cycles"].get<std::int64_t>());
        CHECK(phase["cycles_by_round"].size() == phase["rounds"]);
    }
}

TEST_CASE("compare gives the results in the order asked, and fits 80 columns as text") {
    std::vector<std::string> args{"compare",    "first-fill",
                                  "--param",    "rounds=2",
                                  "--designs",  "rfc-0001+0002+0003,linux-6.18,rfc-opt-in",
                                  "--baseline", "linux-6.18"};
    const Called text = call(args);
    CHECK(text.status == status::done);
    CHECK(text.err == "");
    CHECK(fits_80_columns(text.out));
    args.insert(args.end(), {"--format", "json"});
    const auto json = nlohmann::json::parse(call(args).out);
    CHECK(json["baseline"] == "linux-6.18");
    CHECK(json["results"].size() == 3);
    CHECK(json["results"][0]["design"] == "rfc-0001+0002+0003");
    CHECK(json["results"][1]["design"] == "linux-6.18");
    CHECK(json["changes"].size() == 2);
    CHECK(json["changes"][0]["design"] == "rfc-0001+0002+0003");
    CHECK(json["changes"][0]["change_percent"] < 0);
    CHECK(json["changes"][0]["moved"][0].contains("ns_per_operation"));
}

TEST_CASE("a run that stops says why, prints no result and leaves no file") {
    const ScratchFolder folder;
    const std::string scenario = folder.file("stops.json");
    std::ofstream(scenario) << R"({ "name": "stops", "rings": { "a": {} }, "tasks": [
        { "name": "t", "program": [ { "op": "create_ring", "ring": "a" },
          { "op": "unregister_files", "ring": "a" } ] } ] })";
    const Called called = call({"run", scenario, "-o", folder.file("result.txt")});
    CHECK(called.status == status::failed);
    CHECK(called.out == "");
    CHECK(called.err.starts_with("uringsim: the run stopped: "));
    CHECK(called.err.find("-ENXIO") != std::string::npos);
    CHECK(folder.files() == 1);

    const Called compared = call({"compare", scenario, "--designs", "linux-6.18,rfc-0001"});
    CHECK(compared.status == status::failed);
    CHECK(compared.err.starts_with("uringsim: the run stopped: design linux-6.18: "));
}

TEST_CASE("a result is written to a file whole, in place of what was there") {
    const ScratchFolder folder;
    const std::string file = folder.file("result.txt");
    std::ofstream(file) << "something longer than nothing";
    CHECK(chmod(file.c_str(), 0640) == 0);
    const Called called = run_small({"-o", file});
    CHECK(called.status == status::done);
    CHECK(called.out == "");
    CHECK(called.err == "");
    CHECK(content(file) == run_small().out);
    CHECK(folder.files() == 1);
    struct stat after {};
    CHECK(stat(file.c_str(), &after) == 0);
    CHECK((after.st_mode & 07777U) == 0640);
}

TEST_CASE("a symbolic link stays one; the file that it names gets the result") {
    const ScratchFolder folder;
    std::ofstream(folder.file("file")) << "old";
    fs::create_symlink("file", folder.file("link"));
    CHECK(run_small({"--output", folder.file("link")}).status == status::done);
    CHECK(fs::is_symlink(folder.file("link")));
    CHECK(content(folder.file("file")) == run_small().out);
}

TEST_CASE("an output that cannot be written is refused before the run") {
    const ScratchFolder folder;
    check_refused(run_small({"-o", folder.file("no/such/folder")}),
                  "command line: --output " + folder.file("no/such/folder") +
                      ": cannot be written: No such file or directory");
    check_refused(run_small({"-o", fs::path(folder.file("x")).parent_path().string()}),
                  "command line: --output " + fs::path(folder.file("x")).parent_path().string() +
                      ": cannot be written: names a folder, not a file");
}

TEST_CASE("a full disk is an error") {
    const Called called = run_small({"-o", "/dev/full"});
    CHECK(called.status == status::failed);
    CHECK(called.out == "");
    CHECK(called.err == "uringsim: /dev/full cannot be written: No space left on device\n");
}

TEST_CASE("list names everything, one entry after the other") {
    CHECK(call({"list", "scenarios"}).out.find("\ncold-warm ") != std::string::npos);
    CHECK(call({"list", "designs"}).out.find("\nrfc-0001+0002+0003  ") != std::string::npos);
    CHECK(call({"list", "machines"}).out.find("\ni7-12700kf ") != std::string::npos);
    CHECK(call({"list", "knobs"}).out.find("\nnode_cache.limit ") != std::string::npos);
    CHECK(call({"list", "primitives"}).out.find("\nslub_alloc_fast ") != std::string::npos);
    CHECK(call({"list", "counters"}).out.starts_with("node_alloc "));
    CHECK(call({"list", "policies"}).out.starts_with("io_alloc_cache "));
    CHECK(call({"list", "operations"}).out.starts_with("create_ring"));
    for (const char* kind : {"scenarios", "designs", "machines", "sweeps", "knobs", "primitives",
                             "counters", "policies", "operations"}) {
        const Called called = call({"list", kind});
        CHECK(called.status == status::done);
        CHECK(called.err == "");
        CHECK(fits_80_columns(called.out));
    }
    check_refused(
        call({"list", "knob"}),
        "uringsim list: cannot list \"knob\"; it lists scenarios, designs, machines, "
        "sweeps, knobs, primitives, counters, policies, operations; did you mean \"knobs\"?");
}

TEST_CASE("explain says what a name is") {
    const Called knob = call({"explain", "node_cache.limit"});
    CHECK(knob.status == status::done);
    CHECK(knob.out.starts_with("node_cache.limit: a knob of designs\n"));
    CHECK(knob.out.find("  unit      nodes\n") != std::string::npos);
    CHECK(knob.out.find("  default   128 (linux-6.18)\n") != std::string::npos);
    CHECK(call({"explain", "node_alloc"}).out.starts_with("node_alloc: a counter of results\n"));
    CHECK(call({"explain", "io_alloc_cache"}).out.starts_with("io_alloc_cache: a policy "));
    const std::string both = call({"explain", "page_alloc"}).out;
    CHECK(both.starts_with("page_alloc: a primitive"));
    CHECK(both.find("\npage_alloc: a counter") != std::string::npos);
    const std::string on_machine =
        call({"explain", "slub_alloc_fast", "--machine", "i7-12700kf"}).out;
    CHECK(on_machine.find("\n  on i7-12700kf at 3600 MHz\n    cost    ") != std::string::npos);
    CHECK(on_machine.find("\n    known   ") != std::string::npos);
    check_refused(call({"explain", "node_aloc"}),
                  "command line: NAME: there is no knob, primitive, counter, policy or operation "
                  "\"node_aloc\"; `uringsim list knobs` and so on name all; did you mean "
                  "\"node_alloc\"?");
}
