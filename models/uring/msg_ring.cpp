#include "models/uring/message_policy.h"
#include "models/uring/ring.h"

namespace uringsim::models {

const MessagePolicy& message_policy(const Design& design, const Ring& target, Opcode opcode,
                                    const sim::Task* caller) {
    if (!target.defer_taskrun()) {
        return design.msg_plain == MsgPlain::overflow ? overflow_messages() : direct_messages();
    }
    const bool own = target.submitter() != nullptr && &target.submitter()->task.task() == caller;
    if (own && design.msg_own_task_direct) {
        return direct_messages();
    }
    if (opcode == Opcode::msg_ring_send_fd) {
        switch (design.msg_fd) {
        case MsgFd::direct:
            return direct_messages();
        case MsgFd::task_work:
            return task_work_messages();
        case MsgFd::overflow:
            return overflow_messages();
        }
    }
    switch (design.msg_data) {
    case MsgData::direct:
        return direct_messages();
    case MsgData::task_work:
        return task_work_messages();
    case MsgData::overflow:
        return overflow_messages();
    case MsgData::local_work:
        break;
    }
    return local_work_messages();
}

} // namespace uringsim::models
