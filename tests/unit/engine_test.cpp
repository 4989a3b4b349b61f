// The engine: order, causality between CPUs, locks, wait queues, sleep, and the account of it all.

#include "sim/engine.h"
#include "sim/random.h"
#include "sim/sync.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace uringsim::sim;

namespace {

constexpr PrimitiveId work{0};
constexpr PrimitiveId switching{1};
constexpr PrimitiveId waiting{2};
constexpr PrimitiveId lock_wait{3};
constexpr PrimitiveId third{4}; ///< a third of a cycle
constexpr std::size_t primitives = 5;
constexpr Cycles switch_cost = 50;

EngineConfig config_of(std::uint16_t cpus) {
    EngineConfig config;
    config.cpus = cpus;
    config.primitives.context_switch = switching;
    config.primitives.waiting = waiting;
    config.primitives.lock_wait = lock_wait;
    return config;
}

CostTable costs() {
    CostTable table(primitives);
    table.set(work, millicycles_per_cycle);
    table.set(switching, switch_cost * millicycles_per_cycle);
    table.set(third, 333);
    return table;
}

struct World {
    explicit World(std::uint16_t cpus)
        : engine(config_of(cpus), costs(), 1, 1) {}
    LedgerCell cell(TaskId task, PrimitiveId primitive) {
        return engine.ledger()
            .account(PhaseId::outside, task)
            .cells(MechanismId{0})[index_of(primitive)];
    }
    Engine engine;
};

/// A task whose stages are given as functions.
class Script final : public Task {
  public:
    using Stage = std::function<Step(Cpu&, Script&)>;

    Script(Engine& engine, std::string name, std::uint16_t id, std::uint16_t cpu,
           std::vector<Stage> stages)
        : Task(std::move(name), TaskId{id}, engine.cpu(cpu))
        , stages_(std::move(stages)) {}

    Step step(Cpu& cpu) override {
        if (next_ == stages_.size()) {
            return Step::done();
        }
        return stages_[next_++](cpu, *this);
    }

  private:
    std::vector<Stage> stages_;
    std::size_t next_ = 0;
};

Script::Stage working(std::uint32_t cycles) {
    return [cycles](Cpu& cpu, Script&) {
        cpu.charge(work, cycles);
        return Step::ready();
    };
}

} // namespace

TEST_CASE("tasks woken at the same time run in the order in which they were woken") {
    World world(1);
    std::string order;
    std::vector<std::unique_ptr<Script>> tasks;
    for (const char name : {'c', 'a', 'd', 'b'}) {
        tasks.push_back(std::make_unique<Script>(
            world.engine, std::string(1, name), static_cast<std::uint16_t>(tasks.size() + 1), 0,
            std::vector<Script::Stage>{[&order, name](Cpu&, Script&) {
                order += name;
                return Step::ready();
            }}));
    }
    for (const auto& task : tasks) {
        world.engine.wake(*task, 100);
    }
    world.engine.run();
    CHECK(order == "cadb");
}

TEST_CASE("a task is not preempted by another on its CPU, which queues up behind it") {
    World world(1);
    std::string order;
    const auto note = [&order](char name) {
        return [&order, name](Cpu& cpu, Script&) {
            order += name;
            cpu.charge(work, 10);
            return Step::ready();
        };
    };
    Script a(world.engine, "a", 1, 0, {note('a'), note('a'), note('a')});
    Script b(world.engine, "b", 2, 0, {note('b'), note('b')});
    world.engine.wake(a, 0);
    world.engine.wake(b, 5);
    world.engine.run();
    CHECK(order == "aaabb");
    CHECK(world.engine.cpu(0).now() == 30 + switch_cost + 20);
    CHECK(world.cell(TaskId{2}, waiting).cycles == 30); // it never ran before: since time 0
}

TEST_CASE("going on with the same task is no context switch") {
    World world(1);
    Script a(world.engine, "a", 1, 0,
             {working(10), [](Cpu& cpu, Script&) { return Step::sleep_until(cpu.now() + 100); },
              working(10)});
    world.engine.wake(a, 0);
    world.engine.run();
    CHECK(world.cell(TaskId{1}, switching).count == 0);
    CHECK(world.engine.cpu(0).now() == 120);
}

