// Sweeps: axes, points, rows, resuming, shards, summaries.

#include "analysis/sweep/axis.h"
#include "analysis/sweep/sweep_plan.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli_test.h"
#include "support.h"

using namespace uringsim;
using tests::call;
using tests::Called;
using tests::read_file;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> expanded(const std::string& text) {
    std::string error;
    const auto values = analysis::expand_values(text, true, error);
    REQUIRE_MESSAGE(values, error);
    return *values;
}

std::string refused(const std::string& text) {
    std::string error;
    CHECK_FALSE(analysis::expand_values(text, true, error));
    return error;
}

class Folder {
  public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "uringsim-sweep-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    std::string file(const std::string& name) const { return (path_ / name).string(); }

  private:
    fs::path path_;
};

/// 24 runs less those of limit 0 on the patch that refills in bulk: 21.
std::vector<std::string> small_sweep(const std::vector<std::string>& more) {
    std::vector<std::string> args{"sweep",   "remove-refill",
                                  "--param", "rounds=2",
                                  "--axis",  "node_cache.limit=0,8,16,32",
                                  "--axis",  "param:slots=8..32x2",
                                  "--designs", "linux-6.18,rfc-0001+0002"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = text.find('\n', at);
        lines.push_back(text.substr(at, end - at + 1));
        at = end + 1;
    }
    return lines;
}

} // namespace

TEST_CASE("values: numbers and ranges with both ends in") {
    using Values = std::vector<std::string>;
    CHECK(expanded("0,32,64..512x2") == Values{"0", "32", "64", "128", "256", "512"});
    CHECK(expanded("1..9+4") == Values{"1", "5", "9"});
    CHECK(expanded("1..10+4") == Values{"1", "5", "9", "10"});
    CHECK(expanded("3..5") == Values{"3", "4", "5"});
    CHECK(expanded("64..100x2") == Values{"64", "100"});
    CHECK(expanded("7..7") == Values{"7"});
    CHECK(expanded("true,false") == Values{"true", "false"});
    CHECK(refused("0..8x2").find("must start above 0") != std::string::npos);
    CHECK(refused("8..4").find("must end above its start") != std::string::npos);
    CHECK(refused("1..8x1").find("from 2") != std::string::npos);
    CHECK(refused("1..8+0").find("from 1") != std::string::npos);
    CHECK(refused("0..4000000").find("at most 1000000 values") != std::string::npos);
    CHECK(refused("64,32..128x2") == "\"64\" given twice");
    CHECK(refused("1,,2").find("a value is missing") != std::string::npos);
}

TEST_CASE("a dry run counts; what makes no sense is left out and said") {
    const Called called = call(small_sweep({"--dry-run"}));
    CHECK(called.status == 0);
    CHECK(called.out.starts_with("21 runs of 24 combinations\n"));
    CHECK(called.err.find("3 points left out: node_cache.refill_batch above 1 needs") !=
          std::string::npos);
    const Called fewer = call(small_sweep({"--dry-run", "--where", "limit <= slots"}));
    CHECK(fewer.out.starts_with("15 runs of 24 combinations\n"));
    CHECK(fewer.err.find("points left out: constraint limit <= slots") != std::string::npos);
    CHECK(call(small_sweep({"--dry-run", "--repeats", "3"})).out.starts_with("63 runs of 72"));
}

TEST_CASE("zipped axes move together, and must be of a length") {
    const std::vector<std::string> base{"sweep",  "first-fill",
                                        "--axis", "node_cache.limit=8,16",
                                        "--axis", "param:slots=8,16",
                                        "--zip",  "node_cache.limit,param:slots"};
    auto args = base;
    args.emplace_back("--dry-run");
    CHECK(call(args).out.starts_with("2 runs\n"));
    args[5] = "param:slots=8,16,32";
    CHECK(call(args).status == 2);
    CHECK(call(args).err.find("is zipped with an axis of 2 values, but has 3") !=
          std::string::npos);
}

