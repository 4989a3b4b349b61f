#include "analysis/native/program.h"

#include <fmt/format.h>

#include <type_traits>
#include <variant>

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
    if (op.alloc()) {
        return "lets FILES_UPDATE pick the slots, which the native backend does not follow";
    }
    return std::nullopt;
}

template <class Op, class... Known>
constexpr bool is_one_of(const std::variant<Known...>* /*types*/) {
    return (std::is_same_v<Op, Known> || ...);
}

/// What ProgramThread runs as it stands. An operation that the simulator learns is refused until
/// the native side has learnt it too.
using KnownHere =
    std::variant<op::CreateRing, op::EnableRing, op::CloseRing, op::RegisterFiles,
                 op::RegisterFilesSparse, op::RegisterFileAllocRange, op::UnregisterFiles,
                 op::RemoveFiles, op::Nop, op::SendFd, op::SendData, op::Submit, op::Reap, op::Poll,
                 op::EndPoll, op::Sleep, op::SetRlimitNofile, op::Assert, op::Snapshot,
                 op::RepeatBegin, op::RepeatEnd, op::PhaseBegin, op::PhaseEnd>;

template <class Op>
std::optional<std::string> why(const Op& /*op*/) {
    if (!is_one_of<Op>(static_cast<const KnownHere*>(nullptr))) {
        return "uses an operation that the native backend does not run";
    }
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
