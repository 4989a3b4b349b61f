#include "support.h"

#include "models/mechanisms.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace uringsim::tests {

namespace {

template <class T>
T value_or_fail(std::optional<T> value, const scenarios::Diagnostics& diagnostics) {
    INFO(diagnostics.to_string());
    REQUIRE(diagnostics.empty());
    REQUIRE(value.has_value());
    return std::move(*value);
}

scenarios::Scenario scenario_of(const std::optional<scenarios::JsonNode>& node,
                                const scenarios::ParameterOverrides& parameters,
                                scenarios::Diagnostics& diagnostics) {
    auto scenario = node ? scenarios::read_scenario(*node, parameters, diagnostics) : std::nullopt;
    return value_or_fail(std::move(scenario), diagnostics);
}

} // namespace

std::filesystem::path test_folder() {
    return URINGSIM_TEST_FOLDER;
}

const analysis::Library& library() {
    static const analysis::Library shipped(test_folder().parent_path() / "scenarios");
    return shipped;
}

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file.good());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

scenarios::Scenario load_scenario(const std::string& name,
                                  const scenarios::ParameterOverrides& parameters) {
    scenarios::Diagnostics diagnostics;
    const auto node = library().load(analysis::FileKind::scenario, name, "scenario", diagnostics);
    return scenario_of(node, parameters, diagnostics);
}

scenarios::Scenario parse_scenario(std::string_view text,
                                   const scenarios::ParameterOverrides& parameters) {
    scenarios::Diagnostics diagnostics;
    const auto node = scenarios::parse_json("test.json", text, diagnostics);
    return scenario_of(node, parameters, diagnostics);
}

models::Design load_design(const std::string& name, const scenarios::KnobOverrides& knobs) {
    scenarios::Diagnostics diagnostics;
    const auto node = library().load(analysis::FileKind::design, name, "design", diagnostics);
    auto design = node ? library().design(*node, diagnostics) : std::nullopt;
    if (design) {
        scenarios::apply_knobs(*design, knobs, diagnostics);
    }
    return value_or_fail(std::move(design), diagnostics);
}

const models::Machine& i7() {
    static const models::Machine machine = [] {
        scenarios::Diagnostics diagnostics;
        const auto node =
            library().load(analysis::FileKind::machine, "i7-12700kf", "machine", diagnostics);
        auto read = node ? scenarios::read_machine(*node, diagnostics) : std::nullopt;
        return value_or_fail(std::move(read), diagnostics);
    }();
    return machine;
}

scenarios::Result run(const std::string& scenario, const std::string& design,
                      const scenarios::ParameterOverrides& parameters,
                      const scenarios::KnobOverrides& knobs) {
    return scenarios::replay(load_scenario(scenario, parameters), load_design(design, knobs), i7());
}

std::string run_error(std::string_view text, const std::string& design) {
    const scenarios::Scenario scenario = parse_scenario(text);
    try {
        scenarios::replay(scenario, load_design(design), i7());
    } catch (const scenarios::RunError& error) {
        return error.what();
    }
    return "";
}

void prepare(sim::Cpu& cpu, models::Ring& ring, const models::Sqe& sqe) {
    models::Sqe* next = ring.prepare(cpu);
    REQUIRE(next != nullptr);
    *next = sqe;
}

models::Machine machine_of(std::int64_t cpus) {
    models::Machine machine;
    machine.name = "test";
    machine.cpus = cpus;
    return machine;
}

std::uint64_t charged(sim::Engine& engine, models::Primitive primitive) {
    std::uint64_t sum = 0;
    for (const auto& [key, account] : engine.ledger().accounts()) {
        for (std::size_t m = 0; m < models::mechanism_count; ++m) {
            const auto mechanism = static_cast<sim::MechanismId>(m);
            sum += account->cells(mechanism)[static_cast<std::size_t>(primitive)].count;
        }
    }
    return sum;
}

std::uint64_t counted(sim::Engine& engine, models::Counter counter) {
    return engine.ledger().total(id(counter));
}

} // namespace uringsim::tests