TEST_CASE("sweeps that are absurd or misspelt are refused before anything runs") {
    const auto error = [](std::vector<std::string> more) {
        std::vector<std::string> args{"sweep", "first-fill"};
        args.insert(args.end(), more.begin(), more.end());
        const Called called = call(args);
        CHECK(called.status == 2);
        CHECK(called.out == "");
        return called.err;
    };
    CHECK(error({"--axis", "node_cache.limit=0..999999", "--axis", "param:slots=1..2000"})
              .find("--max-runs N allows more") != std::string::npos);
    CHECK(error({"--axis", "node_cache.limt=1"}).find("did you mean \"node_cache.limit\"?") !=
          std::string::npos);
    CHECK(error({"--axis", "slots=1"}).find("did you mean \"param:slots\"?") != std::string::npos);
    CHECK(error({"--axis", "node_cache.limit=1,2", "--zip", "node_cache.limit"})
              .find("two axes or more") != std::string::npos);
    CHECK(error({"--axis", "param:slotz=1"}).find("did you mean \"slots\"?") != std::string::npos);
    CHECK(error({"--axis", "node_cache.limit=-1"}).find("must be a whole number") !=
          std::string::npos);
    CHECK(error({"--designs", "linux-6.18,linux-6.18"}).find("given twice") != std::string::npos);
    CHECK(error({"--shard", "4/3"}).find("must be K/N") != std::string::npos);
    CHECK(error({"--resume"}).find("needs -o FILE") != std::string::npos);
    CHECK(error({"--where", "limit ~ 3"}).find("must compare two numbers") != std::string::npos);
    CHECK(error({"--where", "limt <= 3", "--axis", "node_cache.limit=1"}) != "");
    CHECK(error({"-o", "/nonexistent/x.jsonl"}).find("cannot be written") != std::string::npos);
}

TEST_CASE("jobs 1 and jobs 4 give the same bytes, in JSON Lines and in CSV") {
    const std::string one = call(small_sweep({"--jobs", "1"})).out;
    CHECK(lines_of(one).size() == 21);
    CHECK(call(small_sweep({"--jobs", "4"})).out == one);
    const std::string csv = call(small_sweep({"--format", "csv"})).out;
    CHECK(lines_of(csv).size() == 22);
    CHECK(csv.find("node_cache.limit [nodes]") != std::string::npos);
    CHECK(csv.find("fill: time per operation [ns]") != std::string::npos);
    CHECK(call(small_sweep({"--format", "csv", "--jobs", "3"})).out == csv);
}

TEST_CASE("a row of a sweep is the run that `run` does") {
    const std::string row = lines_of(call(small_sweep({})).out).at(0);
    const auto result =
        tests::run("remove-refill", "linux-6.18", {{"rounds", "2"}, {"slots", "8"}},
                   {{"node_cache.limit", "0"}});
    CHECK(row.find(fmt::format("\"fingerprint\":\"{:016x}\"", result.fingerprint)) !=
          std::string::npos);
}

TEST_CASE("shards merged equal the whole; what is missing, doubled or torn is refused") {
    const Folder folder;
    for (const std::string format : {"jsonl", "csv"}) {
        const std::string whole = folder.file("whole." + format);
        REQUIRE(call(small_sweep({"-o", whole})).status == 0);
        std::vector<std::string> merge{"merge", "-o", folder.file("merged." + format)};
        for (const std::string k : {"3", "1", "2"}) {
            const std::string path = folder.file("shard" + k + "." + format);
            REQUIRE(call(small_sweep({"-o", path, "--shard", k + "/3"})).status == 0);
            merge.push_back(path);
        }
        CHECK(call(merge).status == 0);
        CHECK(read_file(merge[2]) == read_file(whole));
        merge.pop_back();
        CHECK(call(merge).err.find("is missing") != std::string::npos);
        CHECK(call({"merge", whole, merge[3]}).err.find("row 2 is in") != std::string::npos);
        const std::string text = read_file(whole);
        write(whole, text.substr(0, text.size() - 5));
        CHECK(call({"merge", whole}).err.find("in the middle of a row") != std::string::npos);
    }
}

TEST_CASE("merge follows links, writes to devices, and touches no file but its own") {
    const Folder folder;
    const std::string rows = folder.file("rows.jsonl");
    REQUIRE(call(small_sweep({"-o", rows})).status == 0);
    const std::string whole = read_file(rows);
    const std::string link = folder.file("link.jsonl");
    const std::string target = folder.file("target.jsonl");
    fs::create_symlink("target.jsonl", link);
    write(link + ".merging", "the user's own");
    for (int time = 0; time < 2; ++time) { // the link leads nowhere at first, then to a file
        CHECK(call({"merge", rows, "-o", link}).status == 0);
        CHECK(fs::is_symlink(link));
        CHECK(read_file(target) == whole);
    }
    CHECK(read_file(link + ".merging") == "the user's own");
    CHECK(call({"merge", rows, "-o", "/dev/null"}).status == 0);
    CHECK(fs::is_character_file("/dev/null"));
    // What cannot be merged leaves the file as it was; so does a device that is full.
    write(rows, whole.substr(0, whole.find('\n') + 1));
    CHECK(call({"merge", rows, "-o", link}).status == 2);
    CHECK(read_file(target) == whole);
    const Called full = call({"merge", target, "-o", "/dev/full"});
    CHECK(full.status == 1);
    CHECK(full.err.find("No space left on device") != std::string::npos);
    CHECK(call({"merge", target, "-o", folder.file("no/such/rows")}).status == 2);
    CHECK(call({"merge", folder.file(".")}).err.find("cannot be read: Is a directory") !=
          std::string::npos);
}

