#include "analysis/native/btf.h"
#include "analysis/native/cases.h"
#include "analysis/native/counter_plan.h"
#include "analysis/native/cpio.h"
#include "analysis/native/guest.h"
#include "analysis/native/host.h"
#include "analysis/native/job.h"
#include "analysis/native/kernel_symbols.h"
#include "analysis/native/native.h"
#include "analysis/native/record.h"
#include "analysis/native/slot_map.h"
#include "analysis/native/statistics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

using namespace uringsim;
using namespace uringsim::analysis::native;

namespace {

/// Taken from a 6.18 kernel's /proc/kallsyms.
constexpr const char* recorded_kallsyms = "ffffffff8122ade0 T io_rsrc_data_free\n"
                                          "ffffffff8122c994 t io_cache_alloc_new.cold\n"
                                          "ffffffff8122c9c0 t io_after_cold\n"
                                          "ffffffff81b4aa40 T io_rsrc_node_alloc\n"
                                          "ffffffff81b4aae0 T io_next\n"
                                          "ffffffff81b5b670 T io_cache_alloc_new\n"
                                          "ffffffff81b5b6d0 T io_last\n"
                                          "ffffffff82000000 D some_data\n"
                                          "ffffffffc0000000 t io_cache_alloc_new\t[module]\n";

/// What a 6.18 guest printed, kernel messages among it.
constexpr const char* recorded_console =
    "[    0.123456] Linux version 6.18.15\r\n"
    "uringsim: release 6.18.15+deb13-cloud-amd64\r\n"
    "uringsim: round 0 162170 312.8125 0\r\n"
    "uringsim: round 0 166698 312.8125 1\r\n"
    "uringsim: end\r\n"
    "[   31.4] uringsim: release 6.18.15+deb13-cloud-amd64\r\n"
    "uringsim: count 0 node_cache_miss 1024\r\n"
    "uringsim: count run node_cache_miss 1409\r\n"
    "uringsim: absent node_alloc an allocation from the node cache is inlined: no event\r\n"
    "uringsim: end\r\n"
    "[   33.476900] reboot: Restarting system\r\n";

Record timed(std::initializer_list<Round> rounds) {
    Record record;
    record.rounds = rounds;
    return record;
}

} // namespace

TEST_CASE("kallsyms: a function goes to the next symbol, with the parts that were split off") {
    const KernelSymbols symbols = KernelSymbols::parse(recorded_kallsyms);
    const auto ranges = symbols.ranges("io_cache_alloc_new");
    REQUIRE(ranges.size() == 2); // and not the module's
    CHECK(ranges[0] == AddressRange{0xffffffff8122c994, 0xffffffff8122c9c0});
    CHECK(ranges[1] == AddressRange{0xffffffff81b5b670, 0xffffffff81b5b6d0});
    CHECK(symbols.ranges("some_data").empty());
    CHECK(symbols.ranges("nothing").empty());
}

TEST_CASE("kallsyms of a kernel that hides its addresses is empty") {
    CHECK(KernelSymbols::parse("0000000000000000 T io_rsrc_node_alloc\n").empty());
    CHECK(KernelSymbols::parse("").empty());
    CHECK(KernelSymbols::parse("nonsense\n\nff\n").empty());
}

TEST_CASE("a call site lies behind the call, up to the end of the function") {
    CHECK(call_site_filter({{0x10, 0x20}, {0x40, 0x48}}) ==
          "(call_site > 0x10 && call_site <= 0x20) || (call_site > 0x40 && call_site <= 0x48)");
}

