#include "analysis/compare.h"
#include "analysis/export/exporter.h"
#include "analysis/export/numbers.h"
#include "analysis/export/table.h"
#include "analysis/version.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace uringsim;
using namespace uringsim::analysis;

namespace {

/// A run at 1000 MHz, so that a cycle is a nanosecond.
Run run_of(const std::string& design, sim::Cycles slab, sim::Cycles user) {
    Run run;
    run.machine.name = "m";
    run.machine.mhz = 1000;
    scenarios::Result& result = run.result;
    result.scenario = "tiny";
    result.design = design;
    result.machine = "m";
    result.machine_mhz = 1000;
    result.seed = 7;
    result.fingerprint = 0xabc;
    result.parameters = {{"slots", "4", "slots"}};
    result.knobs = {{"node_cache.limit", "128", "nodes"},
                    {"slab.nomerge", "false", ""},
                    {"node_cache.prefill", "never", ""}};
    const sim::Cycles total = slab + user;
    result.phases = {
        {"fill", 4, {total / 2, total - total / 2}, {{"node_alloc", 8}, {"bulk_calls", 0}}}};
    result.counters = {{"node_alloc", 9}, {"bulk_calls", 0}};
    result.ledger = {{"fill", "t", "user", "sqe_prepare", 8, user},
                     {"fill", "t", "slab", "slub_alloc_fast", 8, slab}};
    result.ledger_outside = {{"", "t", "ring_setup", "ring_setup", 1, 36000}};
    result.memory = {9, 3, 32, 1024, 20000, 2, 8192, 32, 288, 0, 0};
    return run;
}

PublishedMatch match(double value, double simulated, double error) {
    PublishedMatch result;
    result.figure.id = "a-figure";
    result.figure.design = "old";
    result.figure.phase = "fill";
    result.figure.unit = "ns/install";
    result.figure.value = value;
    result.figure.noise_percent = 1.28;
    result.figure.gate_passed = true;
    result.figure.fitted = true;
    result.figure.source = "a mail";
    result.figure.citation = "somewhere";
    result.simulated = simulated;
    result.error = error;
    return result;
}

Run published_run() {
    Run run = run_of("old", 600, 200); // 100 ns an operation
    run.published = {match(99.5, 100, 0.5025)};
    return run;
}

Comparison comparison() {
    return compare({published_run(), run_of("new", 400, 208), run_of("same", 600, 200)}, 0, {});
}

std::string with_version(std::string text) {
    const std::string mark = "VERSION";
    const std::size_t at = text.find(mark);
    return at == std::string::npos ? text : text.replace(at, mark.size(), std::string(version()));
}

} // namespace

