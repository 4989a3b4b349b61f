// Event calendars compared: the one in sim/event_queue.h and those of the losers that are short.
// docs/event-queue.md says how to run this and what came out.
//
// Every candidate keeps the same order (time, priority, sequence), owns no items, and removes an
// item exactly on cancel, except std::priority_queue, which cannot and skips stale entries instead.

#include "sim/event_queue.h"

#include <benchmark/benchmark.h>
#include <boost/heap/pairing_heap.hpp>
#include <boost/intrusive/set.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <queue>
#include <string>
#include <vector>

namespace {

using uringsim::sim::Cycles;
using uringsim::sim::never;
namespace intrusive = boost::intrusive;

struct Key {
    Cycles time = never;
    std::uint64_t order = ~std::uint64_t{0};
    friend bool operator<(const Key& a, const Key& b) {
        return (a.time < b.time) | ((a.time == b.time) & (a.order < b.order));
    }
};

class Sequence {
  public:
    Key key(Cycles at, std::uint8_t priority) {
        return {at, std::uint64_t{priority} << 56 | next_++};
    }

  private:
    std::uint64_t next_ = 0;
};

class Chosen {
  public:
    struct Item : uringsim::sim::Event {
        void fire(Cycles) override {}
        std::uint32_t id = 0;
    };
    Cycles next_time() const { return queue_.next_time(); }
    void schedule(Item& item, Cycles at, std::uint8_t priority = 0) {
        queue_.schedule(item, at, priority);
    }
    void cancel(Item& item) { queue_.cancel(item); }
    Item& pop() { return static_cast<Item&>(queue_.pop()); }
    void clear() { queue_.clear(); }

  private:
    uringsim::sim::EventQueue queue_;
};

class StdPriorityQueue {
  public:
    struct Item {
        std::uint64_t order = 0; // of the valid entry
        std::uint32_t id = 0;
    };
    Cycles next_time() const { return heap_.empty() ? never : heap_.top().key.time; }
    void schedule(Item& item, Cycles at, std::uint8_t priority = 0) {
        const Key key = sequence_.key(at, priority);
        item.order = key.order;
        heap_.push({key, &item});
    }
    void cancel(Item& item) {
        item.order = ~std::uint64_t{0};
        drop_stale();
    }
    Item& pop() {
        Item& item = *heap_.top().item;
        heap_.pop();
        drop_stale();
        return item;
    }
    void clear() { heap_ = {}; }

  private:
    struct Entry {
        Key key;
        Item* item;
        friend bool operator<(const Entry& a, const Entry& b) { return b.key < a.key; }
    };
    void drop_stale() {
        while (!heap_.empty() && heap_.top().key.order != heap_.top().item->order) {
            heap_.pop();
        }
    }
    std::priority_queue<Entry> heap_;
    Sequence sequence_;
};

class FourAryHeap {
  public:
    struct Item {
        std::size_t place = 0;
        std::uint32_t id = 0;
    };
    Cycles next_time() const { return heap_.empty() ? never : heap_[0].key.time; }
    void schedule(Item& item, Cycles at, std::uint8_t priority = 0) {
        heap_.emplace_back();
        settle(heap_.size() - 1, {sequence_.key(at, priority), &item});
    }
    void cancel(Item& item) {
        const Entry last = heap_.back();
        heap_.pop_back();
        if (last.item != &item) {
            settle(item.place, last);
        }
    }
    Item& pop() {
        Item& item = *heap_[0].item;
        cancel(item);
        return item;
    }
    void clear() { heap_.clear(); }

  private:
    struct Entry {
        Key key;
        Item* item = nullptr;
    };
    void put(std::size_t place, const Entry& entry) {
        heap_[place] = entry;
        entry.item->place = place;
    }
    void settle(std::size_t hole, const Entry& entry) {
        for (; hole > 0 && entry.key < heap_[(hole - 1) / 4].key; hole = (hole - 1) / 4) {
            put(hole, heap_[(hole - 1) / 4]);
        }
        for (std::size_t child; (child = 4 * hole + 1) < heap_.size();) {
            const std::size_t end = std::min(child + 4, heap_.size());
            std::size_t least = child;
            while (++child < end) {
                least = heap_[child].key < heap_[least].key ? child : least;
            }
            if (!(heap_[least].key < entry.key)) {
                break;
            }
            put(hole, heap_[least]);
            hole = least;
        }
        put(hole, entry);
    }
    std::vector<Entry> heap_;
    Sequence sequence_;
};

class PairingHeap {
    struct Entry;

