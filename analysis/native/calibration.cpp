#include "analysis/native/calibration.h"

#include "analysis/canonical_json.h"
#include "analysis/figures.h"
#include "analysis/native/host.h"
#include "models/code_lengths.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

namespace uringsim::analysis::native {

using models::Primitive;

namespace {

constexpr double millicycles = static_cast<double>(sim::millicycles_per_cycle);
constexpr double model_error_percent = 1;
constexpr double instruction_error_percent = 0.1;

double cycles_of(const models::Cost& cost) {
    return static_cast<double>(cost.millicycles) / millicycles;
}

void set_cost(models::Cost& cost, double cycles, models::Provenance provenance,
              const std::string& source) {
    cost.millicycles = std::llround(cycles * millicycles);
    cost.provenance = provenance;
    cost.source = source;
}

/// "cpu MHz : 2445.4" of the first CPU.
std::int64_t cpu_mhz() {
    constexpr std::int64_t fallback = 3000;
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("cpu MHz")) {
            return std::llround(std::stod(line.substr(line.find(':') + 1)));
        }
    }
    return fallback;
}

/// The lines of a cache of CPU 0; 0 where the kernel does not say.
std::uint64_t cache_lines(int level, std::string_view type) {
    constexpr std::uint64_t line_bytes = 64;
    constexpr int most_caches = 8;
    for (int i = 0; i < most_caches; ++i) {
        const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
        std::string found_level;
        std::string found_type;
        std::uint64_t kib = 0;
        std::ifstream(folder + "level") >> found_level;
        std::ifstream(folder + "type") >> found_type;
        std::ifstream(folder + "size") >> kib; // "32K"
        if (found_level == std::to_string(level) && found_type == type) {
            return kib * 1024 / line_bytes;
        }
    }
    return 0;
}

FitUnknown unknown_of(Primitive primitive, const models::Machine& machine) {
    // A host may be another core, with mitigations, and virtual: its file is read with this factor.
    constexpr double host_factor = 4;
    const models::CostRange range = models::cost_range(primitive, machine.instructions);
    const double low = machine.instructions ? range.min : range.min / host_factor;
    const double high = machine.instructions ? range.max : range.max * host_factor;
    const double prior = std::clamp(cycles_of(machine.cost(primitive)), low, high);
    // Neither instructions nor another core's cycles are near the priors: hardly any pull there.
    const double spread = machine.instructions ? 10 * prior + 100 : 3 * prior + 10;
    return {std::string(models::info(primitive).name), prior, low, high, spread};
}

FitMeasurement measurement_of(const MeasuredPhase& measured, const scenarios::Result& result,
                              const std::vector<Primitive>& free, const models::Design& design,
                              const models::Machine& machine) {
    const auto counts = cost_counts(result, measured.phase);
    const auto& phase = *result.find_phase(measured.phase);
    const double unit = result.ns(1) / static_cast<double>(phase.operations);
    FitMeasurement row;
    row.name = fmt::format("{} {}", result.scenario, measured.phase);
    row.target = measured.ns_per_operation;
    const double error = machine.instructions ? instruction_error_percent : model_error_percent;
    row.sigma = row.target * std::hypot(error, measured.noise_percent) / 100;
    double constant = counts->fixed_cycles;
    for (const models::PrimitiveInfo& info : models::primitive_table()) {
        const bool is_free = std::ranges::find(free, info.id) != free.end();
        // Of a free cost, what the design's code is longer than 6.18's is known.
        const sim::Millicycles known =
            models::cost_under(machine, design, info.id) -
            (is_free ? machine.cost(info.id).millicycles : sim::Millicycles{0});
        constant += counts->count[static_cast<std::size_t>(info.id)] * static_cast<double>(known) /
                    millicycles;
    }
    row.constant = constant * unit;
    for (const Primitive primitive : free) {
        row.coefficients.push_back(counts->count[static_cast<std::size_t>(primitive)] * unit);
    }
    return row;
}

} // namespace

