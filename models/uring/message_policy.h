#pragma once

#include "models/design.h"
#include "models/uring/request.h"
#include "sim/cpu.h"

#include <cstdint>

namespace uringsim::models {

class Ring;

/// One message on its way: a MSG_RING request that is being issued.
struct MessageIssue {
    Ring* source = nullptr;
    Ring* target = nullptr;
    Request* request = nullptr;
    bool may_block = false;  ///< issued by io-wq: waits for locks instead of giving up
    std::uint8_t stage = 0;  ///< of the policy
    std::int32_t result = 0; ///< kept between stages
};

/// What a stage of an issue came to.
struct MessageProgress {
    enum class Kind : std::uint8_t {
        more,     ///< another stage follows
        complete, ///< the request completes with `result`
        pending,  ///< it completes later, by task_work (IOU_ISSUE_SKIP_COMPLETE)
        again     ///< -EAGAIN: io-wq has to do it
    };
    Kind kind = Kind::more;
    std::int32_t result = 0;

    static MessageProgress more() { return {}; }
    static MessageProgress complete(std::int32_t result) { return {Kind::complete, result}; }
    static MessageProgress pending() { return {Kind::pending, 0}; }
    static MessageProgress again() { return {Kind::again, 0}; }
};

/// How a message gets from the sender to the target's CQ: the seam at which the kernel's versions
/// differ. Policies have no state of their own. Each stage begins with what others can see, so that
/// it happens at the time of the stage.
class MessagePolicy {
  public:
    MessagePolicy() = default;
    MessagePolicy(const MessagePolicy&) = delete;
    MessagePolicy& operator=(const MessagePolicy&) = delete;
    virtual ~MessagePolicy() = default;

    /// Runs one stage. The checks that all versions share are done; a file to send is held.
    virtual MessageProgress step(sim::Cpu& cpu, MessageIssue& issue) const = 0;
};

/// Posts into the target's CQ from the sender, under the target's locks (6.1; plain targets).
const MessagePolicy& direct_messages();
/// Generic task_work at the target, then back at the sender (6.2 - 6.10; SEND_FD ever since).
const MessagePolicy& task_work_messages();
/// An entry on the target's overflow list (v3 series of June 2024).
const MessagePolicy& overflow_messages();
/// Lazy local work of the target (DATA from 6.11 on).
const MessagePolicy& local_work_messages();

/// The policy for a message to `target` that `caller` issues.
const MessagePolicy& message_policy(const Design& design, const Ring& target, Opcode opcode,
                                    const sim::Task* caller);

/// io_msg_grab_file's counterpart at the target: installs the file that the request holds, and with
/// a notice posts its CQE. Under the target's uring_lock. The result of the request.
std::int32_t install_sent_file(sim::Cpu& cpu, Ring& target, Request& request);

} // namespace uringsim::models
