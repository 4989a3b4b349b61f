#pragma once

#include "sim/cycles.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace uringsim::sim {

/// Index of a primitive: the smallest step that has a cost. What the indices mean is the models'
/// affair; the engine only prices and counts them.
enum class PrimitiveId : std::uint16_t {};

/// Index of a mechanism: on whose behalf a primitive is charged.
enum class MechanismId : std::uint16_t {};

/// Index of an event counter.
enum class CounterId : std::uint16_t {};

template <class Id> constexpr std::size_t index_of(Id id) {
    return static_cast<std::size_t>(id);
}

/// What each primitive costs on one machine, in thousandths of a cycle, never negative.
class CostTable {
  public:
    explicit CostTable(std::size_t primitives) : costs_(primitives, 0) {}

    void set(PrimitiveId id, Millicycles cost) { costs_.at(index_of(id)) = cost; }
    Millicycles of(PrimitiveId id) const { return costs_.at(index_of(id)); }
    std::size_t size() const { return costs_.size(); }

  private:
    std::vector<Millicycles> costs_;
};

} // namespace uringsim::sim
