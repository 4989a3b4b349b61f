#include "models/primitives.h"
#include "models/uring/message_policy.h"
#include "models/uring/ring.h"

#include <cerrno>

namespace uringsim::models {

namespace {

/// Source: io_msg_data_remote, io_msg_remote_post, io_uring/msg_ring.c (6.13, 6.18). The message is
/// a request of its own, pushed on the target's local work as lazy; the sender completes at once.
class LocalWorkMessages final : public MessagePolicy {
  public:
    MessageProgress step(sim::Cpu& cpu, MessageIssue& issue) const override {
        Ring& target = *issue.target;
        if (issue.stage == 0) {
            if (target.submitter() == nullptr) {
                return MessageProgress::complete(-EOWNERDEAD);
            }
            cpu.charge(id(Primitive::msg_local_work));
            issue.request->message_memory = issue.source->message_memory_for(cpu, target);
            if (issue.request->message_memory == nullptr) {
                return MessageProgress::complete(-ENOMEM);
            }
            issue.stage = 1;
            return MessageProgress::more();
        }
        const Sqe& sqe = issue.request->sqe;
        LocalWorkItem item;
        item.message = Cqe{sqe.target_user_data, static_cast<std::int32_t>(sqe.len), 0};
        item.memory = issue.request->message_memory;
        target.add_local_work(cpu, item, true);
        return MessageProgress::complete(0);
    }
};

} // namespace

const MessagePolicy& local_work_messages() {
    static const LocalWorkMessages policy;
    return policy;
}

} // namespace uringsim::models