std::vector<Primitive> native_free_costs() {
    using P = Primitive;
    // One of each group that no measurement tells apart: sqe_submit stands for all that is done
    // once a request, fixed_file_install for all that is done once an install.
    return {
        P::syscall_enter,    P::sqe_submit,         P::msg_ring_issue,      P::msg_data_issue,
        P::syscall_register, P::files_update_call,  P::fixed_file_install,  P::fixed_file_remove,
        P::slub_alloc_fast,  P::slub_alloc_slow,    P::slub_get_partial,    P::slub_new_slab,
        P::slub_free_slow,   P::alloc_cache_push,   P::register_files_call, P::zero_line,
        P::table_walk_slot,  P::rsrc_removal_queue, P::alloc_cache_pop,     P::file_get};
}

models::Machine host_machine() {
    // The shipped scenarios run on CPU 2, and a kernel of 2 CPUs has the slabs of one of 3.
    constexpr std::int64_t least_cpus = 3;
    const Host host = read_host();
    models::Machine machine;
    machine.name = "host";
    machine.summary = fmt::format("{}, kernel {}", host.cpu_model, host.release);
    machine.mhz = cpu_mhz();
    machine.cpus = std::max(static_cast<std::int64_t>(host.cpus), least_cpus);
    const auto take = [](auto& lines, std::uint64_t found) {
        if (found > 0) {
            lines = static_cast<std::remove_reference_t<decltype(lines)>>(found);
        }
    };
    take(machine.memory.l1_lines, cache_lines(1, "Data"));
    take(machine.memory.l1_code_lines, cache_lines(1, "Instruction"));
    take(machine.memory.l2_lines, cache_lines(2, "Unified"));
    take(machine.memory.llc_lines, cache_lines(3, "Unified"));
    return machine;
}

models::Machine instruction_machine() {
    constexpr std::int64_t instruction_a_ns = 1000;
    models::Machine machine;
    machine.name = "icount";
    machine.summary = "an instruction clock (QEMU TCG, -icount shift=0): every cost in "
                      "instructions, one CPU, no memory temperature";
    machine.mhz = instruction_a_ns;
    machine.instructions = true;
    machine.cpus = 1;
    using P = Primitive;
    for (const P line : {P::line_l2, P::line_llc, P::line_memory, P::line_remote, P::line_aged,
                         P::line_cold_code}) {
        set_cost(machine.cost(line), 0, models::Provenance::assumed,
                 "an instruction takes one tick wherever its line is");
    }
    const auto traced = [&machine](P step, double instructions, const std::string& functions) {
        set_cost(machine.cost(step), instructions, models::Provenance::measured,
                 "trace of a guest: " + functions);
    };
    traced(P::node_init, 18, "io_rsrc_node_alloc (6.18.15)");
    traced(P::alloc_cache_pop, 1, "io_rsrc_node_alloc, a hit against a miss (6.18.15)");
    traced(P::alloc_cache_miss, 17, "io_cache_alloc_new (6.18.15)");
    traced(P::node_put, 25, "io_free_rsrc_node (6.18.15)");
    traced(P::nop_issue, 48, "io_nop, io_nop_prep (6.18.15)");
    traced(P::install_path_6_15, 0, "no function that an install runs through since 6.15 only");
    traced(P::zero_line, 64, "clear_page_erms, 4,100 a page: rep stosb counts each byte (6.18.15)");
    traced(P::rsrc_removal_queue, 126,
           "io_queue_rsrc_removal, io_rsrc_node_ref_zero and their lists, less io_free_rsrc_node "
           "(6.12.117; later kernels have neither)");
    traced(P::percpu_alloc, 1300, "pcpu_alloc and what it calls, percpu_ref_init (6.1.0-57)");
    traced(P::percpu_zero_cpu, 227, "memset_erms of pcpu_alloc (6.1.0-57)");
    traced(P::percpu_ref_kill, 75, "percpu_ref_kill_and_confirm and its switch (6.1.0-57)");
    traced(P::call_rcu, 101, "call_rcu and rcu_segcblist (6.1.0-57)");
    return machine;
}

