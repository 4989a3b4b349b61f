#include "scenarios/scenario_reader.h"

#include "models/errno_names.h"
#include "scenarios/key_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

void ValueReader::describe(const ObjectReader& reader, std::string_view key,
                           const IntegerRange& range) {
    if (reader.is_observed()) {
        KeyShape shape = shape_of(range);
        shape.parameter = true;
        reader.describe(key, shape);
    }
}

void ValueReader::describe(const ObjectReader& reader, std::string_view key,
                           std::span<const std::string_view> names) {
    if (reader.is_observed()) {
        KeyShape shape = shape_of_choice(names);
        shape.parameter = true;
        reader.describe(key, shape);
    }
}

std::uint32_t ValueReader::integer_or(ObjectReader& reader, std::string_view key,
                                      const IntegerRange& range, std::int64_t fallback) const {
    describe(reader, key, range);
    if (reader.is_observed()) {
        KeyShape shape;
        shape.fallback = std::to_string(fallback);
        reader.describe(key, shape);
    }
    const JsonNode* node = reader.optional(key);
    const std::int64_t value =
        node != nullptr ? integer(*node, range).value_or(fallback) : fallback;
    return static_cast<std::uint32_t>(value);
}

std::uint32_t ValueReader::required_integer(ObjectReader& reader, std::string_view key,
                                            const IntegerRange& range) const {
    describe(reader, key, range);
    const JsonNode* node = reader.required(key);
    const std::int64_t value = node != nullptr ? integer(*node, range).value_or(range.min) : 0;
    return static_cast<std::uint32_t>(value);
}

std::optional<std::size_t> ValueReader::ring_index(const JsonNode& node) const {
    std::vector<std::string_view> names;
    std::vector<std::size_t> first;
    for (std::size_t i = 0; i < scenario_.rings.size(); i += scenario_.rings[i].instances) {
        names.push_back(scenario_.rings[i].name);
        first.push_back(i);
    }
    const auto index = get_choice(node, names, diagnostics_);
    if (!index) {
        return std::nullopt;
    }
    const std::uint32_t instances = scenario_.rings[first[*index]].instances;
    const bool own = instances > 1 && instances == instances_;
    return first[*index] + (own ? instance_ : 0);
}

std::optional<std::size_t> ValueReader::choice(const JsonNode& node,
                                               std::span<const std::string_view> names) const {
    if (!node.is_string() || !node.text().starts_with('$')) {
        return get_choice(node, names, diagnostics_);
    }
    const std::string name = node.text().substr(1);
    const auto found = std::ranges::find(scenario_.parameters, name, &Parameter::name);
    if (found == scenario_.parameters.end() || found->choices.empty()) {
        node.report(fmt::format("\"{}\" is no parameter with choices", node.text()), diagnostics_);
        return std::nullopt;
    }
    std::string error;
    const auto index = parse_choice(found->text(), names, error);
    if (!index) {
        node.report(error, diagnostics_);
    }
    return index;
}

std::optional<std::size_t> ValueReader::latency(ObjectReader& reader) const {
    reader.describe("latency", shape_of_type("string"));
    if (reader.optional("latency") == nullptr) {
        return std::nullopt;
    }
    const std::string name = reader.name("latency").value_or("");
    auto& names = scenario_.latencies;
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) {
        return static_cast<std::size_t>(found - names.begin());
    }
    names.push_back(name);
    return names.size() - 1;
}

std::string Parameter::text() const {
    return choices.empty() ? std::to_string(value) : choices.at(static_cast<std::size_t>(value));
}

std::size_t ValueReader::ring(ObjectReader& reader, std::string_view key) const {
    reader.describe(key, shape_of_type("string"));
    const JsonNode* node = reader.required(key);
    return node != nullptr ? ring_index(*node).value_or(0) : 0;
}

