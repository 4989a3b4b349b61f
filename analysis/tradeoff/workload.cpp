#include "analysis/tradeoff/workload.h"

#include "analysis/run.h"
#include "scenarios/replay.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::analysis {

using scenarios::Diagnostics;
using scenarios::Result;

namespace {

constexpr std::uint64_t max_candidates = 10'000;

void read_parameter(const std::string& item, const std::string& option, Workload& workload,
                    Diagnostics& diagnostics) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) {
        diagnostics.add_option(option, fmt::format("must be NAME=VALUE; got \"{}\"", item));
        return;
    }
    const std::string name = item.substr(0, equals);
    const std::string value = item.substr(equals + 1);
    if (value.find("..") == std::string::npos) {
        workload.parameters.emplace_back(name, value);
    } else if (workload.range) {
        diagnostics.add_option(option, "takes one range, not several");
    } else {
        workload.range = read_range(parameter_label(name), value, option, diagnostics);
    }
}

std::size_t phase_of(const scenarios::Scenario& scenario, const std::optional<std::string>& wanted,
                     Diagnostics& diagnostics) {
    if (scenario.phases.empty()) {
        diagnostics.add_option("SCENARIO", scenario.name + " measures no phase");
        return 0;
    }
    return find_phase(scenario, wanted, diagnostics);
}

/// "own-per-cpu 4096": the design and what the axes set, in their order.
std::string candidate_name(const SweepPlan& plan, const SweepPoint& point) {
    std::string name = point.design.name;
    for (std::size_t i = 0; i < plan.axes().size(); ++i) {
        const Axis& axis = plan.axes()[i];
        if (axis.values.size() > 1 && axis.kind != AxisKind::design) {
            name += ' ' + axis.values[point.choice[i]];
        }
    }
    return name;
}

/// Sums of what the workloads of a mix cost one candidate.
class CostSum {
  public:
    void add(const PlannedWorkload& part, const Result& result) {
        const auto weight = static_cast<double>(part.workload.weight);
        const double ns = unit_cost(result, result.phases[part.phase]).ns;
        cost_.workload_ns.push_back(ns);
        cost_.ns_per_operation += weight * ns;
        weights_ += weight;
        if (const auto* registration = result.find_phase("registration")) {
            cost_.registration_ns += weight * result.ns(registration->mean_cycles());
            registration_weights_ += weight;
        }
        cost_.retained_bytes =
            std::max(cost_.retained_bytes, static_cast<double>(result.memory.retained_bytes_peak));
    }

    TradeoffCost mean() const {
        TradeoffCost mean = cost_;
        mean.ns_per_operation /= weights_;
        mean.registration_ns /= std::max(registration_weights_, 1.0);
        return mean;
    }

  private:
    TradeoffCost cost_;
    double weights_ = 0;
    double registration_weights_ = 0;
};

/// Candidates of one workload have one unit, unless an axis takes its installs away.
void add_unit(std::string& unit, bool an_install) {
    const std::string now = an_install ? "ns/install" : "ns/operation";
    unit = unit.empty() || unit == now ? now : "ns";
}

} // namespace

std::string Workload::subject() const {
    std::string subject = scenario;
    for (const auto& [name, value] : parameters) {
        subject += fmt::format("{}{} = {}", subject == scenario ? " with " : ", ", name, value);
    }
    return subject;
}

std::optional<BreakEvenRange> read_range(const std::string& label, const std::string& text,
                                         const std::string& option, Diagnostics& diagnostics) {
    constexpr std::int64_t most = 1LL << 40;
    const std::size_t dots = text.find("..");
    std::string error = "must be A..B";
    const auto first = dots == std::string::npos
                           ? std::nullopt
                           : scenarios::parse_integer(text.substr(0, dots), {0, most}, error);
    const auto last = first
                          ? scenarios::parse_integer(text.substr(dots + 2), {*first, most}, error)
                          : std::nullopt;
    if (!last) {
        diagnostics.add_option(option, fmt::format("{}: {}", label, error));
        return std::nullopt;
    }
    return BreakEvenRange{label, *first, *last};
}

