#pragma once

#include "models/kernel.h"
#include "models/uring/ring.h"
#include "sim/task.h"

#include <cstdint>

namespace uringsim::models {

/// The exit work of a closed ring, on another CPU with slab and page lists of its own.
/// Source: io_ring_exit_work, io_ring_ctx_free, io_uring/io_uring.c (6.17).
class RingExit final : public sim::Task {
  public:
    RingExit(Kernel& kernel, Ring& ring, sim::Cpu& cpu);

    sim::Step step(sim::Cpu& cpu) override;

  private:
    enum class Stage : std::uint8_t { start, quiesce, files, caches, rest };

    sim::Step run_stage(sim::Cpu& cpu);
    void drop_polls(sim::Cpu& cpu);

    Kernel& kernel_;
    Ring& ring_;
    Stage stage_ = Stage::start;
    std::uint32_t next_slot_ = 0;
};

} // namespace uringsim::models
