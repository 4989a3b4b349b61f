#pragma once

#include "models/uring/request.h"
#include "sim/task.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace uringsim::models {

class Kernel;

/// An io-wq worker: a kernel thread that does what a submitter could not do at once. It completes
/// and frees the requests on its own CPU.
/// Source: io_queue_async_work, io_worker_handle_work, fs/io-wq.c (5.8).
class IoWorker final : public sim::Task {
  public:
    explicit IoWorker(sim::Cpu& cpu);

    void add(Ring& ring, Request& request, sim::Cycles at) {
        work_.push_back({&ring, &request, at});
    }
    bool idle() const { return work_.empty() && waiting(); }

    sim::Step step(sim::Cpu& cpu) override;

  private:
    struct Work {
        Ring* ring;
        Request* request;
        sim::Cycles at; ///< when it was handed over
    };
    std::deque<Work> work_;
};

/// The workers of a kernel: one for each CPU that submits, on the next CPU that is online.
class IoWq {
  public:
    explicit IoWq(Kernel& kernel);

    /// Hands a request over to the submitter's worker and wakes it.
    void punt(sim::Cpu& cpu, Ring& ring, Request& request);

    /// True where a worker lives on this CPU and has work.
    bool busy_on(std::uint16_t cpu) const;

    /// The idle workers of this CPU go; others will be made elsewhere.
    void leave(std::uint16_t cpu);

  private:
    sim::Cpu& cpu_after(const sim::Cpu& cpu);

    Kernel& kernel_;
    std::vector<std::unique_ptr<IoWorker>> workers_;
};

} // namespace uringsim::models
