#include "models/uring/request/on_stack.h"

#include "models/counters.h"
#include "models/primitives.h"

namespace uringsim::models {

Request* OnStackRequests::alloc(sim::Cpu& cpu, const RequestUse& use) {
    if (!use.on_stack) {
        return SlubBulkRequests::alloc(cpu, use);
    }
    cpu.charge(id(Primitive::request_stack_flag));
    cpu.touch(stack_.lines);
    cpu.count(id(Counter::request_on_stack));
    stack_.use = use;
    stack_in_use_ = true;
    return &stack_;
}

Request* OnStackRequests::leave_submitter(sim::Cpu& cpu, Request& request) {
    if (&request != &stack_) {
        return &request;
    }
    Request* copy = SlubBulkRequests::alloc(cpu, stack_.use);
    if (copy == nullptr) {
        return nullptr;
    }
    cpu.charge(id(Primitive::request_copy));
    cpu.count(id(Counter::request_copied));
    copy->ring = stack_.ring;
    copy->sqe = stack_.sqe;
    copy->res = stack_.res;
    copy->node = stack_.node;
    stack_in_use_ = false;
    return copy;
}

void OnStackRequests::free(sim::Cpu& cpu, Request& request, bool at_once) {
    if (&request != &stack_) {
        SlubBulkRequests::free(cpu, request, at_once);
        return;
    }
    stack_in_use_ = false;
}

} // namespace uringsim::models
