#include "analysis/native/validation.h"

#include "analysis/export/document.h"
#include "analysis/export/numbers.h"
#include "analysis/native/guest.h"
#include "analysis/native/report.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace uringsim::analysis::native {

namespace {

constexpr std::uint64_t least_operations = 64; ///< of a phase that calibrates, or just one
constexpr std::uint64_t guest_settle_us = 20'000;

/// Only what the scenario's own parameters differ from their defaults in, without the rounds.
std::string parameters_text(const Case& the_case) {
    std::string text;
    for (const auto& [name, value] : the_case.parameters) {
        if (name != "rounds") {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
        }
    }
    return text;
}

bool holds_another(const scenarios::Scenario& scenario, std::size_t phase) {
    return std::ranges::any_of(scenario.phases, [&](const scenarios::PhaseSpec& other) {
        return other.parent && sim::index_of(*other.parent) == phase + 1;
    });
}

/// The errors that are allowed: what repeats on a quiet host of this kind, see docs/native.md.
double limit_of(const std::string& scenario, const scenarios::PhaseSpec& phase, bool instructions) {
    constexpr double instructions_limit = 1.5;
    constexpr double large_limit = 5;
    constexpr double small_limit = 10;
    constexpr double other_limit = 15;
    constexpr double registration_limit = 200;
    constexpr std::uint64_t large = 1024;
    if (instructions) {
        return scenario == "first-fill" && phase.operations == large ? large_limit
                                                                     : instructions_limit;
    }
    if (phase.operations == 1 || phase.name == "interval") {
        return registration_limit;
    }
    if (scenario == "first-fill" || scenario == "remove-refill" || scenario == "cold-warm" ||
        phase.name == "fill") {
        return phase.operations >= large ? large_limit : small_limit;
    }
    return other_limit;
}

ValidationRow make_row(const LoadedCase& item, std::size_t index, const NativeRun& run,
                       const scenarios::Result& simulated) {
    const scenarios::PhaseSpec& spec = item.scenario.phases[index];
    const scenarios::PhaseResult& native = run.result.phases[index];
    const scenarios::PhaseResult& model = simulated.phases[index];
    ValidationRow row;
    row.scenario = item.the_case.scenario;
    row.parameters = parameters_text(item.the_case);
    row.phase = spec.name;
    row.calibrates = item.the_case.calibrates;
    for (const auto& [counter, value] : native.counters) {
        const std::uint64_t expected = scenarios::counter_value(model.counters, counter);
        ++row.counters;
        if (expected != value) {
            row.differences.push_back(
                {counter, expected, value,
                 counter.starts_with("slab_") || counter.ends_with("_slabs")});
        }
    }
    if (!run.times.empty()) {
        const PhaseTimes& times = run.times[index];
        const auto operations = static_cast<double>(spec.operations);
        std::vector<double> rounds;
        for (const sim::Cycles cycles : model.cycles_by_round) {
            rounds.push_back(static_cast<double>(cycles));
        }
        row.timed = true;
        row.simulated = simulated.ns(median(rounds)) / operations;
        row.measured = times.normalised_median / operations;
        row.spread_percent = times.spread_percent;
        row.error_percent = 100 * (row.simulated / row.measured - 1);
        row.limit_percent = limit_of(row.scenario, spec, run.instructions);
    }
    return row;
}

std::string verdict(const ValidationRow& row) {
    const std::string counts = row.counters == 0          ? ""
                               : !row.counts_exact()      ? "differ"
                               : !row.differences.empty() ? "exact, not slabs"
                                                          : "exact";
    const std::string time = !row.timed       ? ""
                             : row.calibrates ? "fitted"
                             : row.within()   ? "ok"
                                              : "over";
    return counts.empty() ? time : time.empty() ? counts : counts + ", " + time;
}

Section rows_section(const NativeValidation& validation) {
    const std::string unit = validation.instructions ? "instr" : "ns";
    Table table({{"what", Align::left},
                 {"simulated " + unit},
                 {"kernel " + unit},
                 {"+- %"},
                 {"error %"},
                 {"limit %"},
                 {"verdict", Align::left}});
    for (const ValidationRow& row : validation.rows) {
        std::vector<std::string> cells{
            fmt::format("{}, {}: {}", row.scenario, row.parameters, row.phase)};
        if (row.timed) {
            cells.insert(cells.end(),
                         {short_number(row.simulated), short_number(row.measured),
                          validation.instructions ? "" : fmt::format("{:.1f}", row.spread_percent),
                          fmt::format("{:+.1f}", row.error_percent),
                          fmt::format("{:.1f}", row.limit_percent)});
        } else {
            cells.insert(cells.end(), 5, "");
        }
        cells.push_back(verdict(row));
        table.add_row(cells);
    }
    table.drop_empty_columns();
    return {"every phase, simulated and on the kernel, an operation", table, {}};
}

Section differences_section(const NativeValidation& validation) {
    Section section{"counts that differ: simulated, kernel", std::nullopt, {}};
    section.lines.emplace_back(
        "slab internals start from what the boot and other users of the same "
        "slab cache left on its lists; the simulator starts from slab.resident of its own");
    for (const ValidationRow& row : validation.rows) {
        for (const CountDifference& difference : row.differences) {
            section.lines.push_back(fmt::format("{} {} {}: {} {}, {}", row.scenario, row.parameters,
                                                row.phase, difference.counter, difference.simulated,
                                                difference.native));
        }
    }
    return section;
}

std::string summary(const NativeValidation& validation) {
    std::size_t exact = 0;
    std::size_t counted = 0;
    std::size_t predicted = 0;
    std::size_t within = 0;
    double sum = 0;
    for (const ValidationRow& row : validation.rows) {
        counted += row.counters > 0 ? 1 : 0;
        exact += row.counters > 0 && row.counts_exact() ? 1 : 0;
        if (row.timed && !row.calibrates) {
            ++predicted;
            within += row.within() ? 1 : 0;
            sum += std::abs(row.error_percent);
        }
    }
    std::string text =
        fmt::format("{} rows; counts exact in {} of {}", validation.rows.size(), exact, counted);
    if (predicted > 0) {
        text += fmt::format("; {} of {} predicted times within their limit, mean error {:.2f} %",
                            within, predicted, sum / static_cast<double>(predicted));
    }
    return text;
}

Document describe(const NativeValidation& validation) {
    Document document;
    document.title = fmt::format("kernel {} and design {}", validation.release, validation.design);
    document.facts = validation.facts;
    document.facts.push_back(summary(validation));
    document.sections.push_back(rows_section(validation));
    if (std::ranges::any_of(validation.rows,
                            [](const ValidationRow& row) { return !row.differences.empty(); })) {
        document.sections.push_back(differences_section(validation));
    }
    return document;
}

} // namespace