TEST_CASE("resuming completes whatever a kill left, to the same bytes") {
    const Folder folder;
    for (const std::string format : {"jsonl", "csv"}) {
        const std::string path = folder.file("rows." + format);
        const auto args = small_sweep({"-o", path, "--resume"});
        const Called first = call(args); // nothing is there yet
        REQUIRE(first.status == 0);
        const std::string whole = read_file(path);
        for (std::size_t bytes = 0; bytes <= whole.size(); bytes += whole.size() / 13) {
            write(path, whole.substr(0, bytes));
            const Called called = call(args);
            CHECK(called.status == 0);
            CHECK(called.out == first.out); // the summary, too
            CHECK(read_file(path) == whole);
        }
    }
}

TEST_CASE("a deleted row is run again, and rows of a smaller sweep are used again") {
    const Folder folder;
    const std::string path = folder.file("rows.jsonl");
    const auto args = small_sweep({"-o", path, "--resume"});
    REQUIRE(call(args).status == 0);
    const std::string whole = read_file(path);
    auto lines = lines_of(whole);
    lines.erase(lines.begin() + 5);
    lines.erase(lines.begin() + 11);
    std::string text;
    for (const std::string& line : lines) {
        text += line;
    }
    write(path, text);
    CHECK(call(args).status == 0);
    CHECK(read_file(path) == whole);
    CHECK_FALSE(fs::exists(path + ".kept"));

    REQUIRE(call({"sweep", "remove-refill", "--param", "rounds=2", "--axis",
                  "node_cache.limit=16,0", "--axis", "param:slots=8..32x2", "-o", path})
                .status == 0);
    CHECK(call(args).status == 0);
    CHECK(read_file(path) == whole);
    // A file of something else is left alone.
    REQUIRE(call({"sweep", "first-fill", "--param", "rounds=1", "--param", "slots=8", "-o", path})
                .status == 0);
    const std::string other = read_file(path);
    CHECK(call(args).err.find("none of its rows is of this sweep") != std::string::npos);
    CHECK(read_file(path) == other);
}

TEST_CASE("resuming refuses a file with anything else in it, and leaves it as it was") {
    const Folder folder;
    const auto refused_as_it_was = [&](const std::vector<std::string>& args,
                                       const std::string& why) {
        const std::string& path = args[args.size() - 2];
        const std::string before = read_file(path);
        const Called called = call(args);
        CHECK(called.status == 2);
        INFO(called.err);
        CHECK(called.err.find(why) != std::string::npos);
        CHECK(read_file(path) == before);
        CHECK_FALSE(fs::exists(path + ".kept"));
    };
    const std::string notes = folder.file("notes.jsonl");
    const std::string table = folder.file("notes.csv");
    for (const std::string text : {"my notes", "my notes\n", "{\"index\":0,\"runs\":9", "7"}) {
        write(notes, text);
        refused_as_it_was(small_sweep({"-o", notes, "--resume"}),
                          text.ends_with('\n') ? "no rows of a sweep: my notes"
                                               : "none of its rows is of this sweep");
        write(table, text);
        refused_as_it_was(small_sweep({"-o", table, "--resume"}), "its header is not that");
    }
    const std::string rows = folder.file("rows.jsonl");
    REQUIRE(call(small_sweep({"-o", rows})).status == 0);
    // Rows of a larger sweep, of another shard, and lines of the user's behind the rows.
    refused_as_it_was({"sweep", "remove-refill", "--param", "rounds=2", "--axis",
                       "node_cache.limit=0,8", "--axis", "param:slots=8..32x2", "--designs",
                       "linux-6.18,rfc-0001+0002", "-o", rows, "--resume"},
                      "12 rows in it are not of this sweep or shard");
    refused_as_it_was(small_sweep({"--shard", "1/3", "-o", rows, "--resume"}),
                      "14 rows in it are not of this sweep or shard");
    const std::string whole = read_file(rows);
    write(rows, whole + "noted: all well\n");
    refused_as_it_was(small_sweep({"-o", rows, "--resume"}), "no rows of a sweep: noted");
    write(rows, whole + "noted: all well");
    refused_as_it_was(small_sweep({"-o", rows, "--resume"}), "what follows its last row");
}

