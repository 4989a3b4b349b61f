#pragma once

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"
#include "sim/cpu.h"
#include "sim/memory.h"

#include <cstdint>

namespace uringsim::models {

/// Something that a ring has registered and holds a reference on.
class RsrcResource {
  public:
    /// The ring's reference is dropped.
    virtual void put(sim::Cpu& cpu) = 0;

  protected:
    ~RsrcResource() = default;
};

/// An open file as the fixed-file table sees it: a reference count on a line of its own. Adds to it
/// commute and nobody acts on its value, so no CPU can tell whether another's add came first: to the
/// causality check they are reads (the cost is that of a write all the same).
struct File final : RsrcResource {
    std::uint32_t references = 1;
    bool is_ring = false; ///< the file of an io_uring instance: never accepted in a fixed-file slot
    sim::Line line;

    /// get_file: one more reference.
    void get(sim::Cpu& cpu) {
        const sim::MechanismScope scope(cpu, id(Mechanism::file_reference));
        ++references;
        cpu.charge(id(Primitive::file_get));
        cpu.read(line);
    }

    /// fput: one reference less. Nothing happens at the last one here: what a file does when it is
    /// closed is not modelled.
    void put(sim::Cpu& cpu) override {
        const sim::MechanismScope scope(cpu, id(Mechanism::file_reference));
        --references;
        cpu.charge(id(Primitive::file_put));
        cpu.read(line);
    }
};

} // namespace uringsim::models