Workload read_workload(const std::string& text, Diagnostics& diagnostics) {
    const std::string option = "SCENARIO " + text;
    Workload workload;
    std::string rest = text;
    const std::size_t colon = rest.rfind(':');
    if (colon != std::string::npos) {
        std::string error;
        const auto weight =
            scenarios::parse_unsigned(rest.substr(colon + 1), {1, 1'000'000}, error);
        if (!weight) {
            diagnostics.add_option(option, "weight " + error);
        }
        workload.weight = weight.value_or(1);
        rest.resize(colon);
    }
    workload.text = rest;
    std::size_t at = std::min(rest.find(','), rest.size());
    workload.scenario = rest.substr(0, at);
    while (at < rest.size()) {
        const std::size_t end = std::min(rest.find(',', at + 1), rest.size());
        read_parameter(rest.substr(at + 1, end - at - 1), option, workload, diagnostics);
        at = end;
    }
    return workload;
}

std::optional<PlannedWorkload> plan_workload(const Workload& workload,
                                             const TradeoffRequest& request,
                                             const Library& library, Diagnostics& diagnostics) {
    SweepSpec spec;
    spec.max_runs = max_candidates;
    spec.base.scenario = workload.scenario;
    spec.base.parameters = request.parameters;
    for (const auto& own : workload.parameters) {
        std::erase_if(spec.base.parameters,
                      [&](const auto& entry) { return entry.first == own.first; });
        spec.base.parameters.push_back(own);
    }
    spec.base.knobs = request.knobs;
    spec.base.machine = request.machine;
    spec.add_axis("design", fmt::format("{}", fmt::join(request.designs, ",")), "--designs",
                  diagnostics);
    for (const auto& [label, values] : request.axes) {
        spec.add_axis(label, values, "--axis " + label, diagnostics);
    }
    spec.constraints = request.constraints;
    auto plan = diagnostics.empty() ? SweepPlan::make(library, std::move(spec), diagnostics)
                                    : std::nullopt;
    if (!plan) {
        return std::nullopt;
    }
    const std::size_t phase = phase_of(plan->scenario(), request.phase, diagnostics);
    return diagnostics.empty()
               ? std::optional(PlannedWorkload{workload, *std::move(plan), phase})
               : std::nullopt;
}

UnitCost unit_cost(const Result& result, const scenarios::PhaseResult& phase) {
    const auto installed = scenarios::counter_value(phase.counters, "files_installed");
    if (installed == 0) {
        return {ns_per_operation(result, phase), false};
    }
    const auto total = result.ns(static_cast<double>(phase.total_cycles()));
    return {total / static_cast<double>(installed), true};
}

std::string MeasuredMix::unit() const {
    const bool one = std::ranges::adjacent_find(units, std::ranges::not_equal_to{}) == units.end();
    return one && !units.empty() ? units.front() : "ns";
}

MeasuredMix measure(const std::vector<PlannedWorkload>& mix) {
    MeasuredMix measured;
    measured.units.resize(mix.size());
    for (std::uint64_t i = 0; i < mix.front().plan.combinations(); ++i) {
        Candidate candidate;
        CostSum sum;
        bool complete = true;
        for (std::size_t part = 0; part < mix.size() && complete; ++part) {
            const SweepPlan& plan = mix[part].plan;
            const auto point = plan.bind(plan.choice_of(i));
            complete = point.has_value();
            if (complete) {
                candidate.design = point->design.name;
                candidate.name = candidate_name(plan, *point);
                const Result result =
                    scenarios::replay(*point->scenario, point->design, *point->machine);
                sum.add(mix[part], result);
                add_unit(measured.units[part],
                         unit_cost(result, result.phases[mix[part].phase]).an_install);
            }
        }
        if (complete) {
            candidate.cost = sum.mean();
            measured.candidates.push_back(std::move(candidate));
        }
    }
    return measured;
}

} // namespace uringsim::analysis
