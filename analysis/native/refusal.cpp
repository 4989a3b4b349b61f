#include "analysis/native/program.h"

#include <fmt/format.h>

namespace uringsim::analysis::native {

namespace op = scenarios::op;

namespace {

std::optional<std::string> why(const op::FailAlloc& /*op*/) {
    return "makes an allocation in the kernel fail, which needs a fault injected";
}

std::optional<std::string> why(const op::UpdateFiles& op) {
    if (op.via == op::Via::request && op.tag != 0) {
        return "gives a tag to an update by request, which has no field for one";
    }
    return std::nullopt;
}

template <class Op>
std::optional<std::string> why(const Op& /*op*/) {
    return std::nullopt;
}

} // namespace

std::optional<std::string> why_refused(const scenarios::Scenario& scenario) {
    for (const scenarios::TaskSpec& task : scenario.tasks) {
        for (const scenarios::Instruction& instruction : task.program) {
            const auto reason = std::visit([](const auto& op) { return why(op); }, instruction.op);
            if (reason) {
                return fmt::format("{}: the scenario {}; only the simulator can", instruction.where,
                                   *reason);
            }
        }
    }
    return std::nullopt;
}

} // namespace uringsim::analysis::native
