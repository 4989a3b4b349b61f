#include "sim/event_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace {

using uringsim::sim::Cycles;
using uringsim::sim::Event;
using uringsim::sim::EventQueue;
using uringsim::sim::never;

class TestEvent : public Event {
  public:
    void fire(Cycles now) override {
        ++fired;
        if (action) {
            action(now);
        }
    }

    int fired = 0;
    std::function<void(Cycles)> action;
};

/// A generator of our own: those of <random> with a distribution differ between libraries.
class Random {
  public:
    explicit Random(std::uint64_t seed)
        : state_(seed) {}
    std::uint64_t below(std::uint64_t bound) {
        state_ = state_ * 6364136223846793005 + 1442695040888963407;
        return (state_ >> 33) % bound;
    }

  private:
    std::uint64_t state_;
};

/// The order law, in the plainest form: a vector, searched for its least element.
class Reference {
  public:
    void schedule(const Event* event, Cycles at, std::uint8_t priority) {
        entries_.push_back({at, priority, sequence_++, event});
    }
    void cancel(const Event* event) {
        std::erase_if(entries_, [&](const Entry& entry) { return std::get<3>(entry) == event; });
    }
    Cycles next_time() const { return entries_.empty() ? never : std::get<0>(*least()); }
    const Event* pop() {
        const auto entry = least();
        const Event* event = std::get<3>(*entry);
        entries_.erase(entry);
        return event;
    }
    std::size_t size() const { return entries_.size(); }

  private:
    using Entry = std::tuple<Cycles, std::uint8_t, std::uint64_t, const Event*>;
    std::vector<Entry>::const_iterator least() const {
        return std::min_element(entries_.begin(), entries_.end());
    }
    std::vector<Entry> entries_;
    std::uint64_t sequence_ = 0;
};

/// Pops everything and returns the indices in `events`.
std::vector<std::size_t> drain(EventQueue& queue, const std::deque<TestEvent>& events) {
    std::vector<std::size_t> order;
    while (!queue.empty()) {
        const Event* event = &queue.pop();
        const auto found = std::find_if(events.begin(), events.end(),
                                        [&](const TestEvent& e) { return &e == event; });
        order.push_back(static_cast<std::size_t>(found - events.begin()));
    }
    return order;
}

using Indices = std::vector<std::size_t>;

} // namespace

