// kernel/workqueue.c: where a work runs, and that it never runs twice at the same time.

#include "models/sched/workqueue.h"

#include "models/kernel.h"

#include <doctest/doctest.h>

#include <vector>

#include "support.h"

using namespace uringsim;
using models::Work;

namespace {

/// Takes several stages and notes on which CPU each one was; at one of them another CPU queues it.
class Stages final : public Work {
  public:
    explicit Stages(models::Kernel& kernel) : kernel_(kernel) {}

    bool run(sim::Cpu& cpu) override {
        cpus.push_back(cpu.id());
        cpu.charge(id(models::Primitive::put_work_node));
        if (cpus.size() == 2) {
            kernel_.workqueue().queue(1, *this, cpu.now());
        }
        return cpus.size() % stages_a_run != 0;
    }

    static constexpr std::size_t stages_a_run = 3;
    std::vector<std::uint16_t> cpus;

  private:
    models::Kernel& kernel_;
};

} // namespace

TEST_CASE("a work that is queued elsewhere while it runs, runs again where it is running") {
    // __queue_work asks find_worker_executing_work of the pool that had it last.
    models::Kernel kernel(models::Design{}, tests::machine_of(2), 1);
    Stages work(kernel);
    kernel.workqueue().queue(0, work, 0);
    kernel.engine().run();
    CHECK(work.cpus == std::vector<std::uint16_t>(2 * Stages::stages_a_run, 0));
    CHECK_FALSE(work.is_running());
}

TEST_CASE("a work that has ended runs on the CPU that queues it") {
    models::Kernel kernel(models::Design{}, tests::machine_of(2), 1);
    Stages work(kernel);
    work.cpus = {0, 0, 0}; // so that it does not queue itself
    kernel.workqueue().queue(0, work, 0);
    kernel.engine().run();
    kernel.workqueue().queue(1, work, kernel.engine().cpu(0).now());
    kernel.engine().run();
    CHECK(work.cpus == std::vector<std::uint16_t>{0, 0, 0, 0, 0, 0, 1, 1, 1});
}
