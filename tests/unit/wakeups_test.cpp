#include "sim/engine.h"
#include "sim/sync.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace uringsim::sim;

namespace {

constexpr PrimitiveId work{0};
constexpr PrimitiveId out{1};
constexpr PrimitiveId exit_idle{2};
constexpr PrimitiveId waiting{3};

EngineConfig two_cpus(bool idle) {
    EngineConfig config;
    config.cpus = 2;
    config.primitives.schedule_out = out;
    config.primitives.idle_exit = exit_idle;
    config.primitives.waiting = waiting;
    config.primitives.context_switch = out;
    config.primitives.lock_wait = waiting;
    if (idle) {
        config.idle.turn_round = {30, 0, 0, 0};
        config.idle.states = {{"poll", 0, 0, 1'000'000, true, {100, 0, 0, 0}},
                              {"C1", 1000, 1000, 1'000'000, false, {700, 0, 0, 0}}};
    }
    return config;
}

CostTable costs() {
    CostTable table(4);
    table.set(work, 10'000); // 10 cycles
    table.set(out, 200'000); // 200
    return table;
}

/// Blocks once, and notes when it runs.
class Sleeper final : public Task {
  public:
    Sleeper(Cpu& cpu, bool by_timer)
        : Task("sleeper", TaskId{1}, cpu)
        , by_timer_(by_timer) {}

    Step step(Cpu& cpu) override {
        ran_at.push_back(cpu.now());
        cpu.charge(work);
        if (ran_at.size() > 1) {
            return Step::done();
        }
        return by_timer_ ? Step::sleep_until(5000) : Step::blocked();
    }

    std::vector<Cycles> ran_at;

  private:
    bool by_timer_;
};

Cycles woken(bool idle, Cycles wake_at, bool by_timer = false) {
    Engine engine(two_cpus(idle), costs(), 1, 1);
    Sleeper sleeper(engine.cpu(0), by_timer);
    engine.wake(sleeper, 0);
    while (engine.queue().next_time() < wake_at) {
        engine.run_one();
        if (engine.queue().empty()) {
            break;
        }
    }
    engine.wake(sleeper, wake_at);
    engine.run();
    CHECK(sleeper.finished());
    return sleeper.ran_at.at(1);
}

} // namespace

TEST_CASE("without idle states a wake-up takes no time") {
    CHECK(woken(false, 600) == 600);
}

TEST_CASE("a wake-up costs what the idle state costs that the CPU has come to") {
    // idle from 310 on: exit of the boot (100), 10 of work, 200 to schedule out
    CHECK(woken(true, 200) == 310 + 30);  // still on the way out: turns round
    CHECK(woken(true, 310) == 310 + 100); // polling
    CHECK(woken(true, 1309) == 1309 + 100);
    CHECK(woken(true, 1310) == 1310 + 700); // C1
}

TEST_CASE("a wake-up from another CPU takes its flight more, once") {
    Engine engine(two_cpus(true), costs(), 1, 1);
    constexpr Cycles flight = 40;
    Sleeper sleeper(engine.cpu(0), false);
    engine.wake(sleeper, 0, flight);
    engine.run();
    CHECK(sleeper.ran_at == std::vector<Cycles>{100 + flight});
    engine.wake(sleeper, 400); // idle from 350 on; a wake-up of its own CPU
    engine.run();
    CHECK(sleeper.ran_at.at(1) == 400 + 100);
}

TEST_CASE("the flight of a wake-up that finds its CPU busy is over with it") {
    Engine engine(two_cpus(true), costs(), 1, 1);
    Sleeper other(engine.cpu(0), false);
    Sleeper sleeper(engine.cpu(0), true); // sleeps until 5000
    engine.wake(other, 0);                // out of idle at 100
    engine.wake(sleeper, 50, 40);
    engine.run();
    REQUIRE(sleeper.ran_at.size() == 2);
    CHECK(sleeper.ran_at[1] == 5000 + 700);
}

TEST_CASE("a sleeper that is woken before its timer runs then, and once") {
    CHECK(woken(true, 600, true) == 700);
    CHECK(woken(true, 5000, true) == 5700);
}

TEST_CASE("a lock: who comes while it is held waits; a trylock fails; nobody goes back in time") {
    Engine engine(two_cpus(false), costs(), 1, 1);
    Lock lock;
    Cpu& first = engine.cpu(0);
    Cpu& second = engine.cpu(1);
    lock.acquire(first); // at 0
    first.charge(work, 5);
    lock.release(first); // at 50
    second.elapse(waiting, 20);
    CHECK_FALSE(lock.try_acquire(second)); // at 20
    lock.acquire(second);
    CHECK(second.now() == 50);
    CHECK(lock.contended() == 1);
    CHECK(lock.waited() == 30);
    lock.release(second);

    Engine other(two_cpus(false), costs(), 1, 1);
    Lock late;
    other.cpu(0).elapse(waiting, 100);
    late.acquire(other.cpu(0));
    late.release(other.cpu(0));
    CHECK(other.disorder() == 0);
    CHECK(late.try_acquire(other.cpu(1))); // at 0, but it runs after: it waits for the other
    CHECK(other.cpu(1).now() == 100);
    CHECK(other.disorder() == 100);
}

namespace {

#ifdef NDEBUG
constexpr std::uint64_t counted = 0; // only debug builds look
#else
constexpr std::uint64_t counted = 1;
#endif

} // namespace

TEST_CASE("a debug build counts an effect that is seen before it is made, and nothing else") {
    Engine engine(two_cpus(false), costs(), 1, 1);
    Cpu& first = engine.cpu(0);
    Cpu& second = engine.cpu(1);
    Line line;
    first.elapse(waiting, 100);
    first.touch(line); // at 100; it takes 10 more
    CHECK(engine.causality_violations() == 0);
    second.elapse(waiting, 99);
    SUBCASE("a write is read a cycle too early") {
        second.read(line);
        CHECK(engine.causality_violations() == counted);
    }
    SUBCASE("a write is overwritten a cycle too early") {
        second.touch(line);
        CHECK(engine.causality_violations() == counted);
    }
    SUBCASE("at the same time it is in order") {
        second.elapse(waiting, 1);
        second.touch(line);
        CHECK(engine.causality_violations() == 0);
    }
    SUBCASE("what was only read may be written earlier") {
        Line other;
        first.read(other);
        second.touch(other);
        CHECK(engine.causality_violations() == 0);
    }
    SUBCASE("who waits for the change may touch the line") {
        ChangeTime time;
        time.change(first);
        time.await(second);
        CHECK(second.now() == 110);
        second.touch(line);
        CHECK(engine.causality_violations() == 0);
    }
}

TEST_CASE("a debug build counts an event that is planned for a time that has passed") {
    Engine engine(two_cpus(false), costs(), 1, 1);
    Sleeper first(engine.cpu(0), false);
    Sleeper second(engine.cpu(1), false);
    engine.wake(first, 600);
    engine.run();
    engine.wake(second, 600);
    CHECK(engine.causality_violations() == 0);
    Sleeper third(engine.cpu(1), false);
    engine.wake(third, 599);
    CHECK(engine.causality_violations() == counted);
    engine.clear();
}
