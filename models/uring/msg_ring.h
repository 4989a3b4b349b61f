#pragma once

#include "models/uring/request.h"
#include "sim/cpu.h"

#include <cstdint>

namespace uringsim::models {

class Ring;

/// IORING_OP_MSG_RING to a ring without DEFER_TASKRUN: posts the target's CQE, and with SEND_FD
/// first installs the file, directly from the sender. Returns the request's result:
/// -EBADF: the target is closed; -EBADFD: it is no ring, or is disabled; -EINVAL: SEND_FD to the own
/// ring or with a length; -EBADF: the source slot is empty; -EOVERFLOW: the target's CQE was lost (a
/// file that was sent stays installed); else as FileTable::fixed_fd_install.
/// Source: io_msg_ring, io_msg_send_fd, io_msg_install_complete, io_uring/msg_ring.c (6.17).
std::int32_t issue_msg_ring(sim::Cpu& cpu, Ring& source, Request& request);

} // namespace uringsim::models
