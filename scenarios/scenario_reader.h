#pragma once

#include "scenarios/scenario.h"
#include "scenarios/strict_json.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace uringsim::scenarios {

/// Reads the values of operations: numbers that may name a parameter, rings by name, expectations.
class ValueReader {
  public:
    ValueReader(Scenario& scenario, Diagnostics& diagnostics)
        : scenario_(scenario), diagnostics_(diagnostics) {}

    /// A whole number, or "$parameter". The bound value must be in the range too.
    std::optional<std::int64_t> integer(const JsonNode& node, const IntegerRange& range) const;
    std::uint32_t integer_or(ObjectReader& reader, std::string_view key, const IntegerRange& range,
                             std::int64_t fallback) const;
    std::uint32_t required_integer(ObjectReader& reader, std::string_view key,
                                   const IntegerRange& range) const;

    /// Says to who observes the reading that `key` takes such a number, or a parameter.
    static void describe(const ObjectReader& reader, std::string_view key,
                         const IntegerRange& range);
    /// The same for one of `names`, or a parameter that has choices.
    static void describe(const ObjectReader& reader, std::string_view key,
                         std::span<const std::string_view> names);

    /// The index of a declared ring; 0 after reporting.
    std::size_t ring(ObjectReader& reader, std::string_view key) const;
    std::optional<std::size_t> ring_index(const JsonNode& node) const;

    /// "ok", "any", an errno such as "-ENFILE", or a number.
    Expect expect(ObjectReader& reader) const;

    /// One of `names`, by name or by a parameter that has choices.
    std::optional<std::size_t> choice(const JsonNode& node,
                                      std::span<const std::string_view> names) const;

    /// The histogram that "latency" names; declared on first use.
    std::optional<std::size_t> latency(ObjectReader& reader) const;

    /// Which instance of a task is being read: rings with as many instances mean that one of them.
    void set_instance(std::uint32_t index, std::uint32_t of) {
        instance_ = index;
        instances_ = of;
    }

    Scenario& scenario() const { return scenario_; }
    Diagnostics& diagnostics() const { return diagnostics_; }

  private:
    Scenario& scenario_;
    Diagnostics& diagnostics_;
    std::uint32_t instance_ = 0;
    std::uint32_t instances_ = 1;
};

/// Reads one operation; `reader` is at its object. Nothing after reporting an unknown "op".
std::optional<op::Any> read_operation(ObjectReader& reader, const ValueReader& values);

/// The names that "op" accepts.
std::vector<std::string_view> operation_names();

} // namespace uringsim::scenarios