TEST_CASE("counters of 6.18: allocations by io_cache_alloc_new of a node's size") {
    KernelFacts facts;
    facts.release = "6.18.44";
    facts.node_bytes = 24;
    const CounterPlan plan = plan_counters(KernelSymbols::parse(recorded_kallsyms), facts);
    const auto miss = std::ranges::find(plan.counted, "node_cache_miss", &PlannedCounter::counter);
    REQUIRE(miss != plan.counted.end());
    REQUIRE(miss->events.size() == 1);
    CHECK(miss->events[0].name == "kmem/kmalloc");
    CHECK(miss->events[0].filter.ends_with(") && bytes_req == 24"));
    // No counter is both counted and absent, and what needs kprobes is absent without them.
    for (const PlannedCounter& counted : plan.counted) {
        CHECK(std::ranges::find(plan.absent, counted.counter, &Absence::counter) ==
              plan.absent.end());
    }
    CHECK(std::ranges::find(plan.absent, "new_slabs", &Absence::counter) != plan.absent.end());
}

TEST_CASE(
    "counters: old kernels, hidden addresses and missing functions are absent with a reason") {
    KernelFacts facts;
    facts.release = "6.1.0-57";
    const CounterPlan old = plan_counters(KernelSymbols::parse(recorded_kallsyms), facts);
    CHECK(std::ranges::find(old.absent, "node_free", &Absence::counter) != old.absent.end());
    const auto submit = std::ranges::find(old.counted, "sqe_submitted", &PlannedCounter::counter);
    REQUIRE(submit != old.counted.end());
    CHECK(submit->events[0].name == "io_uring/io_uring_submit_sqe");

    facts.release = "6.18.0";
    const CounterPlan hidden = plan_counters(KernelSymbols::parse(""), facts);
    const auto absence = std::ranges::find(hidden.absent, "node_cache_miss", &Absence::counter);
    REQUIRE(absence != hidden.absent.end());
    CHECK(absence->reason.find("kptr_restrict") != std::string::npos);
}

TEST_CASE("kernel releases and the design nearest to them") {
    CHECK(version_of("6.18.44-fc-v669") == KernelVersion{6, 18});
    CHECK(version_of("6.1.0-57-cloud-amd64") == KernelVersion{6, 1});
    CHECK(version_of("6.12+rc") == KernelVersion{6, 12});
    CHECK(version_of("nonsense") == KernelVersion{});
    const std::vector<std::string> designs{"linux-6.12", "linux-6.13", "linux-6.18", "rfc-0001"};
    CHECK(design_for("6.12.117", designs) == "linux-6.12");
    CHECK(design_for("6.16.12", designs) == "linux-6.13");
    CHECK(design_for("7.0.1", designs) == "linux-6.18");
    CHECK(design_for("6.1.0", designs) == "linux-6.12"); // nothing older is there
    CHECK(design_for("6.14.0", {"linux-6.13", "linux-6.13+prefill"}) == "linux-6.13");
    CHECK_FALSE(design_for("6.18.0", {"rfc-0001"}).has_value());
}

TEST_CASE("records survive the way through lines, and through a guest's console") {
    Record record;
    record.release = "6.18.1";
    record.rounds = {{1, 123456, 170.25, true}};
    record.counts = {{std::nullopt, "enters", 7}, {2, "cqe_posted", 9}};
    record.absent = {{"node_alloc", "inlined: no event"}};
    record.missing = "two\nlines";
    const Record back = parse_record(to_lines(record));
    REQUIRE(back.rounds.size() == 1);
    CHECK(back.rounds[0].ns == 123456);
    CHECK(back.rounds[0].null_ns == 170.25);
    CHECK(back.rounds[0].switched);
    REQUIRE(back.counts.size() == 2);
    CHECK_FALSE(back.counts[0].phase.has_value());
    CHECK(back.counts[1].phase == 2);
    CHECK(back.absent[0].reason == "inlined: no event");
    CHECK(back.missing == "two lines");
    CHECK(back.complete);
    CHECK_FALSE(back.error.has_value());

    const auto records = parse_console(recorded_console);
    REQUIRE(records.size() == 2);
    CHECK(records[0].rounds.size() == 2);
    CHECK(records[1].counts.size() == 2);
    CHECK(records[1].release == "6.18.15+deb13-cloud-amd64");
}