TEST_CASE("a sleeper wakes at its time, and its account says how long it waited") {
    World world(2);
    Cycles woken = 0;
    Script a(world.engine, "a", 1, 0,
             {working(10), [](Cpu&, Script&) { return Step::sleep_until(5000); },
              [&woken](Cpu& cpu, Script&) {
                  woken = cpu.now();
                  cpu.charge(work, 7);
                  return Step::ready();
              }});
    world.engine.wake(a, 3);
    world.engine.run();
    CHECK(woken == 5000);
    CHECK(world.cell(TaskId{1}, waiting).cycles == 3 + 4987);
    CHECK(world.cell(TaskId{1}, work).cycles == 17);
    CHECK(world.engine.cpu(0).now() == 5007);
}

TEST_CASE("several CPUs interleave: no stage starts before one that started earlier in time") {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        World world(4);
        RandomStream random(seed, "stages");
        std::vector<std::pair<Cycles, std::uint16_t>> starts;
        std::vector<std::unique_ptr<Script>> tasks;
        for (std::uint16_t i = 0; i < 8; ++i) {
            std::vector<Script::Stage> stages;
            for (int s = 0; s < 50; ++s) {
                const auto length = static_cast<std::uint32_t>(1 + random.below(20));
                const bool sleeps = random.below(10) == 0;
                stages.emplace_back([&starts, length, sleeps](Cpu& cpu, Script&) {
                    starts.emplace_back(cpu.now(), cpu.id());
                    cpu.charge(work, length);
                    return sleeps ? Step::sleep_until(cpu.now() + 30) : Step::ready();
                });
            }
            tasks.push_back(std::make_unique<Script>(world.engine, "t",
                                                     static_cast<std::uint16_t>(i + 1),
                                                     static_cast<std::uint16_t>(i % 4), stages));
            world.engine.wake(*tasks.back(), static_cast<Cycles>(random.below(40)));
        }
        world.engine.run();
        CHECK(starts.size() == 8 * 50);
        CHECK(std::ranges::is_sorted(starts, {}, &std::pair<Cycles, std::uint16_t>::first));
        for (const auto& task : tasks) {
            CHECK(task->finished());
        }
    }
}

TEST_CASE("a lock shows nobody a time before the last release, and counts who waited") {
    World world(4);
    RandomStream random(9, "lock");
    Lock lock;
    struct Held {
        Cycles from;
        Cycles to;
    };
    std::vector<Held> held;
    std::vector<std::unique_ptr<Script>> tasks;
    for (std::uint16_t i = 0; i < 4; ++i) {
        std::vector<Script::Stage> stages;
        for (int s = 0; s < 100; ++s) {
            const auto before = static_cast<std::uint32_t>(random.below(30));
            const auto inside = static_cast<std::uint32_t>(1 + random.below(30));
            stages.emplace_back([&, before, inside](Cpu& cpu, Script&) {
                cpu.charge(work, before);
                const LockGuard guard(lock, cpu);
                const Cycles from = cpu.now();
                cpu.charge(work, inside);
                held.push_back({from, cpu.now()});
                return Step::ready();
            });
        }
        tasks.push_back(std::make_unique<Script>(world.engine, "t",
                                                 static_cast<std::uint16_t>(i + 1), i, stages));
        world.engine.wake(*tasks.back(), 0);
    }
    world.engine.run();
    REQUIRE(held.size() == 400);
    for (std::size_t i = 1; i < held.size(); ++i) {
        CHECK(held[i].from >= held[i - 1].to);
    }
    CHECK(lock.contended() > 0);
    Cycles spun = 0;
    for (std::uint16_t i = 1; i <= 4; ++i) {
        spun += world.cell(TaskId{i}, lock_wait).cycles;
    }
    CHECK(spun == lock.waited());
}

TEST_CASE("an uncontended lock costs nothing") {
    World world(1);
    Lock lock;
    Script a(world.engine, "a", 1, 0, {[&lock](Cpu& cpu, Script&) {
                 for (int i = 0; i < 3; ++i) {
                     const LockGuard guard(lock, cpu);
                     cpu.charge(work);
                 }
                 return Step::ready();
             }});
    world.engine.wake(a, 0);
    world.engine.run();
    CHECK(lock.contended() == 0);
    CHECK(world.engine.cpu(0).now() == 3);
}

