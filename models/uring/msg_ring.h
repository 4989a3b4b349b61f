#pragma once

#include "models/uring/message_policy.h"
#include "sim/cpu.h"

#include <cstdint>
#include <optional>

namespace uringsim::models {

/// What every version of IORING_OP_MSG_RING does before the message travels: the checks, and with
/// SEND_FD the reference on the source file. Nothing: a policy carries on. Else the request's
/// result: -EBADF: the target is closed; -EBADFD: it is no ring, or is disabled; -EINVAL: SEND_FD
/// to the own ring or with a length; -EBADF: the source slot is empty. Later results: -EOVERFLOW:
/// the target's CQE was lost (a file that was sent stays installed); -EOWNERDEAD: the target's task
/// is gone; else as FileTable::fixed_fd_install. Source: io_msg_ring, io_msg_ring_data,
/// io_msg_send_fd, io_uring/msg_ring.c (6.17).
std::optional<std::int32_t> begin_message(sim::Cpu& cpu, MessageIssue& issue);

} // namespace uringsim::models