TEST_CASE("records that are cut off or make no sense say so") {
    CHECK_FALSE(parse_record("uringsim: round 0 1 1 0\n").complete);
    CHECK(parse_record("uringsim: round 0 x 1 0\n").error.has_value());
    CHECK(parse_record("uringsim: count 0 enters\n").error.has_value());
    CHECK(parse_record("uringsim: unknown\n").error.has_value());
    CHECK(parse_console("Kernel panic\n").empty());
    CHECK_THROWS_AS(check_record(parse_record("uringsim: release 1\n")), NativeError);
    CHECK_THROWS_AS(check_record(parse_record("uringsim: missing x\nuringsim: end\n")),
                    Unavailable);
}

TEST_CASE("medians and half ranges") {
    CHECK(median({}) == 0);
    CHECK(median({3, 1, 2}) == 2);
    CHECK(median({4, 1, 2, 3}) == 2.5);
    CHECK(half_range_percent({100}) == 0);
    CHECK(half_range_percent({90, 100, 110}) == doctest::Approx(10));
}

TEST_CASE("a process in the slow mode is normalised by its own null calls") {
    const std::vector<Record> processes{
        timed({{0, 1000, 100, false}, {0, 1010, 100, false}, {0, 1005, 100, false}}),
        timed({{0, 1300, 130, false}, {0, 1313, 130, false}, {0, 1306, 130, false}})};
    const PhaseTimes times = phase_times(processes, 0);
    CHECK(times.null_ns == 100);
    CHECK(times.minimum == 1000);
    CHECK(times.median == doctest::Approx((1005 + 1306) / 2.0));
    CHECK(times.normalised_median == doctest::Approx(1005).epsilon(0.001));
    CHECK(times.slow == 3);
    CHECK(times.spread_percent < 0.1);
    // Another run's null call makes two runs comparable.
    CHECK(phase_times(processes, 0, 200).normalised_median == doctest::Approx(2010).epsilon(0.001));
}

TEST_CASE("preempted rounds are left out while enough others are there") {
    const std::vector<Record> some{timed({{0, 1000, 100, false}, {0, 9000, 100, true}})};
    CHECK(phase_times(some, 0).median == 1000);
    CHECK(phase_times(some, 0).preempted == 1);
    const std::vector<Record> all{timed({{0, 8000, 100, true}, {0, 9000, 100, true}})};
    CHECK(phase_times(all, 0).median == 8500);
    CHECK(phase_times(all, 0).flagged_used);
}

TEST_CASE("CPU lists") {
    CHECK(parse_cpu_list("0-2,6") == std::vector<int>{0, 1, 2, 6});
    CHECK(parse_cpu_list("1") == std::vector<int>{1});
    for (const char* bad : {"", "a", "1-", "2-1", "1,,2", "-1", "1,"}) {
        CHECK_FALSE(parse_cpu_list(bad).has_value());
    }
}

TEST_CASE("tasks are placed on the last CPUs, and too few are said") {
    scenarios::Scenario scenario;
    scenario.name = "two";
    scenario.tasks.resize(3);
    scenario.tasks[0].cpu = 2;
    scenario.tasks[1].cpu = 4;
    scenario.tasks[2].cpu = 2;
    CHECK(place_tasks(scenario, {0, 1}) == std::vector<int>{1, 0, 1});
    CHECK_THROWS_AS(place_tasks(scenario, {0}), Unavailable);
}

TEST_CASE("jobs survive the way into a guest") {
    Job job;
    job.parameters = {{"slots", "128"}, {"rounds", "8"}};
    job.count = true;
    job.settle_ms = 5;
    const auto back = parse_job(to_lines(job));
    REQUIRE(back.has_value());
    CHECK(back->parameters == job.parameters);
    CHECK(back->time);
    CHECK(back->count);
    CHECK(back->settle_ms == 5);
    CHECK_FALSE(parse_job("param slots\n").has_value());
    CHECK_FALSE(parse_job("settle_ms x\n").has_value());
    CHECK_FALSE(parse_job("what\n").has_value());
}

