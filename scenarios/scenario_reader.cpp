#include "scenarios/scenario_reader.h"

#include "models/errno_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::scenarios {

bool Expect::accepts(std::int32_t result) const {
    switch (kind) {
    case Kind::success:
        return result >= 0;
    case Kind::value:
        return result == value;
    case Kind::any:
        return true;
    }
    return false;
}

std::string Expect::to_string() const {
    switch (kind) {
    case Kind::success:
        return "ok";
    case Kind::value:
        return models::result_name(value);
    case Kind::any:
        return "any";
    }
    return "ok";
}

std::optional<std::int64_t> ValueReader::integer(const JsonNode& node,
                                                 const IntegerRange& range) const {
    if (!node.is_string() || !node.text().starts_with('$')) {
        IntegerRange allowed = range;
        if (allowed.alternative.empty()) {
            allowed.alternative = "a parameter such as \"$slots\"";
        }
        return get_integer(node, allowed, diagnostics_);
    }
    const std::string name = node.text().substr(1);
    const auto found = std::ranges::find(scenario_.parameters, name, &Parameter::name);
    if (found == scenario_.parameters.end()) {
        std::vector<std::string> names;
        for (const Parameter& parameter : scenario_.parameters) {
            names.push_back("$" + parameter.name);
        }
        std::string message =
            fmt::format("\"{}\" is no parameter of this scenario; it declares {}", node.text(),
                        names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
        if (const auto near = did_you_mean(node.text(), names)) {
            message += fmt::format("; did you mean \"{}\"?", *near);
        }
        node.report(message, diagnostics_);
        return std::nullopt;
    }
    if (found->value < range.min || found->value > range.max) {
        node.report(
            fmt::format("must be {}; {} is {}", range.to_string(), node.text(), found->value),
            diagnostics_);
        return std::nullopt;
    }
    return found->value;
}

std::uint32_t ValueReader::integer_or(ObjectReader& reader, std::string_view key,
                                      const IntegerRange& range, std::int64_t fallback) const {
    const JsonNode* node = reader.optional(key);
    const std::int64_t value =
        node != nullptr ? integer(*node, range).value_or(fallback) : fallback;
    return static_cast<std::uint32_t>(value);
}

std::uint32_t ValueReader::required_integer(ObjectReader& reader, std::string_view key,
                                            const IntegerRange& range) const {
    const JsonNode* node = reader.required(key);
    const std::int64_t value = node != nullptr ? integer(*node, range).value_or(range.min) : 0;
    return static_cast<std::uint32_t>(value);
}

std::optional<std::size_t> ValueReader::ring_index(const JsonNode& node) const {
    std::vector<std::string_view> names;
    for (const RingSpec& ring : scenario_.rings) {
        names.push_back(ring.name);
    }
    return get_choice(node, names, diagnostics_);
}

std::size_t ValueReader::ring(ObjectReader& reader, std::string_view key) const {
    const JsonNode* node = reader.required(key);
    return node != nullptr ? ring_index(*node).value_or(0) : 0;
}

Expect ValueReader::expect(ObjectReader& reader) const {
    const JsonNode* node = reader.optional("expect");
    if (node == nullptr) {
        return {};
    }
    if (node->is_number()) {
        const auto value = get_integer(*node, {0, 0x7fffffff, "result"}, diagnostics_);
        return {Expect::Kind::value, static_cast<std::int32_t>(value.value_or(0))};
    }
    std::vector<std::string_view> names{"ok", "any"};
    const auto errors = models::errno_names();
    names.insert(names.end(), errors.begin(), errors.end());
    const auto index = get_choice(*node, names, diagnostics_);
    if (!index || *index == 0) {
        return {};
    }
    if (*index == 1) {
        return {Expect::Kind::any, 0};
    }
    return {Expect::Kind::value, models::find_errno(names[*index]).value_or(0)};
}

namespace {

constexpr std::int64_t max_parameter = 1LL << 40;
constexpr std::int64_t max_ring_entries = 32768;
constexpr std::int64_t max_cq_entries = 65536;
constexpr std::int64_t max_cpu = 1023;

/// Reads the blocks of a program into flat instructions.
class ProgramReader {
  public:
    ProgramReader(const ValueReader& values, std::vector<Instruction>& program)
        : values_(values)
        , program_(program) {}

    void block(const JsonNode& array, std::optional<sim::PhaseId> phase) {
        for (const JsonNode& node : array.children()) {
            statement(node, phase);
        }
    }

  private:
    static void ignore_all(const JsonNode& node, ObjectReader& reader) {
        for (const JsonNode& member : node.children()) {
            reader.ignore(member.key());
        }
    }

    void statement(const JsonNode& node, std::optional<sim::PhaseId> phase) {
        if (node.find("repeat") != nullptr) {
            repeat(node, phase);
        } else if (node.find("phase") != nullptr) {
            measured(node, phase);
        } else {
            ObjectReader reader(node, values_.diagnostics());
            reader.ignore("comment");
            if (const auto operation = read_operation(reader, values_)) {
                reader.finish();
                emit(node, *operation);
            } else {
                ignore_all(node, reader); // which keys are right depends on the operation
            }
        }
    }

    void repeat(const JsonNode& node, std::optional<sim::PhaseId> phase) {
        ObjectReader reader(node, values_.diagnostics());
        reader.ignore("comment");
        const std::uint64_t times =
            values_.required_integer(reader, "repeat", {0, 1LL << 31, "rounds"});
        const std::uint64_t warmup =
            values_.integer_or(reader, "warmup", {0, 1LL << 31, "rounds"}, 0);
        const JsonNode* body = reader.array("do", 1);
        reader.finish();
        const std::size_t begin = program_.size();
        emit(node, op::RepeatBegin{times, warmup, 0});
        if (body != nullptr) {
            block(*body, phase);
        }
        emit(node, op::RepeatEnd{begin});
        std::get<op::RepeatBegin>(program_[begin].op).end = program_.size() - 1;
    }

    void measured(const JsonNode& node, std::optional<sim::PhaseId> parent) {
        ObjectReader reader(node, values_.diagnostics());
        reader.ignore("comment");
        const std::string name = reader.name("phase").value_or("");
        const std::uint64_t operations =
            values_.required_integer(reader, "operations", {1, 1LL << 31, "operations"});
        const JsonNode* body = reader.array("do", 1);
        reader.finish();
        const sim::PhaseId id = declare(node, name, parent, operations);
        emit(node, op::PhaseBegin{id});
        if (body != nullptr) {
            block(*body, id);
        }
        emit(node, op::PhaseEnd{id});
    }

    sim::PhaseId declare(const JsonNode& node, const std::string& name,
                         std::optional<sim::PhaseId> parent, std::uint64_t operations) {
        auto& phases = values_.scenario().phases;
        if (std::ranges::find(phases, name, &PhaseSpec::name) != phases.end()) {
            node.report(fmt::format("phase \"{}\" stands here a second time; each phase has one "
                                    "place in one program",
                                    name),
                        values_.diagnostics());
        }
        phases.push_back({name, parent, operations});
        return static_cast<sim::PhaseId>(phases.size());
    }

    void emit(const JsonNode& node, op::Any operation) {
        program_.push_back(
            {std::move(operation), fmt::format("{}:{}:{}: {}", node.file(), node.position().line,
                                               node.position().column, node.pointer())});
    }

    const ValueReader& values_;
    std::vector<Instruction>& program_;
};

/// The "max" of a parameter: a number, or "$name" of a parameter declared before it.
std::int64_t read_maximum(ObjectReader& reader, const ValueReader& values, std::int64_t min) {
    const JsonNode* node = reader.optional("max");
    if (node == nullptr) {
        return max_parameter;
    }
    const IntegerRange range{min, max_parameter, "", "an earlier parameter such as \"$slots\""};
    return values.integer(*node, range).value_or(max_parameter);
}

Parameter read_parameter(const JsonNode& node, const ValueReader& values) {
    Parameter parameter;
    parameter.name = node.key();
    parameter.max = max_parameter;
    if (node.is_object()) {
        ObjectReader reader(node, values.diagnostics());
        parameter.min = reader.integer_or("min", {0, max_parameter}, 0);
        parameter.max = read_maximum(reader, values, parameter.min);
        parameter.unit = reader.string_or("unit", "");
        parameter.help = reader.string_or("help", "");
        parameter.default_value =
            reader.integer("default", {parameter.min, max_parameter, parameter.unit}).value_or(0);
        reader.finish();
    } else {
        parameter.default_value =
            get_integer(node, {0, max_parameter}, values.diagnostics()).value_or(0);
    }
    // A smaller table given on the command line takes the defaults that depend on it along.
    parameter.value = std::min(parameter.default_value, parameter.max);
    return parameter;
}

void override_value(Parameter& parameter, const ParameterOverrides& overrides,
                    Diagnostics& diagnostics) {
    bool seen = false;
    for (const auto& [name, text] : overrides) {
        if (name != parameter.name) {
            continue;
        }
        const std::string option = "--param " + name;
        if (seen) {
            diagnostics.add_option(option, "given twice");
        }
        seen = true;
        std::string error;
        const auto value =
            parse_integer(text, {parameter.min, parameter.max, parameter.unit}, error);
        if (value) {
            parameter.value = *value;
        } else {
            diagnostics.add_option(option, error);
        }
    }
}

void report_unknown_overrides(const Scenario& scenario, const ParameterOverrides& overrides,
                              Diagnostics& diagnostics) {
    std::vector<std::string> names;
    for (const Parameter& parameter : scenario.parameters) {
        names.push_back(parameter.name);
    }
    for (const auto& [name, text] : overrides) {
        if (std::ranges::find(names, name) != names.end()) {
            continue;
        }
        std::string message =
            fmt::format("{} has no such parameter; it declares {}", scenario.name,
                        names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
        if (const auto near = did_you_mean(name, names)) {
            message += fmt::format("; did you mean \"{}\"?", *near);
        }
        diagnostics.add_option("--param " + name, message);
    }
}

void read_parameters(ObjectReader& reader, const ValueReader& values,
                     const ParameterOverrides& overrides) {
    Scenario& scenario = values.scenario();
    if (const JsonNode* object = reader.optional_object("parameters")) {
        for (const JsonNode& node : object->children()) {
            scenario.parameters.push_back(read_parameter(node, values));
            override_value(scenario.parameters.back(), overrides, values.diagnostics());
        }
    }
    report_unknown_overrides(scenario, overrides, values.diagnostics());
}

void read_rings(ObjectReader& reader, const ValueReader& values) {
    const JsonNode* object = reader.object("rings");
    if (object == nullptr) {
        return;
    }
    for (const JsonNode& node : object->children()) {
        ObjectReader ring(node, values.diagnostics());
        RingSpec spec;
        spec.name = node.key();
        spec.params.sq_entries =
            values.integer_or(ring, "entries", {1, max_ring_entries, "entries"}, 256);
        spec.params.cq_entries =
            values.integer_or(ring, "cq_entries", {1, max_cq_entries, "entries"}, 0);
        spec.params.cqe32 = ring.boolean_or("cqe32", false);
        spec.params.disabled = ring.boolean_or("disabled", false);
        ring.finish();
        values.scenario().rings.push_back(std::move(spec));
    }
}

void read_tasks(ObjectReader& reader, const ValueReader& values) {
    const JsonNode* array = reader.array("tasks", 1);
    if (array == nullptr) {
        return;
    }
    for (const JsonNode& node : array->children()) {
        ObjectReader task(node, values.diagnostics());
        TaskSpec spec;
        spec.name = task.name("name").value_or("");
        spec.cpu =
            static_cast<std::uint16_t>(values.integer_or(task, "cpu", {0, max_cpu, "cpu"}, 0));
        spec.pinned = values.integer_or(task, "pinned", {0, 1, "(0: may move, 1: pinned)"}, 1) != 0;
        const JsonNode* program = task.array("program", 1);
        task.finish();
        if (program != nullptr) {
            ProgramReader(values, spec.program).block(*program, std::nullopt);
        }
        values.scenario().tasks.push_back(std::move(spec));
    }
}

} // namespace

std::optional<Scenario> read_scenario(const JsonNode& root, const ParameterOverrides& overrides,
                                      Diagnostics& diagnostics) {
    const std::size_t reported_before = diagnostics.size();
    Scenario scenario;
    ObjectReader reader(root, diagnostics);
    reader.ignore("$schema");
    scenario.name = reader.name("name").value_or("");
    scenario.summary = reader.string_or("summary", "");
    scenario.machine = reader.string_or("machine", "i7-12700kf");
    scenario.design = reader.string_or("design", "linux-6.18");
    scenario.seed = reader.unsigned_integer_or("seed", {}, 1);
    const ValueReader values(scenario, diagnostics);
    read_parameters(reader, values, overrides);
    read_rings(reader, values);
    read_tasks(reader, values);
    reader.finish();
    if (diagnostics.size() > reported_before) {
        return std::nullopt;
    }
    return scenario;
}

} // namespace uringsim::scenarios
