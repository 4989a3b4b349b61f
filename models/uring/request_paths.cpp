// How requests leave the submission: the parts of Ring that differ between the request designs.

#include "models/kernel.h"
#include "models/mechanisms.h"
#include "models/primitives.h"
#include "models/uring/ring.h"

#include <cerrno>

namespace uringsim::models {

void Ring::defer(sim::Cpu& cpu, Request& request) {
    Request* later = requests_->leave_submitter(cpu, request);
    if (later == nullptr) {
        request.res = -ENOMEM; // nothing to carry on with: all that is left is to say so
        complete_one(cpu, request, true);
        return;
    }
    if (later->sqe.completes == Completes::worker) {
        kernel_.io_wq().punt(cpu, *this, *later);
        return;
    }
    if (later->sqe.completes == Completes::event) {
        reads_.push_back(later);
        return;
    }
    const sim::Cycles delay = kernel_.machine().cycles_of_us(later->sqe.delay_us);
    kernel_.interrupts().raise(cpu, *this, *later, cpu.now() + delay);
}

void Ring::complete_later(sim::Cpu& cpu, Request& request) {
    complete_one(cpu, request, false);
}

void Ring::put_references(sim::Cpu& cpu) const {
    // One reference is the submission's, the other the completion's.
    constexpr std::uint32_t references = 2;
    switch (kernel_.design().request_refcount) {
    case RequestRefcount::none:
        return;
    case RequestRefcount::plain:
        cpu.charge(id(Primitive::request_refcount_plain), references);
        return;
    case RequestRefcount::atomic:
        cpu.charge(id(Primitive::request_refcount_atomic), references);
        return;
    }
}

bool Ring::take_interrupts(sim::Cpu& cpu, bool wait) {
    Interrupts& interrupts = kernel_.interrupts();
    return interrupts.take(cpu, wait && interrupts.outstanding(cpu, *this));
}

} // namespace uringsim::models