TEST_CASE("files of the user's beside the rows stay, whatever their names") {
    const Folder folder;
    const std::string rows = folder.file("rows.jsonl");
    for (const std::string end : {".kept", ".kept.new"}) {
        write(rows + end, "mine");
    }
    REQUIRE(call(small_sweep({"-o", rows})).status == 0);
    const std::string whole = read_file(rows);
    CHECK(call(small_sweep({"-o", rows, "--resume"})).status == 0);
    // Where rows would have to be kept there, the sweep says so and changes nothing.
    const std::string fewer = whole.substr(whole.find('\n') + 1);
    write(rows, fewer);
    const Called called = call(small_sweep({"-o", rows, "--resume"}));
    CHECK(called.status == 2);
    CHECK(called.err.find("but that is another file; move it away") != std::string::npos);
    CHECK(read_file(rows) == fewer);
    for (const std::string end : {".kept", ".kept.new"}) {
        CHECK(read_file(rows + end) == "mine");
    }
    fs::remove(rows + ".kept");
    CHECK(call(small_sweep({"-o", rows, "--resume"})).status == 0);
    CHECK(read_file(rows) == whole);
    CHECK_FALSE(fs::exists(rows + ".kept"));
}

TEST_CASE("shards of sweeps that differ in anything do not merge") {
    const Folder folder;
    for (const std::string format : {"jsonl", "csv"}) {
        const std::string first = folder.file("1." + format);
        const std::string second = folder.file("2." + format);
        REQUIRE(call(small_sweep({"--shard", "1/2", "-o", first})).status == 0);
        const std::vector<std::vector<std::string>> others{{"--param", "batch=8"},
                                                           {"--seed", "9"},
                                                           {"--machine", "bigbox-2023"},
                                                           {"--set", "slab.debug=true"}};
        for (const auto& other : others) {
            auto args = small_sweep({"--shard", "2/2", "-o", second});
            args.insert(args.end(), other.begin(), other.end());
            const Called called = call(args);
            REQUIRE_MESSAGE(called.status == 0, called.err);
            const Called merged = call({"merge", first, second});
            CHECK(merged.status == 2);
            CHECK(merged.err.find("of another sweep") != std::string::npos);
        }
        REQUIRE(call(small_sweep({"--shard", "2/2", "-o", second, "--seed", "1"})).status == 0);
        CHECK(call({"merge", first, second}).status == 0); // the same by other words
    }
}

TEST_CASE("rows hold the knobs that were set, not only those that were swept") {
    const std::vector<std::string> args{"sweep",   "first-fill", "--param", "rounds=1",
                                        "--param", "slots=8",    "--set",   "node_cache.limit=8",
                                        "--format"};
    auto csv = args;
    csv.emplace_back("csv");
    CHECK(call(csv).out.find(",node_cache.limit [nodes],") != std::string::npos);
    auto json = args;
    json.emplace_back("jsonl");
    CHECK(call(json).out.find("\"knobs\":{\"node_cache.limit\":8}") != std::string::npos);
}

TEST_CASE("seeds: no axis beside --repeats or --seed, and no wrapping") {
    const auto err = [](std::vector<std::string> more) {
        std::vector<std::string> args{"sweep", "first-fill", "--dry-run"};
        args.insert(args.end(), more.begin(), more.end());
        const Called called = call(args);
        CHECK(called.status == (called.err.empty() ? 0 : 2));
        return called.err;
    };
    CHECK(err({"--axis", "seed=1,2", "--repeats", "3"}).find("give one of the two") !=
          std::string::npos);
    CHECK(err({"--axis", "seed=1,2", "--seed", "3"}).find("is also set with --seed") !=
          std::string::npos);
    CHECK(err({"--machines", "i7-12700kf,icount", "--machine", "icount"})
              .find("is also set with --machine") != std::string::npos);
    const std::string last = "18446744073709551615";
    CHECK(err({"--seed", last, "--repeats", "2"}).find("pass over the largest") !=
          std::string::npos);
    CHECK(err({"--seed", last}).empty());
}