TEST_CASE("a wait queue wakes all in the order in which they came, at the waker's time") {
    World world(3);
    WaitQueue queue;
    std::string order;
    std::vector<Cycles> times;
    const auto waiter = [&](char name, std::uint16_t id, std::uint16_t cpu, std::uint32_t delay) {
        return std::make_unique<Script>(
            world.engine, std::string(1, name), id, cpu,
            std::vector<Script::Stage>{working(delay),
                                       [&queue](Cpu&, Script& self) {
                                           queue.add(self);
                                           return Step::blocked();
                                       },
                                       [&order, &times, name](Cpu& cpu_now, Script&) {
                                           order += name;
                                           times.push_back(cpu_now.now());
                                           return Step::ready();
                                       }});
    };
    const auto late = waiter('l', 1, 0, 30);
    const auto early = waiter('e', 2, 1, 10);
    Script waker(world.engine, "w", 3, 2, {working(100), [&queue](Cpu& cpu, Script&) {
                                               queue.wake_all(cpu);
                                               return Step::ready();
                                           }});
    world.engine.wake(*late, 0);
    world.engine.wake(*early, 0);
    world.engine.wake(waker, 0);
    world.engine.run();
    CHECK(order == "el");
    CHECK(times == std::vector<Cycles>{100, 100});
    CHECK(queue.empty());
}

TEST_CASE("who is never woken stays unfinished, and may go while it waits") {
    World world(1);
    WaitQueue queue;
    {
        Script a(world.engine, "a", 1, 0, {[&queue](Cpu&, Script& self) {
                     queue.add(self);
                     return Step::blocked();
                 }});
        world.engine.wake(a, 0);
        world.engine.run();
        CHECK_FALSE(a.finished());
        CHECK(a.waiting());
        CHECK_FALSE(queue.empty());
    }
    CHECK(queue.empty());
}

TEST_CASE("waking a task twice wakes it once") {
    World world(1);
    int runs = 0;
    Script a(world.engine, "a", 1, 0, {[&runs](Cpu&, Script&) {
                 ++runs;
                 return Step::blocked();
             }});
    world.engine.wake(a, 10);
    world.engine.wake(a, 5);
    world.engine.run();
    CHECK(runs == 1);
    CHECK(world.engine.cpu(0).now() == 5); // the earlier wake-up counts
}

TEST_CASE("fractions of a cycle are carried: n charges are worth n x cost, to the cycle") {
    World world(1);
    Cpu& cpu = world.engine.cpu(0);
    for (int i = 0; i < 1000; ++i) {
        cpu.charge(third);
    }
    CHECK(cpu.now() == 333);
    cpu.charge(third, 2000);
    CHECK(cpu.now() == 999);
    cpu.charge(third, 4);
    CHECK(cpu.now() == 1000); // 3004 x 0.333 = 1000.332
}

namespace {

/// The fingerprint of one task whose stages charge what is listed for each.
std::uint64_t fingerprint_of(const std::vector<std::vector<PrimitiveId>>& stages,
                             PhaseId phase = PhaseId::outside) {
    World world(1);
    std::vector<Script::Stage> scripts;
    for (const auto& charges : stages) {
        scripts.emplace_back([&charges, phase](Cpu& cpu, Script&) {
            cpu.set_phase(phase);
            for (const PrimitiveId primitive : charges) {
                cpu.charge(primitive);
            }
            return Step::ready();
        });
    }
    Script task(world.engine, "task", 1, 0, scripts);
    world.engine.wake(task, 0);
    world.engine.run();
    return world.engine.fingerprint().value();
}

} // namespace

TEST_CASE("the fingerprint tells order, stage and kind of charges apart, and is blind to phases") {
    const std::uint64_t reference = fingerprint_of({{work, switching}, {work, third}});
    CHECK(fingerprint_of({{work, switching}, {work, third}}) == reference);
    CHECK(fingerprint_of({{work, switching}, {work, third}}, PhaseId{1}) == reference);
    CHECK(fingerprint_of({{switching, work}, {work, third}}) != reference); // order in a stage
    CHECK(fingerprint_of({{work, third}, {work, switching}}) != reference); // order of stages
    CHECK(fingerprint_of({{work}, {switching, work, third}}) != reference); // another stage
    CHECK(fingerprint_of({{work, switching}, {work, work}}) != reference);  // other charges
    // Both waits come to no cycles: only the ledger tells them apart.
    CHECK(fingerprint_of({{waiting}}) != fingerprint_of({{lock_wait}}));
}

TEST_CASE("observing changes nothing: counters leave the fingerprint alone, charges do not") {
    World a(1);
    World b(1);
    World c(1);
    for (int i = 0; i < 10; ++i) {
        a.engine.cpu(0).charge(work);
        b.engine.cpu(0).charge(work);
        b.engine.cpu(0).count(CounterId{0});
        c.engine.cpu(0).charge(i == 9 ? third : work);
    }
    CHECK(a.engine.fingerprint().value() == b.engine.fingerprint().value());
    CHECK(a.engine.fingerprint().value() != c.engine.fingerprint().value());
    CHECK(b.engine.cpu(0).counted(CounterId{0}) == 10);
}