TEST_SUITE("event queue") {
    TEST_CASE("an empty queue has no next time") {
        EventQueue queue;
        CHECK(queue.empty());
        CHECK(queue.size() == 0);
        CHECK(queue.next_time() == never);

        TestEvent event;
        queue.schedule(event, 0);
        CHECK(event.pending());
        CHECK(!queue.empty());
        CHECK(queue.next_time() == 0);
        CHECK(&queue.pop() == &event);
        CHECK(!event.pending());
        CHECK(queue.empty());
        CHECK(queue.next_time() == never);
    }

    TEST_CASE("ties are first in, first out, however many") {
        for (const std::size_t count : {2U, 8U, 9U, 17U, 300U}) {
            EventQueue queue;
            std::deque<TestEvent> events(count);
            Indices expected;
            for (std::size_t i = 0; i < count; ++i) {
                queue.schedule(events[i], 7);
                expected.push_back(i);
            }
            CHECK(drain(queue, events) == expected);
        }
    }

    TEST_CASE("priority decides before sequence and after time") {
        EventQueue queue;
        std::deque<TestEvent> events(6);
        queue.schedule(events[0], 5, 255);
        queue.schedule(events[1], 5, 1);
        queue.schedule(events[2], 5, 0);
        queue.schedule(events[3], 4, 255);
        queue.schedule(events[4], 5, 1);
        queue.schedule(events[5], 6, 0);
        CHECK(drain(queue, events) == Indices{3, 2, 1, 4, 0, 5});
    }

    TEST_CASE("scheduling again counts as a new arrival") {
        EventQueue queue;
        std::deque<TestEvent> events(3);
        for (TestEvent& event : events) {
            queue.schedule(event, 5);
        }
        queue.cancel(events[0]);
        queue.schedule(events[0], 5);
        CHECK(drain(queue, events) == Indices{1, 2, 0});
    }

    TEST_CASE("cancel of the first, the last and each between") {
        constexpr std::size_t count = 20; // more than the front row has places
        for (const bool ascending : {true, false}) {
            for (std::size_t gone = 0; gone < count; ++gone) {
                EventQueue queue;
                std::deque<TestEvent> events(count);
                for (std::size_t i = 0; i < count; ++i) {
                    const std::size_t which = ascending ? i : count - 1 - i;
                    queue.schedule(events[which], static_cast<Cycles>(10 * which));
                }
                queue.cancel(events[gone]);
                CHECK(!events[gone].pending());
                CHECK(queue.size() == count - 1);
                CHECK(queue.next_time() == (gone == 0 ? 10 : 0));
                Indices expected;
                for (std::size_t i = 0; i < count; ++i) {
                    if (i != gone) {
                        expected.push_back(i);
                    }
                }
                CHECK(drain(queue, events) == expected);
            }
        }
    }

    TEST_CASE("cancel of the only event leaves nothing") {
        EventQueue queue;
        TestEvent event;
        queue.schedule(event, 3);
        queue.cancel(event);
        CHECK(queue.empty());
        CHECK(queue.next_time() == never);
    }

    TEST_CASE("misuse is an error and changes nothing") {
        EventQueue queue;
        TestEvent event;
        TestEvent other;
        queue.schedule(event, 3);
        CHECK_THROWS_AS(queue.schedule(event, 4), std::logic_error);
        CHECK_THROWS_AS(queue.schedule(other, -1), std::logic_error);
        CHECK_THROWS_AS(queue.schedule(other, never), std::logic_error);
        CHECK_THROWS_AS(queue.cancel(other), std::logic_error);
        CHECK(queue.size() == 1);
        CHECK(queue.next_time() == 3);
        queue.schedule(other, never - 1);
        CHECK(&queue.pop() == &event);
        CHECK(queue.next_time() == never - 1);
        CHECK(&queue.pop() == &other);
    }

    TEST_CASE("an event schedules itself, and cancels others, from within fire") {
        EventQueue queue;
        TestEvent chain;
        TestEvent victim;
        std::vector<Cycles> times;
        chain.action = [&](Cycles now) {
            times.push_back(now);
            if (now < 50) {
                queue.schedule(chain, now + 10);
            } else {
                queue.cancel(victim);
            }
        };
        queue.schedule(victim, 1000);
        queue.schedule(chain, 10);
        while (!queue.empty()) {
            const Cycles now = queue.next_time();
            queue.pop().fire(now);
        }
        CHECK(times == std::vector<Cycles>{10, 20, 30, 40, 50});
        CHECK(victim.fired == 0);
    }

    TEST_CASE("clear and the end of a queue release the events") {
        std::deque<TestEvent> events(100);
        {
            EventQueue queue;
            for (std::size_t i = 0; i < events.size(); ++i) {
                queue.schedule(events[i], static_cast<Cycles>(1000 - i));
            }
            queue.clear();
            CHECK(queue.empty());
            CHECK(queue.next_time() == never);
            CHECK(std::none_of(events.begin(), events.end(),
                               [](const TestEvent& event) { return event.pending(); }));
            queue.schedule(events[1], 5);
            queue.schedule(events[0], 5);
            CHECK(queue.next_time() == 5);
            CHECK(&queue.pop() == &events[1]);
        }
        CHECK(!events[0].pending());
    }

    TEST_CASE("the order law under random schedules, cancels and pops") {
        struct Mix {
            std::uint64_t events, span, priorities; // a span of 1: everything ties
        };
        for (const Mix& mix : {Mix{2, 4, 2}, Mix{9, 100, 1}, Mix{40, 1, 3}, Mix{40, 20, 256},
                               Mix{300, 1'000'000'000, 2}}) {
            CAPTURE(mix.events);
            CAPTURE(mix.span);
            Random random(mix.events * 31 + mix.span);
            EventQueue queue;
            Reference reference;
            std::deque<TestEvent> events(mix.events);
            Cycles now = 0;
            bool same = true;
            for (int step = 0; step < 20'000 && same; ++step) {
                // The odds swing, so that the population rises to everything and falls to nothing.
                const std::uint64_t pops = step / 1000 % 2 == 0 ? 2 : 6;
                if (random.below(10) < pops && !queue.empty()) {
                    now = queue.next_time();
                    same = &queue.pop() == reference.pop();
                } else {
                    TestEvent& event = events[random.below(events.size())];
                    if (event.pending()) {
                        queue.cancel(event);
                        reference.cancel(&event);
                    }
                    if (random.below(4) != 0) {
                        const Cycles at = now + static_cast<Cycles>(random.below(mix.span));
                        const auto priority =
                            static_cast<std::uint8_t>(random.below(mix.priorities));
                        queue.schedule(event, at, priority);
                        reference.schedule(&event, at, priority);
                    }
                }
                same = same && queue.size() == reference.size() &&
                       queue.next_time() == reference.next_time() &&
                       queue.empty() == (reference.size() == 0);
            }
            CHECK(same);
            while (same && !queue.empty()) {
                same = &queue.pop() == reference.pop();
            }
            CHECK(same);
        }
    }

    TEST_CASE("a hundred thousand events, a third of them cancelled") {
        constexpr std::size_t count = 100'000;
        Random random(7);
        EventQueue queue;
        std::deque<TestEvent> events(count);
        std::vector<std::tuple<Cycles, std::size_t, const Event*>> expected;
        for (std::size_t i = 0; i < count; ++i) {
            const auto at = static_cast<Cycles>(random.below(20'000)); // five to a tick
            queue.schedule(events[i], at);
            if (i % 3 != 0) {
                expected.emplace_back(at, i, &events[i]);
            }
        }
        for (std::size_t i = 0; i < count; i += 3) {
            queue.cancel(events[i]);
        }
        REQUIRE(queue.size() == expected.size());
        std::sort(expected.begin(), expected.end());
        std::size_t right = 0;
        for (const auto& [at, index, event] : expected) {
            right += queue.next_time() == at && &queue.pop() == event ? 1U : 0U;
        }
        CHECK(right == expected.size());
        CHECK(queue.empty());

        // The queue is as good as new after the burst.
        queue.schedule(events[1], 2);
        queue.schedule(events[0], 1);
        CHECK(&queue.pop() == &events[0]);
        CHECK(&queue.pop() == &events[1]);
    }
}
