#pragma once

#include "models/sched/task_work.h"
#include "models/uring/request.h"

#include <vector>

namespace uringsim::models {

/// A task that uses io_uring: struct io_uring_task beside its task_struct.
struct UringTask {
    explicit UringTask(sim::Task& the_task)
        : task(the_task) {}

    TaskStruct task;
    std::vector<Request*> task_list; ///< requests of rings without DEFER_TASKRUN that complete here
    TaskWork work;                   ///< the one item of task_work that runs them all
};

} // namespace uringsim::models
