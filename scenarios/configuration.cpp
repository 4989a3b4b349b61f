#include "scenarios/configuration.h"

#include "scenarios/key_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace uringsim::scenarios {

namespace {

constexpr int max_bases = 16;
constexpr std::array<std::string_view, 4> provenance_names{"published", "fitted", "measured",
                                                           "assumed"};

/// Reports an unknown knob; `report` gets the message.
template <class Report> void unknown_knob(std::string_view name, const Report& report) {
    std::string message = "there is no such knob; `uringsim list knobs` names all";
    if (const auto near = did_you_mean(name, models::knob_names())) {
        message += fmt::format("; did you mean \"{}\"?", *near);
    }
    report(message);
}

std::optional<std::int64_t> knob_value(const JsonNode& node, const models::Knob& knob,
                                       Diagnostics& diagnostics) {
    switch (knob.type) {
    case models::KnobType::integer:
        return get_integer(node, {knob.min, knob.max, std::string(knob.unit)}, diagnostics);
    case models::KnobType::boolean:
        return get_boolean(node, diagnostics);
    case models::KnobType::choice:
        return get_choice(node, knob.choices(), diagnostics);
    }
    return std::nullopt;
}

std::optional<std::int64_t> knob_value(std::string_view text, const models::Knob& knob,
                                       std::string& error) {
    switch (knob.type) {
    case models::KnobType::integer:
        return parse_integer(text, {knob.min, knob.max, std::string(knob.unit)}, error);
    case models::KnobType::boolean:
        return parse_boolean(text, error);
    case models::KnobType::choice:
        return parse_choice(text, knob.choices(), error);
    }
    return std::nullopt;
}

KeyShape shape_of(const models::Knob& knob) {
    KeyShape shape = shape_of_type("boolean");
    if (knob.type == models::KnobType::integer) {
        shape = shape_of(IntegerRange{knob.min, knob.max, std::string(knob.unit)});
    } else if (knob.type == models::KnobType::choice) {
        shape = shape_of_choice(knob.choices());
    }
    shape.help = knob.help;
    return shape;
}

void describe_knobs(const JsonNode& object, KeyObserver& observer) {
    for (const models::Knob& knob : models::knob_table()) {
        observer.asked(object, knob.name, shape_of(knob));
    }
}

void read_knobs(const JsonNode& object, models::Design& design, Diagnostics& diagnostics) {
    if (diagnostics.observer() != nullptr) {
        describe_knobs(object, *diagnostics.observer());
    }
    for (const JsonNode& node : object.children()) {
        const models::Knob* knob = models::find_knob(node.key());
        if (knob == nullptr) {
            unknown_knob(node.key(), [&](const std::string& message) {
                node.report_key(message, diagnostics);
            });
            continue;
        }
        if (const auto value = knob_value(node, *knob, diagnostics)) {
            knob->set(design, *value);
        }
    }
}

std::optional<models::Design> read_layer(const JsonNode& root, const DesignLoader& load,
                                         Diagnostics& diagnostics, int depth) {
    ObjectReader reader(root, diagnostics);
    for (const std::string_view key : {"$schema", "name", "summary", "knobs"}) {
        reader.ignore(key); // known also where the base is in error and nothing more is read
    }
    models::Design design;
    reader.describe("base", shape_of_type("string"));
    if (const JsonNode* base = reader.optional("base")) {
        const auto name = get_name(*base, diagnostics);
        if (depth >= max_bases) {
            base->report("designs build on each other in a circle", diagnostics);
            return std::nullopt;
        }
        const auto node = name ? load(*name) : std::nullopt;
        const auto below = node ? read_layer(*node, load, diagnostics, depth + 1) : std::nullopt;
        if (!below) {
            return std::nullopt;
        }
        design = *below;
    }
    design.name = reader.name("name").value_or("");
    design.summary = reader.string_or("summary", "");
    if (const JsonNode* knobs = reader.optional_object("knobs")) {
        read_knobs(*knobs, design, diagnostics);
    }
    reader.finish();
    return design;
}

void read_memory(ObjectReader& reader, models::Machine& machine, Diagnostics& diagnostics) {
    constexpr std::int64_t max_lines = 1LL << 31;
    const JsonNode* object = reader.optional_object("memory");
    if (object == nullptr) {
        return;
    }
    ObjectReader memory(*object, diagnostics);
    const auto lines = [&](std::string_view key, std::uint64_t fallback) {
        return static_cast<std::uint64_t>(memory.integer_or(key, {1, max_lines, "lines"},
                                                            static_cast<std::int64_t>(fallback)));
    };
    machine.memory.l1_lines = lines("l1_lines", machine.memory.l1_lines);
    machine.memory.l1_code_lines = lines("l1_code_lines", machine.memory.l1_code_lines);
    machine.memory.far_lines = lines("far_lines", machine.memory.far_lines);
    machine.memory.l2_lines = static_cast<std::uint32_t>(lines("l2_lines", machine.memory.l2_lines));
    machine.memory.llc_lines =
        static_cast<std::uint32_t>(lines("llc_lines", machine.memory.llc_lines));
    constexpr std::int64_t max_sets = 1 << 16;
    machine.memory.l1_sets = static_cast<std::uint32_t>(
        memory.integer_or("l1_sets", {0, max_sets, "sets"}, machine.memory.l1_sets));
    machine.reorder_entries = memory.integer_or("reorder_entries", {0, 1 << 16, "instructions"},
                                                machine.reorder_entries);
    machine.aging_idle_us =
        memory.integer_or("aging_idle_us", {1, 1'000'000'000, "us"}, machine.aging_idle_us);
    memory.ignore("source");
    memory.finish();
}

/// Lengths in machine files are ns; the engine wants cycles.
class TimingReader {
  public:
    TimingReader(models::Machine& machine, Diagnostics& diagnostics)
        : machine_(machine), diagnostics_(diagnostics) {}

    void read(const JsonNode& node) {
        models::Timing& timing = machine_.timing;
        ObjectReader reader(node, diagnostics_);
        reader.ignore("comment");
        timing.timer_slack = length(reader, "timer_slack_ns");
        timing.tick = length(reader, "tick_ns");
        timing.cold_after = length(reader, "cold_after_ns");
        timing.clock_tick_ns = reader.integer_or("clock_tick_ns", {1, max_ns, "ns"}, 1);
        timing.noise = jitter(reader, "noise");
        timing.wake_noise = jitter(reader, "wake_noise");
        timing.cold_noise = jitter(reader, "cold_noise");
        timing.idle.turn_round = jitter(reader, "turn_round");
        timing.idle.wake_flight = length(reader, "wake_flight_ns");
        if (const JsonNode* states = reader.optional_array("idle_states")) {
            for (const JsonNode& state : states->children()) {
                timing.idle.states.push_back(idle_state(state));
            }
        }
        provenance(reader, "timing");
        reader.finish();
    }

  private:
    static constexpr std::int64_t max_ns = 1'000'000'000;
    static constexpr std::int64_t permille = 1000;
    static constexpr std::int64_t million = 1'000'000;

    sim::Cycles length(ObjectReader& reader, std::string_view key) const {
        constexpr std::int64_t ns_of_us = 1000;
        return reader.integer_or(key, {0, max_ns, "ns"}, 0) * machine_.mhz / ns_of_us;
    }

    sim::Jitter jitter(ObjectReader& reader, std::string_view key) {
        sim::Jitter shape;
        if (const JsonNode* node = reader.optional_object(key)) {
            ObjectReader object(*node, diagnostics_);
            shape.base = length(object, "ns");
            shape.spread_permille = static_cast<std::uint32_t>(
                object.integer_or("spread_permille", {0, permille, "permille"}, 0));
            shape.tail_ppm =
                static_cast<std::uint32_t>(object.integer_or("tail_ppm", {0, million, "ppm"}, 0));
            shape.tail = length(object, "tail_ns");
            provenance(object, std::string(key));
            object.finish();
        }
        return shape;
    }

    sim::IdleState idle_state(const JsonNode& node) {
        ObjectReader reader(node, diagnostics_);
        sim::IdleState state;
        state.name = reader.name("name").value_or("");
        state.after_min = length(reader, "after_ns");
        state.after_max = std::max(state.after_min, length(reader, "after_max_ns"));
        state.chance_ppm = static_cast<std::uint32_t>(
            reader.integer_or("chance_ppm", {0, million, "ppm"}, million));
        state.polling = reader.boolean_or("polling", false);
        state.exit = jitter(reader, "exit");
        provenance(reader, "idle_states." + state.name);
        reader.finish();
        return state;
    }

    void provenance(ObjectReader& reader, const std::string& of) {
        models::Cost entry;
        reader.describe("provenance", shape_of_choice(provenance_names));
        if (const JsonNode* node = reader.optional("provenance")) {
            entry.provenance =
                static_cast<models::Provenance>(get_choice(*node, provenance_names, diagnostics_).value_or(0));
        }
        entry.source = reader.string_or("source", "");
        machine_.timing.sources.emplace_back(of, entry);
    }

    models::Machine& machine_;
    Diagnostics& diagnostics_;
};

std::string unknown_primitive(std::string_view name) {
    std::vector<std::string_view> names;
    for (const models::PrimitiveInfo& row : models::primitive_table()) {
        names.push_back(row.name);
    }
    std::string message = "there is no such primitive; `uringsim list primitives` names all";
    if (const auto near = did_you_mean(name, names)) {
        message += fmt::format("; did you mean \"{}\"?", *near);
    }
    return message;
}

void read_free_cost(const JsonNode& node, models::Machine& machine, Diagnostics& diagnostics) {
    const auto name = get_name(node, diagnostics);
    if (!name) {
        return;
    }
    const auto primitive = models::find_primitive(*name);
    if (!primitive) {
        node.report(unknown_primitive(*name), diagnostics);
    } else if (std::ranges::find(machine.free_costs, *primitive) != machine.free_costs.end()) {
        node.report("given twice", diagnostics);
    } else if (models::info(*primitive).min_cycles >= models::info(*primitive).max_cycles) {
        node.report("has no price, so that there is nothing to choose", diagnostics);
    } else {
        machine.free_costs.push_back(*primitive);
    }
}

/// What `calibrate` may choose, and what it wrote down when it did.
void read_calibration(ObjectReader& reader, models::Machine& machine, Diagnostics& diagnostics) {
    const JsonNode* object = reader.optional_object("calibration");
    if (object == nullptr) {
        return;
    }
    ObjectReader calibration(*object, diagnostics);
    if (const JsonNode* free = calibration.array("free", 1)) {
        for (const JsonNode& node : free->children()) {
            read_free_cost(node, machine, diagnostics);
        }
    }
    if (const JsonNode* figures = calibration.optional_array("figures")) {
        for (const JsonNode& node : figures->children()) {
            machine.fitted_to.push_back(get_name(node, diagnostics).value_or(""));
        }
    }
    calibration.finish();
}

void describe_costs(const JsonNode& object, KeyObserver& observer) {
    for (const models::PrimitiveInfo& row : models::primitive_table()) {
        KeyShape shape = shape_of_type("object");
        shape.help = row.help;
        observer.asked(object, row.name, shape);
    }
}

void read_cost(const JsonNode& node, models::Machine& machine, Diagnostics& diagnostics) {
    const auto primitive = models::find_primitive(node.key());
    if (!primitive) {
        node.report_key(unknown_primitive(node.key()), diagnostics);
        return;
    }
    ObjectReader reader(node, diagnostics);
    models::Cost& cost = machine.cost(*primitive);
    if (const auto provenance = reader.choice("provenance", provenance_names)) {
        cost.provenance = static_cast<models::Provenance>(*provenance);
    }
    // The ranges are of one kind of core: another one, its mitigations, or a virtual machine may
    // well be slower, and what was measured there is a fact.
    constexpr double measured_factor = 4;
    const models::CostRange allowed = models::cost_range(*primitive, machine.instructions);
    const bool measured = cost.provenance == models::Provenance::measured;
    const NumberRange range{measured ? allowed.min / measured_factor : allowed.min,
                            measured ? allowed.max * measured_factor : allowed.max, "cycles"};
    if (const auto cycles = reader.number("cycles", range)) {
        cost.millicycles =
            std::llround(*cycles * static_cast<double>(sim::millicycles_per_cycle));
    }
    if (reader.is_observed()) { // on either clock
        reader.describe("cycles", shape_of(NumberRange{
                                      0, models::cost_range(*primitive, true).max * measured_factor,
                                      "cycles"}));
    }
    cost.source = reader.string_or("source", "");
    reader.finish();
}

} // namespace

std::optional<models::Design> read_design(const JsonNode& root, const DesignLoader& load,
                                          Diagnostics& diagnostics) {
    const std::size_t reported_before = diagnostics.size();
    auto design = read_layer(root, load, diagnostics, 0);
    if (!design || diagnostics.size() > reported_before) {
        return std::nullopt;
    }
    for (const std::string& line : models::conflicts(*design)) {
        root.report(line, diagnostics);
    }
    return diagnostics.size() > reported_before ? std::nullopt : design;
}

void apply_knobs(models::Design& design, const KnobOverrides& overrides, Diagnostics& diagnostics) {
    const std::size_t reported_before = diagnostics.size();
    std::set<std::string> seen;
    for (const auto& [name, text] : overrides) {
        const std::string option = "--set " + name;
        if (!seen.insert(name).second) {
            diagnostics.add_option(option, "given twice");
            continue;
        }
        const models::Knob* knob = models::find_knob(name);
        if (knob == nullptr) {
            unknown_knob(name, [&](const std::string& message) {
                diagnostics.add_option(option, message);
            });
            continue;
        }
        std::string error;
        if (const auto value = knob_value(text, *knob, error)) {
            knob->set(design, *value);
        } else {
            diagnostics.add_option(option, error);
        }
    }
    if (overrides.empty() || diagnostics.size() > reported_before) {
        return;
    }
    for (const std::string& line : models::conflicts(design)) {
        diagnostics.add_option("--set", line);
    }
}

std::optional<models::Machine> read_machine(const JsonNode& root, Diagnostics& diagnostics) {
    const std::size_t reported_before = diagnostics.size();
    constexpr std::int64_t max_mhz = 10'000;
    constexpr std::int64_t max_cpus = 1024;
    constexpr std::int64_t max_possible_cpus = 8192;
    constexpr std::int64_t max_slice_us = 1'000'000;
    models::Machine machine;
    ObjectReader reader(root, diagnostics);
    reader.ignore("$schema");
    machine.name = reader.name("name").value_or("");
    machine.summary = reader.string_or("summary", "");
    static constexpr std::array<std::string_view, 2> clocks{"cycles", "instructions"};
    machine.instructions = reader.choice_or("clock", clocks, 0) == 1;
    machine.mhz = reader.integer("frequency_mhz", {100, max_mhz, "MHz"}).value_or(1000);
    machine.cpus = reader.integer("cpus", {1, max_cpus, "CPUs"}).value_or(1);
    machine.possible_cpus = reader.integer_or("possible_cpus", {1, max_possible_cpus, "CPUs"}, 0);
    machine.time_slice_us =
        reader.integer_or("time_slice_us", {0, max_slice_us, "us"}, machine.time_slice_us);
    read_memory(reader, machine, diagnostics);
    if (const JsonNode* timing = reader.optional_object("timing")) {
        TimingReader(machine, diagnostics).read(*timing);
    }
    read_calibration(reader, machine, diagnostics);
    if (const JsonNode* costs = reader.object("costs")) {
        if (diagnostics.observer() != nullptr) {
            describe_costs(*costs, *diagnostics.observer());
        }
        for (const JsonNode& node : costs->children()) {
            read_cost(node, machine, diagnostics);
        }
    }
    reader.finish();
    if (diagnostics.size() > reported_before) {
        return std::nullopt;
    }
    return machine;
}

} // namespace uringsim::scenarios
