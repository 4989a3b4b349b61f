#pragma once

#include "analysis/sweep/axis.h"
#include "models/design.h"
#include "scenarios/scenario.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis {

/// A condition between two whole numbers: knobs, parameters or constants. "limit <= slots",
/// "node_cache.limit < 4096", "param:installs >= 64". A knob may be named by the end of its name
/// where that is not ambiguous; a parameter's own name comes first.
class Constraint {
  public:
    /// Nothing, with `error` set, where it cannot be understood.
    static std::optional<Constraint> parse(const std::string& text, const std::vector<Axis>& axes,
                                           const scenarios::Scenario& scenario,
                                           std::string& error);

    bool holds(const models::Design& design, const scenarios::Scenario& scenario) const;
    const std::string& text() const { return text_; }

  private:
    struct Operand {
        const models::Knob* knob = nullptr;
        std::optional<std::size_t> parameter;
        std::int64_t constant = 0;

        std::int64_t value(const models::Design& design, const scenarios::Scenario& scenario) const;
    };

    static std::optional<Operand> operand(const std::string& text, const std::vector<Axis>& axes,
                                          const scenarios::Scenario& scenario, std::string& error);

    std::string text_;
    Operand left_;
    Operand right_;
    bool (*compare_)(std::int64_t, std::int64_t) = nullptr;
};

} // namespace uringsim::analysis
