#pragma once

#include "models/uring/message_policy.h"
#include "sim/task.h"

namespace uringsim::models {

class Kernel;

/// A worker of io-wq that carries out one message which could not be issued inline. It waits for
/// the lock, and the request completes in the task that submitted it. Source: io_queue_async,
/// io_wq_submit_work, io_uring/io_uring.c (6.12).
class MessagePunt final : public sim::Task {
  public:
    MessagePunt(Kernel& kernel, const MessageIssue& issue, sim::TaskId id, sim::Cpu& cpu);

    sim::Step step(sim::Cpu& cpu) override;

  private:
    Kernel& kernel_;
    MessageIssue issue_;
    std::int32_t result_ = 0;
    bool issued_ = false;
};

} // namespace uringsim::models
