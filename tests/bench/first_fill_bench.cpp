// Host time of whole simulated runs, as library calls: no process start and no JSON in what is
// timed, and with everything on that a user gets (ledger, memory temperature, fingerprint, result).
//
//   build/release/tests/benchmarks --benchmark_filter=replay
//
// `ns_per_install` is processor time over every file that the run installs, warm-up rounds
// included; the run also contains the rings' set-up and exit. A real install takes 119 ns on bare
// metal.

#include "scenarios/configuration.h"
#include "scenarios/replay.h"
#include "scenarios/scenario.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <ctime>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace uringsim;

std::optional<scenarios::JsonNode> parse(const std::string& name,
                                         scenarios::Diagnostics& diagnostics) {
    const std::string path = std::string(URINGSIM_SOURCE_DATA) + "/" + name + ".json";
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return scenarios::parse_json(path, text.str(), diagnostics);
}

struct Job {
    scenarios::Scenario scenario;
    models::Design design;
    models::Machine machine;
};

/// Reads what the library call needs. Throws std::runtime_error with all that is wrong.
Job load(const std::string& scenario_name, const std::string& design_name,
         const scenarios::ParameterOverrides& parameters) {
    scenarios::Diagnostics diagnostics;
    const auto load_design = [&](const std::string& name) {
        return parse("designs/" + name, diagnostics);
    };
    const auto scenario_file = parse(scenario_name, diagnostics);
    const auto design_file = load_design(design_name);
    const auto machine_file = parse("machines/i7-12700kf", diagnostics);
    if (scenario_file && design_file && machine_file) {
        auto scenario = scenarios::read_scenario(*scenario_file, parameters, diagnostics);
        auto design = scenarios::read_design(*design_file, load_design, diagnostics);
        auto machine = scenarios::read_machine(*machine_file, diagnostics);
        if (scenario && design && machine) {
            return {std::move(*scenario), std::move(*design), std::move(*machine)};
        }
    }
    throw std::runtime_error(diagnostics.to_string());
}

void replay(benchmark::State& state, const std::string& scenario, const std::string& design,
            const scenarios::ParameterOverrides& parameters) {
    const Job job = load(scenario, design, parameters);
    std::uint64_t installs = 0;
    const std::clock_t before = std::clock();
    for (auto _ : state) {
        const scenarios::Result result = scenarios::replay(job.scenario, job.design, job.machine);
        installs += scenarios::counter_value(result.counters, "files_installed");
    }
    const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    constexpr double ns_per_second = 1e9;
    state.counters["ns_per_install"] = seconds * ns_per_second / static_cast<double>(installs);
}

BENCHMARK_CAPTURE(replay, first_fill_linux_6_18, "first-fill", "linux-6.18", {{"slots", "4096"}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(replay, first_fill_rfc, "first-fill", "rfc-0001+0002+0003", {{"slots", "4096"}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(replay, remove_refill_linux_6_18, "remove-refill", "linux-6.18", {})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(replay, remove_refill_rfc, "remove-refill", "rfc-0001+0002+0003", {})
    ->Unit(benchmark::kMillisecond);
// Few installs a ring of 4096 slots: here the time of an install is mostly the ring's.
BENCHMARK_CAPTURE(replay, register_many_linux_6_18, "register-many-install-few", "linux-6.18", {})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(replay, register_many_rfc, "register-many-install-few", "rfc-0001+0002+0003", {})
    ->Unit(benchmark::kMillisecond);

} // namespace
