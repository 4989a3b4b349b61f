#include "models/uring/msg_punt.h"

#include "models/kernel.h"
#include "models/mechanisms.h"
#include "models/uring/ring.h"

namespace uringsim::models {

MessagePunt::MessagePunt(Kernel& kernel, const MessageIssue& issue, sim::TaskId id, sim::Cpu& cpu)
    : Task("io-wq", id, cpu)
    , kernel_(kernel)
    , issue_(issue) {
    issue_.may_block = true;
    issue_.stage = 0;
}

sim::Step MessagePunt::step(sim::Cpu& cpu) {
    const sim::MechanismScope scope(cpu, id(Mechanism::io_wq));
    if (issued_) {
        issue_.source->finish_punted(cpu, *issue_.request, result_);
        return sim::Step::done();
    }
    const MessagePolicy& policy =
        message_policy(kernel_.design(), *issue_.target, issue_.request->sqe.opcode, nullptr);
    const MessageProgress progress = policy.step(cpu, issue_);
    if (progress.kind == MessageProgress::Kind::complete) {
        result_ = progress.result;
        issued_ = true;
    }
    return progress.kind == MessageProgress::Kind::pending ? sim::Step::done() : sim::Step::ready();
}

} // namespace uringsim::models