TEST_CASE("an initramfs: headers of 110 bytes, everything aligned to 4, a trailer") {
    CpioWriter writer;
    writer.add_file("init", "12345", 0755);
    const std::string bytes = writer.finish();
    CHECK(bytes.size() % 4 == 0);
    CHECK(bytes.substr(0, 6) == "070701");
    CHECK(bytes.substr(14, 8) == "000081ED"); // a regular file, 0755
    CHECK(bytes.substr(54, 8) == "00000005");
    CHECK(bytes.substr(110, 5) == std::string("init\0", 5));
    CHECK(bytes.substr(116, 5) == "12345");
    CHECK(bytes.find("TRAILER!!!") != std::string::npos);
}

TEST_CASE("type information: sizes and offsets of structures") {
    // One integer, then struct node { int a; int b; } of 8 bytes, by hand.
    const std::string strings("\0int\0node\0a\0b\0", 14);
    const std::vector<std::uint32_t> types{1,  0x01000000, 4, 0x20, // int
                                           5,  0x04000002, 8,       // struct, 2 members
                                           10, 1,          0,       // a at bit 0
                                           12, 1,          32};     // b at bit 32
    const auto type_bytes = static_cast<std::uint32_t>(types.size() * 4);
    const std::vector<std::uint32_t> header{
        0x0001eB9F, 24, 0, type_bytes, type_bytes, static_cast<std::uint32_t>(strings.size())};
    std::string bytes(reinterpret_cast<const char*>(header.data()), 24);
    bytes.append(reinterpret_cast<const char*>(types.data()), type_bytes);
    bytes += strings;
    const Btf btf = Btf::parse(bytes);
    CHECK(btf.struct_bytes("node") == 8);
    CHECK(btf.member_offset("node", "b") == 4);
    CHECK_FALSE(btf.struct_bytes("nothing").has_value());
    CHECK_FALSE(btf.member_offset("node", "c").has_value());
    CHECK(Btf::parse("").empty());
    CHECK(Btf::parse("nonsense that is long enough for a header").empty());
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        Btf::parse(std::string_view(bytes).substr(0, cut)); // reads nothing behind the end
    }
}

TEST_CASE("host information and slab geometry from a recorded tree") {
    namespace fs = std::filesystem;
    const fs::path root = fs::temp_directory_path() / "uringsim-native-test";
    const auto put = [&](const std::string& name, const std::string& text) {
        fs::create_directories((root / name).parent_path());
        std::ofstream(root / name) << text << '\n';
    };
    put("proc/sys/kernel/osrelease", "6.18.44");
    put("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC");
    put("proc/version", "Linux version 6.18.44 SMP PREEMPT_DYNAMIC");
    put("proc/loadavg", "0.10 0.20 0.30 1/100 1");
    put("sys/devices/system/cpu/online", "0-1");
    put("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected");
    put("sys/devices/system/cpu/vulnerabilities/spectre_v2", "Mitigation: Retpolines");
    put("sys/kernel/debug/sched/preempt", "none voluntary (full) lazy");
    put("sys/kernel/slab/kmalloc-32/objs_per_slab", "128");
    put("sys/kernel/slab/kmalloc-32/cpu_partial", "120");
    put("sys/kernel/slab/kmalloc-32/order", "0");
    const Host host = read_host(root);
    const auto slab = read_slab_geometry("kmalloc-32", root);
    const auto nothing = read_slab_geometry("kmalloc-64", root);
    fs::remove_all(root);
    CHECK(host.release == "6.18.44");
    CHECK(host.cpu_model == "AMD EPYC");
    CHECK(host.cpus == 2);
    CHECK(host.preemption == "full");
    CHECK(host.mitigations == "spectre_v2: Mitigation: Retpolines");
    CHECK(host.load == "0.10");
    REQUIRE(slab.has_value());
    CHECK(slab->objects_per_slab == 128);
    CHECK(slab->cpu_partial == 120);
    CHECK_FALSE(nothing.has_value());
}