TEST_CASE("text: a run, word for word") {
    CHECK(make_text_exporter()->to_string(published_run()) ==
          with_version(R"(tiny on old, m (1000 MHz)
slots 4, seed 7
uringsim VERSION, fingerprint 0000000000000abc

phases
  phase  ops  rounds  us/round   ns/op     cv  published   error
  fill     4       2      0.40  100.00  0.0 %   99.50 ns  +0.5 %

what it cost, ns an operation
  mechanism    fill
  user        25.00
  slab        75.00
  total      100.00

counters, over all measured rounds of a phase
  counter     fill  whole run  unit
  node_alloc     8          9  nodes

memory
  memory of rsrc nodes    nodes or slabs  bytes
  live at most                         9    288
  cached at most                       3     96
  pointer arrays at most                   1024
  retained at most                        20000
  slabs at the end                     2   8192

published figures
  figure    published  simulated   error   noise  gate  use
  a-figure   99.50 ns  100.00 ns  +0.5 %  1.28 %  pass  fit
)"));
}

TEST_CASE("text: a comparison, word for word") {
    CHECK(make_text_exporter()->to_string(comparison()) == with_version(R"(tiny on m (1000 MHz)
slots 4, seed 7
uringsim VERSION; changes are against old; * is the fastest

fill: 4 operations a round, 2 rounds
  design  us/round  ns/operation   change  published   error
  old         0.40        100.00        -   99.50 ns  +0.5 %
  new *       0.30         76.00  -24.0 %
  same        0.40        100.00   +0.0 %

what moved in fill against old, an operation
  new: -24.00 ns = slab -25.00, rest +1.00
  same: +0.00 ns, nothing moved by 0.01 ns or more

memory retained, at most during the run
  design  retained    change  cached nodes  pointer arrays
  old     19.5 KiB         -             3      1024 bytes
  new     19.5 KiB  +0 bytes             3      1024 bytes
  same    19.5 KiB  +0 bytes             3      1024 bytes

published figures
  figure    published  simulated   error   noise  gate  use
  a-figure   99.50 ns  100.00 ns  +0.5 %  1.28 %  pass  fit
)"));
}

TEST_CASE("markdown: a comparison, word for word") {
    CHECK(make_markdown_exporter()->to_string(comparison()) ==
          with_version(R"(# tiny on m (1000 MHz)

- slots 4, seed 7
- uringsim VERSION; changes are against old; \* is the fastest

## fill: 4 operations a round, 2 rounds

| design | us/round | ns/operation | change | published | error |
| :-- | --: | --: | --: | --: | --: |
| old | 0.40 | 100.00 | - | 99.50 ns | +0.5 % |
| new * | 0.30 | 76.00 | -24.0 % |  |  |
| same | 0.40 | 100.00 | +0.0 % |  |  |

## what moved in fill against old, an operation

- new: -24.00 ns = slab -25.00, rest +1.00
- same: +0.00 ns, nothing moved by 0.01 ns or more

## memory retained, at most during the run

| design | retained | change | cached nodes | pointer arrays |
| :-- | --: | --: | --: | --: |
| old | 19.5 KiB | - | 3 | 1024 bytes |
| new | 19.5 KiB | +0 bytes | 3 | 1024 bytes |
| same | 19.5 KiB | +0 bytes | 3 | 1024 bytes |

## published figures

| figure | published | simulated | error | noise | gate | use |
| :-- | --: | --: | --: | --: | :-- | :-- |
| a-figure | 99.50 ns | 100.00 ns | +0.5 % | 1.28 % | pass | fit |
)"));
}

TEST_CASE("csv: a run, word for word") {
    std::string expected;
    for (const char* row : {"fill,operations,operations,4",
                            "fill,rounds,rounds,2",
                            "fill,cycles,cycles,400",
                            "fill,ns,ns,400",
                            "fill,ns_per_operation,ns,100",
                            "fill,ns_min,ns,400",
                            "fill,ns_median,ns,400",
                            "fill,ns_max,ns,400",
                            "fill,cv_percent,percent,0",
                            "fill,ns_per_operation:user,ns,25",
                            "fill,ns_per_operation:slab,ns,75",
                            "fill,node_alloc,nodes,8",
                            "fill,bulk_calls,calls,0",
                            ",node_alloc,nodes,9",
                            ",bulk_calls,calls,0",
                            ",nodes_live_peak,nodes,9",
                            ",nodes_cached_peak,nodes,3",
                            ",node_slot_bytes,bytes,32",
                            ",node_array_peak_bytes,bytes,1024",
                            ",retained_peak_bytes,bytes,20000",
                            ",node_slabs_at_end,slabs,2",
                            ",node_slabs_at_end_bytes,bytes,8192",
                            ",node_footprint_bytes,bytes,32",
                            ",live_peak_bytes,bytes,288",
                            ",percpu_peak_bytes,bytes,0",
                            ",rcu_callbacks_peak,callbacks,0",
                            "fill,published:a-figure,ns/install,99.5",
                            "fill,error:a-figure,percent,0.5025"}) {
        expected += "tiny,old,m,7,slots=4," + std::string(row) + "\n";
    }
    CHECK(make_csv_exporter()->to_string(published_run()) ==
          "scenario,design,machine,seed,settings,phase,metric,unit,value\n" + expected);
}

TEST_CASE("csv: changes follow the run that they are of") {
    const std::string text = make_csv_exporter()->to_string(comparison());
    CHECK(text.find("tiny,new,m,7,slots=4,fill,change_percent against old,percent,-24") !=
          std::string::npos);
    CHECK(text.find("tiny,new,m,7,slots=4,fill,change_ns_per_operation against old,ns,-24\n") !=
          std::string::npos);
}

TEST_CASE("csv: fields with commas, quotes and line breaks are quoted as RFC 4180 has it") {
    Run run = run_of("a \"b\", c\nd", 10, 10);
    const std::string text = make_csv_exporter()->to_string(run);
    CHECK(text.find("\ntiny,\"a \"\"b\"\", c\nd\",m,7,") != std::string::npos);
}

TEST_CASE("json: the keys of a result are a contract, and their order too") {
    const auto json =
        nlohmann::ordered_json::parse(make_json_exporter()->to_string(published_run()));
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) {
        keys.push_back(key);
    }
    CHECK(keys == std::vector<std::string>{"scenario", "design", "machine", "seed", "version",
                                           "fingerprint", "config", "phases", "counters", "ledger",
                                           "ledger_outside", "snapshots", "memory", "published", "latency"});
    CHECK(json["fingerprint"] == "0000000000000abc");
    CHECK(json["version"] == std::string(version()));
    CHECK(json["phases"].dump() ==
          R"({"fill":{"operations":4,"rounds":2,"cycles":400.0,"ns":400.0,)"
          R"("ns_per_operation":100.0,"ns_min":400.0,"ns_median":400.0,"ns_max":400.0,)"
          R"("cv_percent":0.0,"cycles_by_round":[400,400],"total_cycles":800,)"
          R"("counters":{"node_alloc":8,"bulk_calls":0}}})");
    CHECK(json["counters"].dump() == R"({"node_alloc":9,"bulk_calls":0})");
    CHECK(json["ledger"][1].dump() ==
          R"({"phase":"fill","task":"t","mechanism":"slab","primitive":"slub_alloc_fast",)"
          R"("count":8,"cycles":600})");
    CHECK(json["ledger_outside"].size() == 1);
    CHECK(json["memory"].dump() ==
          R"({"nodes_live_peak":9,"nodes_cached_peak":3,"node_slot_bytes":32,)"
          R"("node_array_peak_bytes":1024,"retained_peak_bytes":20000,"node_slabs_at_end":2,)"
          R"("node_slabs_at_end_bytes":8192,"node_footprint_bytes":32,"live_peak_bytes":288,)"
          R"("percpu_peak_bytes":0,"rcu_callbacks_peak":0})");
}

TEST_CASE("json: the configuration has typed values and the costs with their provenance") {
    const auto json =
        nlohmann::ordered_json::parse(make_json_exporter()->to_string(published_run()));
    const auto& config = json["config"];
    CHECK(config["parameters"].dump() == R"({"slots":4})");
    CHECK(config["knobs"].dump() ==
          R"({"node_cache.limit":128,"slab.nomerge":false,"node_cache.prefill":"never"})");
    CHECK(config["machine"]["frequency_mhz"] == 1000);
    CHECK(config["machine"]["costs"].size() == models::primitive_count);
    CHECK(config["machine"]["costs"]["waiting"]["cycles"] == 0.0);
    CHECK(config["machine"]["costs"]["slub_alloc_fast"].contains("provenance"));
}

TEST_CASE("json: a comparison") {
    const auto json = nlohmann::ordered_json::parse(make_json_exporter()->to_string(comparison()));
    CHECK(json["baseline"] == "old");
    CHECK(json["results"].size() == 3);
    CHECK(json["results"][1]["design"] == "new");
    CHECK(json["changes"][0].dump() ==
          R"({"phase":"fill","design":"new","baseline":"old","change_percent":-24.0,)"
          R"("change_ns_per_operation":-24.0,"moved":[)"
          R"({"mechanism":"slab","ns_per_operation":-25.0},)"
          R"({"mechanism":"user","ns_per_operation":1.0}]})");
    CHECK(json["results"][0]["published"][0].dump() ==
          R"({"id":"a-figure","design":"old","phase":"fill","metric":"ns_per_operation",)"
          R"("unit":"ns/install","published":99.5,"simulated":100.0,"error_percent":0.5025,)"
          R"("noise_percent":1.28,"gate":"pass","use":"fit","source":"a mail",)"
          R"("citation":"somewhere"})");
}

TEST_CASE("every format ends with one newline") {
    for (const ExportFormat& format : export_formats()) {
        const std::string text = format.make()->to_string(published_run());
        CHECK(text.ends_with("\n"));
        CHECK_FALSE(text.ends_with("\n\n"));
    }
}

TEST_CASE("a run without phases or rounds is written all the same") {
    Run run = run_of("d", 0, 0);
    run.result.phases = {{"empty", 1, {}, {}}};
    run.result.ledger = {};
    for (const ExportFormat& format : export_formats()) {
        CHECK_FALSE(format.make()->to_string(run).empty());
    }
    run.result.phases = {};
    for (const ExportFormat& format : export_formats()) {
        CHECK_FALSE(format.make()->to_string(run).empty());
    }
}

TEST_CASE("tables that are too wide go on below, beside their first column") {
    Table table({{"name", Align::left}, {"one"}, {"two"}});
    table.add_row({"a", "1", "22"});
    table.add_row({"bb", "333", "4"});
    CHECK(table.to_text(80) == "name  one  two\na       1   22\nbb    333    4\n");
    CHECK(table.to_text(10) ==
          "name  one\na       1\nbb    333\n\nname  two\na      22\nbb      4\n");
}

TEST_CASE("cells are aligned by characters, not bytes, and bars are escaped in Markdown") {
    Table table({{"n", Align::left}, {"v"}});
    table.add_row({"äö", "1"});
    table.add_row({"a|b", "22"});
    CHECK(table.to_text() == "n     v\näö    1\na|b  22\n");
    CHECK(table.to_markdown() == "| n | v |\n| :-- | --: |\n| äö | 1 |\n| a\\|b | 22 |\n");
}

TEST_CASE("long names lose their middle, long lines are wrapped") {
    CHECK(shortened("rfc-0001+0002+0003", 22) == "rfc-0001+0002+0003");
    CHECK(shortened("abcdefghij", 7) == "ab...ij");
    CHECK(shortened("äöüäöüäöü", 7) == "äö...öü");
    CHECK(wrapped("aa bb cc", 2, 6) == "aa bb\n  cc");
    CHECK(wrapped("aaaaaaaaaa b", 2, 6) == "aaaaaaaaaa\n  b");
    CHECK(wrapped(std::string("aa b") + no_break + "c", 2, 6) == "aa b c");
    CHECK(wrapped(std::string("aaa b") + no_break + "c", 2, 6) == "aaa\n  b c");
}

TEST_CASE("numbers have the digits that people read") {
    CHECK(short_number(119.423) == "119.42");
    CHECK(short_number(1234.56) == "1234.6");
    CHECK(short_number(518387) == "518387");
    CHECK(short_number(999.999) == "1000.0");
    CHECK(signed_number(-0.001) == "+0.00");
    CHECK(signed_percent(-0.04) == "+0.0 %");
    CHECK(signed_percent(8.5) == "+8.5 %");
    CHECK(exact_number(0.1) == "0.1");
    CHECK(bytes_text(4096) == "4096 bytes");
    CHECK(bytes_text(163840) == "160.0 KiB");
    CHECK(bytes_text(std::uint64_t{3} << 30) == "3.0 GiB");
}

TEST_CASE("statistics of rounds") {
    const RoundStatistics even = statistics({"p", 1, {4, 2, 8, 2}, {}});
    CHECK(even.min_cycles == 2);
    CHECK(even.median_cycles == 3);
    CHECK(even.max_cycles == 8);
    CHECK(even.cv_percent == doctest::Approx(70.71).epsilon(0.001));
    CHECK(statistics({"p", 1, {5}, {}}).cv_percent == 0);
    CHECK(statistics({"p", 1, {}, {}}).median_cycles == 0);
}