TEST_CASE("what is counted without walking is what walking finds") {
    const auto counted = [](std::vector<std::string> more) {
        auto args = small_sweep({"--repeats", "2", "--dry-run"});
        args.insert(args.end(), more.begin(), more.end());
        return call(args);
    };
    // A constraint that always holds joins knobs and parameters, so that all pairs are walked.
    const Called apart = counted({});
    const Called joined = counted({"--where", "limit >= 0"});
    CHECK(apart.out == joined.out);
    CHECK(apart.err == joined.err);
    CHECK(apart.out.starts_with("42 runs of 48 combinations\n"));
    // Parameters that make no sense together, knobs that do not, and both.
    const std::vector<std::string> both{"sweep",     "remove-refill",
                                        "--axis",    "param:installs=8,16",
                                        "--axis",    "param:slots=8,16",
                                        "--axis",    "node_cache.limit=0,8",
                                        "--designs", "linux-6.18,rfc-0001+0002",
                                        "--dry-run"};
    auto walked = both;
    walked.insert(walked.end(), {"--where", "limit >= 0"});
    CHECK(call(both).out == call(walked).out);
    CHECK(call(both).err == call(walked).err);
    CHECK(call(both).out.starts_with("9 runs of 16 combinations\n"));
}

TEST_CASE("a name that is no sweep and no scenario is compared with both") {
    const Called called = call({"sweep", "cache-limit", "--dry-run"});
    CHECK(called.status == 2);
    CHECK(called.err.find("the sweeps are cache-limits") != std::string::npos);
    CHECK(called.err.find("did you mean \"cache-limits\"?") != std::string::npos);
    CHECK(call({"sweep", "first-fil"}).err.find("did you mean \"first-fill\"?") !=
          std::string::npos);
    CHECK(call({"sweep", "first-fill", "--shard", "1/2000000"}).err.find("N from 1 to 1000000") !=
          std::string::npos);
}

TEST_CASE("an axis that changed nothing is reported, one that did is not") {
    const auto err = [](const std::string& axis, const std::string& design) {
        return call({"sweep", "first-fill", "--param", "slots=64", "--param", "rounds=1", "--axis",
                     axis, "--axis", "param:batch=16,32", "--designs", design})
            .err;
    };
    CHECK(err("node_cache.prefill_cap=64,128", "linux-6.18") ==
          "uringsim sweep: node_cache.prefill_cap never became active: its values made no "
          "difference to any run\n");
    CHECK(err("node_cache.prefill_cap=16,32", "rfc-0001+0002+0003") == "");
    CHECK(err("node_cache.trim_us=5,10", "rfc-0001").find("node_cache.trim_us") !=
          std::string::npos);
}

TEST_CASE("a run that stops is a row with its error, and the sweep goes on") {
    const Folder folder;
    const std::string scenario = folder.file("odd.json");
    write(scenario, R"({ "name": "odd", "parameters": { "n": 1 }, "rings": { "r": {} }, "tasks": [
        { "name": "t", "cpu": 0, "program": [ { "op": "create_ring", "ring": "r" },
          { "op": "assert", "quantity": "rings_alive", "equals": "$n" } ] } ] })");
    const Called called = call({"sweep", scenario, "--axis", "param:n=0..2"});
    CHECK(called.status == 1);
    const auto lines = lines_of(called.out);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].find("\"error\":") != std::string::npos);
    CHECK(lines[1].find("\"error\":") == std::string::npos);
    CHECK(called.err.find("2 runs stopped") != std::string::npos);
    CHECK(call({"sweep", scenario, "--phase", "x", "--axis", "param:n=1"})
              .err.find("odd has no phase at all") != std::string::npos);
    // A scenario without phases: the good run counts as such; resumed rows count as those just run.
    for (const std::string format : {"jsonl", "csv"}) {
        const std::vector<std::string> args{"sweep",
                                            scenario,
                                            "--axis",
                                            "param:n=0..2",
                                            "--resume",
                                            "-o",
                                            folder.file("odd-rows." + format)};
        const Called first = call(args);
        const Called again = call(args);
        CHECK(first.status == 1);
        CHECK(first.out == "3 runs of odd, 2 of which stopped with an error\n");
        CHECK(again.status == first.status);
        CHECK(again.out == first.out);
        CHECK(again.err == first.err);
    }
}

TEST_CASE("the shipped sweep is in order, and says how many runs it is") {
    const Called called = call({"check", tests::library().path_of(analysis::FileKind::sweep, "cache-limits").string()});
    CHECK(called.status == 0);
    CHECK(called.out.find("ok (sweep cache-limits, 294 runs)") != std::string::npos);
}
