#include "request_runs.h"

#include <doctest/doctest.h>

namespace uringsim::tests {

namespace {

double per_operation(const scenarios::Result& result, const std::string& phase_name,
                     const std::string& name, std::string scenarios::LedgerRow::*field) {
    const scenarios::PhaseResult* phase = result.find_phase(phase_name);
    REQUIRE(phase != nullptr);
    double cycles = 0;
    for (const scenarios::LedgerRow& row : result.ledger) {
        if (row.phase == phase_name && row.*field == name) {
            cycles += static_cast<double>(row.cycles);
        }
    }
    return cycles / static_cast<double>(phase->operations) /
           static_cast<double>(phase->cycles_by_round.size());
}

} // namespace

analysis::Library shipped_library() {
    scenarios::Diagnostics diagnostics;
    auto library = analysis::Library::open(std::nullopt, diagnostics);
    REQUIRE(library);
    return *library;
}

analysis::Run run_shipped(const std::string& scenario, const std::string& design,
                          const Pairs& parameters, const Pairs& knobs, const std::string& machine) {
    analysis::RunRequest request;
    request.scenario = scenario;
    request.designs = {design};
    request.parameters = parameters;
    request.knobs = knobs;
    if (!machine.empty()) {
        request.machine = machine;
    }
    scenarios::Diagnostics diagnostics;
    const auto prepared = analysis::prepare(shipped_library(), request, diagnostics);
    INFO(diagnostics.to_string());
    REQUIRE(prepared);
    return analysis::execute(*prepared, prepared->designs.at(0));
}

scenarios::Result run_program(const std::string& steps, const std::string& design_name,
                              const Pairs& knobs) {
    const analysis::Library library = shipped_library();
    scenarios::Diagnostics diagnostics;
    const std::string text =
        R"({"name":"test","rings":{"ring":{"entries":1024}},"tasks":[{"name":"task","cpu":2,)"
        R"("program":[{"op":"create_ring","ring":"ring"},)" +
        steps + R"(,{"op":"close_ring","ring":"ring"}]}]})";
    const auto root = scenarios::parse_json("test.json", text, diagnostics);
    const auto scenario = root ? scenarios::read_scenario(*root, {}, diagnostics) : std::nullopt;
    const auto design_node =
        library.load(analysis::FileKind::design, design_name, "--design", diagnostics);
    auto design = design_node ? library.design(*design_node, diagnostics) : std::nullopt;
    const auto machine_node =
        library.load(analysis::FileKind::machine, "xeon-e5-2682v4", "--machine", diagnostics);
    const auto machine =
        machine_node ? scenarios::read_machine(*machine_node, diagnostics) : std::nullopt;
    if (design) {
        scenarios::apply_knobs(*design, knobs, diagnostics);
    }
    INFO(diagnostics.to_string());
    REQUIRE(diagnostics.empty());
    return scenarios::replay(*scenario, *design, *machine);
}

std::uint64_t counted(const scenarios::Result& result, const std::string& counter) {
    return scenarios::counter_value(result.counters, counter);
}

double cycles_per_operation(const scenarios::Result& result, const std::string& phase) {
    const scenarios::PhaseResult* found = result.find_phase(phase);
    REQUIRE(found != nullptr);
    return found->mean_cycles() / static_cast<double>(found->operations);
}

double cycles_of_mechanism(const scenarios::Result& result, const std::string& phase,
                           const std::string& mechanism) {
    return per_operation(result, phase, mechanism, &scenarios::LedgerRow::mechanism);
}

double cycles_of_primitive(const scenarios::Result& result, const std::string& phase,
                           const std::string& primitive) {
    return per_operation(result, phase, primitive, &scenarios::LedgerRow::primitive);
}

} // namespace uringsim::tests