TEST_CASE("no size that is predicted is one that calibrates") {
    for (const bool instructions : {false, true}) {
        const auto cases = standard_cases(instructions);
        for (const Case& one : cases) {
            for (const Case& other : cases) {
                if (one.calibrates && !other.calibrates && one.scenario == other.scenario) {
                    CHECK(one.parameters != other.parameters);
                }
            }
        }
    }
}

TEST_CASE("a sleep after each close moves the jumps along") {
    namespace op = scenarios::op;
    scenarios::Scenario scenario;
    scenario.tasks.resize(1);
    auto& program = scenario.tasks[0].program;
    program = {{op::RepeatBegin{2, 1, 3}, "a"},
               {op::CreateRing{0, {}}, "b"},
               {op::CloseRing{0}, "c"},
               {op::RepeatEnd{0}, "d"}};
    const auto moved = placed(scenario, {{0}, 50}).tasks[0].program;
    REQUIRE(moved.size() == 5);
    CHECK(std::get<op::RepeatBegin>(moved[0].op).end == 4);
    CHECK(std::get<op::Sleep>(moved[3].op).us == 50);
    CHECK(std::get<op::RepeatEnd>(moved[4].op).begin == 0);
}

TEST_CASE("a scenario that needs a fault is refused, with its place") {
    scenarios::Scenario scenario;
    scenario.tasks.resize(1);
    scenario.tasks[0].program = {{scenarios::op::FailAlloc{}, "x.json:3:5"}};
    const auto why = why_refused(scenario);
    REQUIRE(why.has_value());
    CHECK(why->starts_with("x.json:3:5: "));
}

TEST_CASE("operations that the native side does not run are refused, not dropped") {
    const auto refused = [](const scenarios::op::Any& operation) {
        scenarios::Scenario scenario;
        scenario.tasks.resize(1);
        scenario.tasks[0].program = {{operation, "x.json:1:1"}};
        return why_refused(scenario).value_or("");
    };
    CHECK(refused(scenarios::op::ReadFixed{}).find("does not run") != std::string::npos);
    CHECK(refused(scenarios::op::EndRead{}).find("does not run") != std::string::npos);
    CHECK(refused(scenarios::op::CloneBuffers{}).find("does not run") != std::string::npos);
    scenarios::op::UpdateFiles update{};
    update.via = scenarios::op::Via::request;
    CHECK(refused(update).empty());
    update.offset = models::file_index_alloc;
    CHECK(refused(update).find("pick the slots") != std::string::npos);
}

TEST_CASE("a slot map agrees with one byte a slot, whatever is done to it") {
    constexpr std::uint32_t slots = 200;
    SlotMap map;
    map.reset(slots, true);
    std::vector<bool> plain(slots, true);
    std::uint32_t random = 12345;
    const auto next = [&](std::uint32_t limit) {
        random = random * 1664525 + 1013904223;
        return (random >> 8U) % limit;
    };
    for (int step = 0; step < 500; ++step) {
        const std::uint32_t offset = next(slots);
        const std::uint32_t length = 1 + next(slots - offset);
        const bool used = next(3) == 0;
        if (length == 1 && used) {
            CHECK(map.set(offset) == plain[offset]);
        } else {
            const auto begin = plain.begin() + offset;
            CHECK(map.change(offset, length, used) == std::count(begin, begin + length, true));
        }
        std::fill_n(plain.begin() + offset, length, used);
        CHECK(map.used() == std::count(plain.begin(), plain.end(), true));
        std::vector<bool> from_spans(slots, false);
        for (const SlotMap::Span& span : map.spans()) {
            std::fill_n(from_spans.begin() + span.offset, span.length, true);
        }
        CHECK(from_spans == plain);
    }
}
