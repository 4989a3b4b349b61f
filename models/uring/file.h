#pragma once

#include "models/counters.h"
#include "models/mechanisms.h"
#include "models/primitives.h"
#include "sim/cpu.h"
#include "sim/memory.h"

#include <cstdint>

namespace uringsim::models {

/// An open file as the fixed-file table sees it: a reference count on a line of its own.
struct File {
    std::uint32_t references = 1;
    bool is_ring = false; ///< the file of an io_uring instance: never accepted in a fixed-file slot
    sim::Line line;

    /// get_file: one more reference.
    void get(sim::Cpu& cpu) {
        const sim::MechanismScope scope(cpu, id(Mechanism::file_reference));
        ++references;
        cpu.charge(id(Primitive::file_get));
        cpu.touch(line);
    }

    /// fput: one reference less. Nothing happens at the last one here: what a file does when it is
    /// closed is not modelled.
    void put(sim::Cpu& cpu) {
        const sim::MechanismScope scope(cpu, id(Mechanism::file_reference));
        --references;
        cpu.charge(id(Primitive::file_put));
        cpu.touch(line);
    }
};

} // namespace uringsim::models