Expect ValueReader::expect(ObjectReader& reader) const {
    const JsonNode* node = reader.optional("expect");
    std::vector<std::string_view> names{"ok", "any"};
    const auto errors = models::errno_names();
    names.insert(names.end(), errors.begin(), errors.end());
    if (reader.is_observed()) {
        KeyShape shape = shape_of_choice(names);
        shape.types.emplace_back("integer");
        shape.fallback = "\"ok\"";
        reader.describe("expect", shape);
    }
    if (node == nullptr) {
        return {};
    }
    if (node->is_number()) {
        const auto value = get_integer(*node, {0, 0x7fffffff, "result"}, diagnostics_);
        return {Expect::Kind::value, static_cast<std::int32_t>(value.value_or(0))};
    }
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
constexpr std::int64_t max_instances = 64;

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
        } else if (node.find("seconds") != nullptr || node.find("for_ms") != nullptr) {
            timed(node, phase);
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

    void timed(const JsonNode& node, std::optional<sim::PhaseId> phase) {
        constexpr std::uint64_t second_us = 1'000'000;
        constexpr std::uint64_t ms_us = 1000;
        ObjectReader reader(node, values_.diagnostics());
        reader.ignore("comment");
        std::uint64_t us = 0;
        if (node.find("seconds") != nullptr) {
            us = std::uint64_t{values_.required_integer(reader, "seconds", {0, 3600, "s"})} *
                 second_us;
        } else {
            us = std::uint64_t{values_.required_integer(reader, "for_ms", {0, 3'600'000, "ms"})} * ms_us;
        }
        const JsonNode* body = reader.array("do", 1);
        reader.finish();
        const std::size_t begin = program_.size();
        emit(node, op::LoopBegin{us, 0});
        if (body != nullptr) {
            block(*body, phase);
        }
        emit(node, op::LoopEnd{begin});
        std::get<op::LoopBegin>(program_[begin].op).end = program_.size() - 1;
    }

    void measured(const JsonNode& node, std::optional<sim::PhaseId> parent) {
        ObjectReader reader(node, values_.diagnostics());
        reader.ignore("comment");
        const std::string name = reader.name("phase").value_or("");
        const JsonNode* amount = reader.required("operations");
        const bool counted =
            amount != nullptr && amount->is_string() && amount->text() == "counted";
        const IntegerRange range{1, 1LL << 31, "operations", "\"counted\" or a parameter"};
        static constexpr std::array<std::string_view, 1> counted_name{"counted"};
        ValueReader::describe(reader, "operations", range);
        ValueReader::describe(reader, "operations", counted_name);
        const auto operations = static_cast<std::uint64_t>(
            amount != nullptr && !counted ? values_.integer(*amount, range).value_or(1) : 1);
        const JsonNode* body = reader.array("do", 1);
        reader.finish();
        const sim::PhaseId id = declare(node, name, parent, operations);
        values_.scenario().phases.back().counted = counted;
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
    const IntegerRange range{min, max_parameter, "", "an earlier parameter such as \"$slots\""};
    ValueReader::describe(reader, "max", range);
    if (node == nullptr) {
        return max_parameter;
    }
    return values.integer(*node, range).value_or(max_parameter);
}

/// A parameter with names for values: { "default": "defer", "choices": ["plain", "defer"] }.
void read_choices(const JsonNode& node, const ValueReader& values, Parameter& parameter) {
    ObjectReader reader(node, values.diagnostics());
    parameter.help = reader.string_or("help", "");
    std::vector<std::string_view> names;
    if (const JsonNode* array = reader.array("choices", 2)) {
        for (const JsonNode& choice : array->children()) {
            parameter.choices.push_back(get_name(choice, values.diagnostics()).value_or(""));
        }
    }
    names.assign(parameter.choices.begin(), parameter.choices.end());
    parameter.max = std::max<std::int64_t>(1, static_cast<std::int64_t>(names.size())) - 1;
    reader.describe("default", shape_of_type("string"));
    if (const JsonNode* given = reader.required("default")) {
        parameter.default_value =
            static_cast<std::int64_t>(get_choice(*given, names, values.diagnostics()).value_or(0));
    }
    reader.finish();
}

Parameter read_parameter(const JsonNode& node, const ValueReader& values) {
    Parameter parameter;
    parameter.name = node.key();
    parameter.max = max_parameter;
    if (node.is_object() && node.find("choices") != nullptr) {
        read_choices(node, values, parameter);
    } else if (node.is_object()) {
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

std::optional<std::int64_t> parse_parameter(const Parameter& parameter, const std::string& text,
                                            std::string& error) {
    if (parameter.choices.empty()) {
        return parse_integer(text, {parameter.min, parameter.max, parameter.unit}, error);
    }
    const std::vector<std::string_view> names(parameter.choices.begin(), parameter.choices.end());
    const auto index = parse_choice(text, names, error);
    return index ? std::optional<std::int64_t>(static_cast<std::int64_t>(*index)) : std::nullopt;
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
        const auto value = parse_parameter(parameter, text, error);
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

/// "mode" names the usual sets of flags: plain none, single_issuer, defer both.
void read_setup(const JsonNode& node, ObjectReader& ring, const ValueReader& values, models::RingParams& params) {
    static constexpr std::array<std::string_view, 3> modes{"plain", "single_issuer", "defer"};
    std::size_t mode = 0;
    ValueReader::describe(ring, "mode", modes);
    if (const JsonNode* given = ring.optional("mode")) {
        mode = values.choice(*given, modes).value_or(0);
    }
    params.single_issuer = ring.boolean_or("single_issuer", mode >= 1);
    params.defer_taskrun = ring.boolean_or("defer_taskrun", mode == 2);
    params.taskrun_flag = ring.boolean_or("taskrun_flag", false);
    params.iopoll = ring.boolean_or("iopoll", false);
    if (params.defer_taskrun && !params.single_issuer) {
        node.report("defer_taskrun needs single_issuer: io_uring_setup returns -EINVAL",
                           values.diagnostics());
    }
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
        read_setup(node, ring, values, spec.params);
        spec.instances = values.integer_or(ring, "instances", {1, max_instances, "rings"}, 1);
        ring.finish();
        values.scenario().rings.insert(values.scenario().rings.end(), spec.instances, spec);
    }
}

/// A task with instances is several tasks with one program, on CPUs one after the other; the rings
/// of as many instances that it names are each instance's own.
void read_instances(const JsonNode* program, ValueReader& values, const TaskSpec& spec,
                    std::uint32_t instances) {
    const std::size_t reported_before = values.diagnostics().size();
    for (std::uint32_t i = 0; i < instances; ++i) {
        TaskSpec task = spec;
        if (instances > 1) {
            task.name = fmt::format("{}-{}", spec.name, i + 1);
        }
        task.cpu = static_cast<std::uint16_t>(spec.cpu + i);
        values.set_instance(i, instances);
        if (program != nullptr) {
            ProgramReader(values, task.program).block(*program, std::nullopt);
        }
        values.scenario().tasks.push_back(std::move(task));
        if (values.diagnostics().size() > reported_before) {
            return; // said once is enough
        }
    }
}

void read_tasks(ObjectReader& reader, ValueReader& values) {
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
        const auto instances = values.integer_or(task, "instances", {1, max_instances, "tasks"}, 1);
        const JsonNode* program = task.array("program", 1);
        task.finish();
        read_instances(program, values, spec, instances);
    }
    values.set_instance(0, 1);
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
    ValueReader values(scenario, diagnostics);
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