  public:
    struct Item;

  private:
    struct Entry {
        Key key;
        Item* item;
        friend bool operator<(const Entry& a, const Entry& b) { return b.key < a.key; }
    };
    using Heap = boost::heap::pairing_heap<Entry>;

  public:
    struct Item {
        Heap::handle_type handle;
        std::uint32_t id = 0;
    };
    Cycles next_time() const { return heap_.empty() ? never : heap_.top().key.time; }
    void schedule(Item& item, Cycles at, std::uint8_t priority = 0) {
        item.handle = heap_.push({sequence_.key(at, priority), &item});
    }
    void cancel(Item& item) { heap_.erase(item.handle); }
    Item& pop() {
        Item& item = *heap_.top().item;
        heap_.pop();
        return item;
    }
    void clear() { heap_.clear(); }

  private:
    Heap heap_;
    Sequence sequence_;
};

class RedBlackTree {
  public:
    struct Item : intrusive::set_base_hook<intrusive::optimize_size<true>> {
        Key key;
        std::uint32_t id = 0;
        friend bool operator<(const Item& a, const Item& b) { return a.key < b.key; }
    };
    Cycles next_time() const { return tree_.empty() ? never : tree_.begin()->key.time; }
    void schedule(Item& item, Cycles at, std::uint8_t priority = 0) {
        item.key = sequence_.key(at, priority);
        tree_.insert(item);
    }
    void cancel(Item& item) { tree_.erase(tree_.iterator_to(item)); }
    Item& pop() {
        Item& item = *tree_.begin();
        tree_.erase(tree_.begin());
        return item;
    }
    void clear() { tree_.clear(); }

  private:
    intrusive::multiset<Item> tree_;
    Sequence sequence_;
};

// ---------------------------------------------------------------------------------------------

enum Delays { narrow, wide, bimodal, single };

constexpr std::uint32_t running = 4;    // bimodal: items that run stages; the others are timers
constexpr Cycles stage = 108;           // 30 ns at 3.6 GHz
constexpr Cycles timeout = 180'000'000; // 50 ms

/// Delays drawn beforehand, so that drawing them costs a load in the measured loop.
template <Delays kind>
class DelayTable {
  public:
    DelayTable() {
        for (std::size_t i = 0; i < short_.size(); ++i) {
            const double u = uniform();
            short_[i] = kind == wide ? static_cast<Cycles>(std::pow(10.0, 7 * u)) // log-uniform
                                     : static_cast<Cycles>(stage / 2 + u * stage);
            long_[i] = static_cast<Cycles>(timeout * (0.5 + uniform()));
        }
    }
    /// The delay of item `id` in the given step. The caller counts the steps, in a register.
    Cycles delay(std::uint32_t id, std::size_t step) const {
        const bool timer = (kind == bimodal && id >= running) || (kind == single && id > 0);
        return timer ? timeout_delay(step) : short_[step % short_.size()];
    }
    Cycles timeout_delay(std::size_t step) const { return long_[step % long_.size()]; }
    std::uint64_t random() {
        state_ = state_ * 6364136223846793005 + 1442695040888963407;
        return state_ >> 33;
    }