bool ValidationRow::counts_exact() const {
    return std::ranges::all_of(differences, &CountDifference::slab_internal);
}

bool NativeValidation::counts_exact() const {
    return std::ranges::all_of(rows, &ValidationRow::counts_exact);
}

NativeRuns run_cases_here(const std::vector<LoadedCase>& cases, const NativeOptions& options) {
    NativeRuns result;
    NativeOptions each = options;
    std::vector<NativeRun> runs;
    for (const LoadedCase& item : cases) {
        runs.push_back(run_native(item.scenario, each));
        // Every later run is normalised to the null call of the first.
        if (each.reference_null_ns == 0 && !runs.back().times.empty()) {
            each.reference_null_ns = runs.back().times.front().null_ns;
        }
    }
    result.runs = std::move(runs);
    // The simulated tasks stay on the scenario's CPUs: what counts is that exit work runs
    // elsewhere.
    result.release = read_host().release;
    result.facts = host_facts(read_host());
    return result;
}

NativeRuns run_cases_in_guest(const std::vector<LoadedCase>& cases, const std::string& kernel,
                              bool time, bool count) {
    NativeRuns result;
    std::vector<GuestWork> work;
    for (const LoadedCase& item : cases) {
        Job job;
        job.parameters = item.the_case.parameters;
        job.time = time;
        job.count = count;
        work.push_back({item.scenario, item.text, job});
    }
    GuestOptions options;
    options.kernel = kernel;
    result.runs = run_guest(work, options);
    result.placement.settle_us = guest_settle_us;
    result.placement.booted_guest = true;
    result.placement.cpus = {0, 0, 0, 0, 0, 0, 0, 0};
    result.release = result.runs.front().host.release;
    result.instructions = true;
    result.facts = host_facts(result.runs.front().host);
    return result;
}

std::vector<MeasuredPhase> measured_phases(const std::vector<LoadedCase>& cases,
                                           const NativeRuns& runs) {
    std::vector<MeasuredPhase> measured;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const scenarios::Scenario& scenario = cases[i].scenario;
        for (std::size_t p = 0; cases[i].the_case.calibrates && p < scenario.phases.size(); ++p) {
            const std::uint64_t operations = scenario.phases[p].operations;
            // A few operations right after something else say more of what was before.
            const bool too_short = operations > 1 && operations < least_operations;
            if (holds_another(scenario, p) || too_short || runs.runs[i].times.empty()) {
                continue;
            }
            const PhaseTimes& times = runs.runs[i].times[p];
            measured.push_back(
                {i, scenario.phases[p].name,
                 times.normalised_median / static_cast<double>(scenario.phases[p].operations),
                 times.spread_percent});
        }
    }
    return measured;
}

NativeValidation validate_native(const std::vector<LoadedCase>& cases, const NativeRuns& runs,
                                 const models::Design& design,
                                 const std::optional<models::Machine>& machine) {
    NativeValidation validation;
    validation.release = runs.release;
    validation.design = design.name;
    validation.instructions = runs.instructions;
    validation.facts = runs.facts;
    models::Machine used =
        machine.value_or(runs.instructions ? instruction_machine() : host_machine());
    Placement placement = runs.placement;
    if (!machine) {
        const auto measured = measured_phases(cases, runs);
        if (!measured.empty()) {
            validation.calibration = calibrate_native(cases, measured, design, used, placement,
                                                      "fitted to runs on kernel " + runs.release);
            used = validation.calibration->machine;
        }
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto simulated =
            scenarios::replay(placed(cases[i].scenario, placement), placed(design, placement), used);
        for (std::size_t p = 0; p < cases[i].scenario.phases.size(); ++p) {
            validation.rows.push_back(make_row(cases[i], p, runs.runs[i], simulated));
        }
    }
    return validation;
}

std::string validation_text(const NativeValidation& validation) {
    return to_text(describe(validation));
}

std::string validation_markdown(const NativeValidation& validation) {
    return to_markdown(describe(validation));
}

std::string validation_csv(const NativeValidation& validation) {
    std::string text = "scenario,parameters,phase,counters,differ,simulated,kernel,spread_percent,"
                       "error_percent,limit_percent,verdict\n";
    for (const ValidationRow& row : validation.rows) {
        text += fmt::format("{},\"{}\",{},{},{},{},{},{},{},{},\"{}\"\n", row.scenario,
                            row.parameters, row.phase, row.counters, row.differences.size(),
                            exact_number(row.simulated), exact_number(row.measured),
                            exact_number(row.spread_percent), exact_number(row.error_percent),
                            exact_number(row.limit_percent), verdict(row));
    }
    return text;
}

} // namespace uringsim::analysis::native
