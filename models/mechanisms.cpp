#include "models/mechanisms.h"

#include <array>

namespace uringsim::models {

std::string_view name(Mechanism mechanism) {
    static constexpr std::array<std::string_view, mechanism_count> names{
        "scheduler",    "user",     "system_call",    "request",     "msg_ring",
        "completion",   "overflow", "file_table",     "file_reference", "node",
        "node_cache",   "node_prefill", "slab",       "slab_growth", "memcg",
        "pages",        "ring_setup",   "ring_exit",  "percpu",      "rcu",
        "workqueue",    "buffers",      "request_cache", "request_shrink", "interrupt",
        "wakeup",       "task_work",    "io_wq"};
    return names.at(static_cast<std::size_t>(mechanism));
}

} // namespace uringsim::models