  private:
    double uniform() { return static_cast<double>(random()) * 0x1p-31; }
    std::uint64_t state_ = 42;
    std::array<Cycles, 8192> short_{}, long_{};
};

/// The hold model: pop the earliest, schedule it again. `pending` 1 is the self-chain.
template <class Queue, Delays kind>
void hold(benchmark::State& state) {
    const auto pending = static_cast<std::uint32_t>(state.range(0));
    Queue queue;
    std::deque<typename Queue::Item> items(pending);
    DelayTable<kind> delays;
    for (std::uint32_t i = 0; i < pending; ++i) {
        items[i].id = i;
        queue.schedule(items[i], delays.delay(i, i));
    }
    std::size_t step = pending;
    const auto turn = [&]() __attribute__((always_inline)) { // or it depends on the candidate
        const Cycles now = queue.next_time();
        typename Queue::Item& item = queue.pop();
        benchmark::DoNotOptimize(queue.next_time()); // asked before every stage
        queue.schedule(item, now + delays.delay(item.id, step++));
    };
    for (std::uint32_t i = 0; i < 4 * pending; ++i) {
        turn(); // towards the steady state
    }
    for (auto _ : state) {
        turn();
    }
    queue.clear();
}

/// Stages that each disarm and arm again a 50 ms timeout: what a request with a timeout does.
template <class Queue>
void rearm(benchmark::State& state) {
    const auto pending = static_cast<std::uint32_t>(state.range(0));
    Queue queue;
    std::deque<typename Queue::Item> items(pending);
    DelayTable<bimodal> delays;
    for (std::uint32_t i = 0; i < pending; ++i) {
        items[i].id = i;
        queue.schedule(items[i], delays.delay(i, i));
    }
    std::size_t step = pending;
    for (auto _ : state) {
        const Cycles now = queue.next_time();
        typename Queue::Item& item = queue.pop();
        benchmark::DoNotOptimize(queue.next_time());
        queue.schedule(item, now + delays.delay(item.id, step++));
        const std::uint64_t timer = running + delays.random() % (pending - running);
        queue.cancel(items[timer]);
        queue.schedule(items[timer], now + delays.timeout_delay(step));
    }
    queue.clear();
}

/// Zero delay: each event makes eight more at its own time, before 64 timers. An item is one of the
/// eight; `fifo` says whether they go through a ring buffer instead of the queue.
template <class Queue>
void burst(benchmark::State& state, bool fifo) {
    constexpr std::size_t wave = 8;
    Queue queue;
    std::deque<typename Queue::Item> items(64 + wave);
    std::array<typename Queue::Item*, wave> ring{};
    for (std::uint32_t i = 0; i < 64; ++i) {
        queue.schedule(items[wave + i], timeout + i);
    }
    for (auto _ : state) {
        for (std::size_t i = 0; i < wave; ++i) {
            if (fifo) {
                ring[i] = &items[i];
                benchmark::DoNotOptimize(ring[i]);
            } else {
                queue.schedule(items[i], 1000);
            }
        }
        for (std::size_t i = 0; i < wave; ++i) {
            benchmark::DoNotOptimize(fifo ? ring[i] : &queue.pop());
        }
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(wave));
    queue.clear();
}

template <class Queue>
void add(const char* name) {
    const auto bench = [&](const char* workload, auto function, std::int64_t pending) {
        const std::string full = std::string("event_queue/") + workload + "/" + name;
        benchmark::RegisterBenchmark(full.c_str(), function)->Arg(pending);
    };
    bench(
        "self_chain", [](benchmark::State& s) { hold<Queue, narrow>(s); }, 1);
    for (const std::int64_t pending : {64, 65536}) {
        bench(
            "narrow", [](benchmark::State& s) { hold<Queue, narrow>(s); }, pending);
        bench(
            "wide", [](benchmark::State& s) { hold<Queue, wide>(s); }, pending);
        bench(
            "one_cpu", [](benchmark::State& s) { hold<Queue, single>(s); }, pending);
        bench(
            "four_cpus", [](benchmark::State& s) { hold<Queue, bimodal>(s); }, pending);
        bench(
            "rearm", [](benchmark::State& s) { rearm<Queue>(s); }, pending);
    }
    bench(
        "zero_delay", [](benchmark::State& s) { burst<Queue>(s, false); }, 8);
    bench(
        "zero_delay_fifo", [](benchmark::State& s) { burst<Queue>(s, true); }, 8);
}

const bool registered = [] {
    add<Chosen>("chosen");
    add<StdPriorityQueue>("std_priority_queue");
    add<FourAryHeap>("four_ary_heap");
    add<PairingHeap>("boost_pairing_heap");
    add<RedBlackTree>("boost_intrusive_set");
    return true;
}();

} // namespace