NativeCalibration calibrate_native(const std::vector<LoadedCase>& cases,
                                   const std::vector<MeasuredPhase>& measured,
                                   const models::Design& design, const models::Machine& machine,
                                   const Placement& placement, const std::string& source) {
    NativeCalibration calibration;
    calibration.machine = machine;
    calibration.source = source;
    std::map<std::size_t, scenarios::Result> results;
    for (const MeasuredPhase& item : measured) {
        if (!results.contains(item.which)) {
            results.emplace(item.which,
                            scenarios::replay(placed(cases.at(item.which).scenario, placement),
                                              placed(design, placement), machine));
        }
    }
    // A cost that nothing measured ever charges stays as it is, and so does one that was traced.
    for (const Primitive primitive : native_free_costs()) {
        const bool charged = std::ranges::any_of(measured, [&](const MeasuredPhase& item) {
            const auto counts = cost_counts(results.at(item.which), item.phase);
            return counts && counts->count[static_cast<std::size_t>(primitive)] > 0;
        });
        const bool traced = machine.cost(primitive).provenance == models::Provenance::measured;
        if (charged && !traced) {
            calibration.free.push_back(primitive);
            calibration.problem.unknowns.push_back(unknown_of(primitive, machine));
        }
    }
    for (const MeasuredPhase& item : measured) {
        calibration.problem.measurements.push_back(
            measurement_of(item, results.at(item.which), calibration.free, design, machine));
    }
    calibration.fit = fit(calibration.problem);
    for (std::size_t i = 0; i < calibration.free.size(); ++i) {
        const FittedValue& value = calibration.fit.values[i];
        if (value.standing == FitStanding::determined) {
            set_cost(calibration.machine.cost(calibration.free[i]), value.value,
                     models::Provenance::measured,
                     fmt::format("{}; standard error {:.2f}", source, value.standard_error));
        }
    }
    return calibration;
}

std::string machine_json(const models::Machine& machine) {
    JsonText root = JsonText::object();
    root.set("name", JsonText::string(machine.name));
    root.set("summary", JsonText::string(machine.summary));
    if (machine.instructions) {
        root.set("clock", JsonText::string("instructions"));
    }
    const auto number = [](auto value) { return JsonText::number(static_cast<double>(value)); };
    root.set("frequency_mhz", number(machine.mhz));
    root.set("cpus", number(machine.cpus));
    JsonText memory = JsonText::object();
    memory.set("l1_lines", number(machine.memory.l1_lines));
    memory.set("l1_code_lines", number(machine.memory.l1_code_lines));
    memory.set("far_lines", number(machine.memory.far_lines));
    memory.set("l2_lines", number(machine.memory.l2_lines));
    memory.set("llc_lines", number(machine.memory.llc_lines));
    memory.set("aging_idle_us", number(machine.aging_idle_us));
    root.set("memory", std::move(memory));
    JsonText costs = JsonText::object();
    for (const models::PrimitiveInfo& row : models::primitive_table()) {
        const models::Cost& cost = machine.cost(row.id);
        const bool is_default = cost.provenance == models::Provenance::assumed &&
                                cost.millicycles == std::llround(row.default_cycles * millicycles);
        if (is_default) {
            continue;
        }
        JsonText entry = JsonText::object();
        entry.set("cycles", JsonText::number(cycles_of(cost)));
        entry.set("provenance", JsonText::string(models::name(cost.provenance)));
        entry.set("source", JsonText::string(cost.source));
        costs.set(row.name, std::move(entry));
    }
    root.set("costs", std::move(costs));
    return root.to_string();
}

} // namespace uringsim::analysis::native
