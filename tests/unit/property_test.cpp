// Random programs of the resource subsystem against a naive model of it: file table, node cache and
// CQ as plain containers, written from docs/kernel-facts.md A3 - A7. Every result, every CQE and
// every count must agree, and nothing may be left at the end.

#include "models/uring/ring.h"
#include "models/uring/syscalls.h"
#include "sim/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "support.h"

using namespace uringsim;
using models::FileUpdate;

namespace {

/// Allocations that will fail: after some objects, a number of times.
struct Failure {
    std::uint64_t after = 0;
    std::uint64_t times = 0;
    bool passes(std::uint64_t objects) {
        if (times == 0) {
            return true;
        }
        if (after >= objects) {
            after -= objects;
            return true;
        }
        --times;
        return false;
    }
};

struct NaiveCqe {
    std::uint64_t user_data;
    std::int32_t res;
    bool operator==(const NaiveCqe&) const = default;
};

/// What all naive rings share.
struct NaiveWorld {
    models::Design design;
    Failure nodes;
    Failure overflow_entries;
    std::vector<std::int64_t> references; ///< by file
};

class NaiveRing {
  public:
    struct Slot {
        std::size_t file;
        std::uint64_t tag;
    };

    NaiveRing(NaiveWorld& world, std::size_t cq_size)
        : world_(world)
        , cq_size_(cq_size)
        , capacity(at(world.design.node_cache_limit)) {}

    int register_sparse(std::size_t slots, std::uint64_t limit) {
        if (slots == 0) {
            return -EINVAL;
        }
        if (const int error = open_table(slots, limit); error < 0) {
            return error;
        }
        if (world_.design.node_cache_prefill == models::Prefill::always) {
            prefill(std::min(slots, at(world_.design.node_cache_prefill_cap)));
        }
        return 0;
    }

    /// `files`: nothing stands for a ring's own file.
    int register_dense(const std::vector<std::optional<std::size_t>>& files, std::uint64_t limit) {
        if (const int error = open_table(files.size(), limit); error < 0) {
            return error;
        }
        for (std::size_t i = 0; i < files.size(); ++i) {
            const int error = !files[i] ? -EBADF : per_ring() || get_node() ? 0 : -ENOMEM;
            if (error < 0) {
                unregister();
                return error;
            }
            store(i, *files[i], 0);
        }
        start = hint = 0;
        end = table.size();
        return 0;
    }

    int unregister() {
        if (table.empty()) {
            return -ENXIO;
        }
        for (std::size_t i = table.size(); i-- > 0;) {
            if (!table[i]) {
                continue;
            }
            const Slot slot = *table[i];
            --world_.references[slot.file];
            if (!per_ring()) {
                tell(slot.tag);
                put_node();
            }
        }
        if (per_ring()) {
            put_node();
        }
        table.clear();
        return 0;
    }

    int set_range(std::uint64_t offset, std::uint64_t length) {
        if (offset + length > 0xffffffffULL) {
            return -EOVERFLOW;
        }
        if (offset + length > table.size()) {
            return -EINVAL;
        }
        start = hint = offset;
        end = offset + length;
        return 0;
    }

    int update(std::uint64_t offset, const std::vector<FileUpdate>& entries,
               const std::vector<std::size_t>& files) {
        if (offset + entries.size() > 0xffffffffULL) {
            return -EOVERFLOW;
        }
        if (table.empty()) {
            return -ENXIO;
        }
        if (offset + entries.size() > table.size()) {
            return -EINVAL;
        }
        int done = 0;
        for (; done < static_cast<int>(entries.size()); ++done) {
            const auto i = static_cast<std::size_t>(done);
            if (const int error = update_one(offset + i, entries[i], files[i]); error < 0) {
                return done > 0 ? done : error;
            }
        }
        return done;
    }

    int remove(std::size_t slot) {
        if (table.empty()) {
            return -ENXIO;
        }
        if (slot >= table.size()) {
            return -EINVAL;
        }
        if (!table[slot]) {
            return -EBADF;
        }
        if (const int error = release(slot); error < 0) {
            return error;
        }
        hint = slot;
        return 0;
    }

    /// `index`: a slot, or nothing for ALLOC; -1 for file_index 0.
    int install(std::optional<std::int64_t> index, std::size_t file) {
        std::int64_t slot = index.value_or(0);
        if (!index) {
            slot = find_free();
            if (slot < 0) {
                return -ENFILE;
            }
        }
        if (table.empty()) {
            return -ENXIO;
        }
        if (slot < 0 || slot >= static_cast<std::int64_t>(table.size())) {
            return -EINVAL;
        }
        if (!per_ring() && !get_node()) {
            return -ENOMEM;
        }
        const auto at_slot = static_cast<std::size_t>(slot);
        const std::size_t hint_before = hint;
        const bool replaces = table[at_slot].has_value();
        if (replaces) {
            if (const int error = release(at_slot); error < 0) {
                return error;
            }
        }
        store(at_slot, file, 0);
        if (replaces) {
            hint = hint_before;
        }
        return index ? 0 : static_cast<int>(slot);
    }

    bool post(std::uint64_t user_data, std::int32_t res) {
        if (overflow.empty() && cq.size() < cq_size_) {
            cq.push_back({user_data, res});
        } else if (world_.overflow_entries.passes(1)) {
            overflow.push_back({user_data, res});
        } else {
            ++dropped;
            return false;
        }
        return true;
    }

    void flush() {
        while (!overflow.empty() && cq.size() < cq_size_) {
            cq.push_back(overflow.front());
            overflow.pop_front();
        }
    }

    std::size_t installed() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(table, [](const auto& slot) { return slot.has_value(); }));
    }

  private:
    static std::size_t at(std::int64_t value) { return static_cast<std::size_t>(value); }
    bool per_ring() const { return world_.design.node_lifetime == models::NodeLifetime::per_ring; }

    NaiveWorld& world_;
    std::size_t cq_size_;

  public:
    std::vector<std::optional<Slot>> table;
    std::deque<NaiveCqe> cq;
    std::deque<NaiveCqe> overflow;
    std::size_t dropped = 0;
    std::size_t cached = 0;
    std::size_t capacity;

  private:
    int open_table(std::size_t slots, std::uint64_t limit) {
        if (!table.empty()) {
            return -EBUSY;
        }
        if (slots == 0) {
            return -EINVAL;
        }
        if (slots > (1U << 20U) || slots > limit) {
            return -EMFILE;
        }
        if (per_ring() && !get_node()) {
            return -ENOMEM;
        }
        table.resize(slots);
        start = hint = 0;
        end = slots;
        return 0;
    }

    void prefill(std::size_t wanted) {
        capacity = std::max(capacity, wanted);
        const std::size_t missing = wanted > cached ? wanted - cached : 0;
        if (world_.design.node_slab_kind == models::NodeSlab::dedicated) {
            cached += world_.nodes.passes(missing) ? missing : 0;
            return;
        }
        for (std::size_t i = 0; i < missing && world_.nodes.passes(1); ++i) {
            ++cached;
        }
    }

    bool get_node() {
        if (cached > 0) {
            --cached;
            return true;
        }
        const std::size_t batch = at(world_.design.node_cache_refill_batch);
        if (batch > 1 && world_.nodes.passes(std::min(batch, capacity))) {
            cached += std::min(batch, capacity) - 1;
            return true;
        }
        return world_.nodes.passes(1);
    }
    void put_node() { cached += cached < capacity ? 1 : 0; }

    void store(std::size_t slot, std::size_t file, std::uint64_t tag) {
        table[slot] = Slot{file, tag};
        ++world_.references[file];
        hint = slot + 1;
    }

    void tell(std::uint64_t tag) {
        if (tag != 0) {
            post(tag, 0);
        }
    }

    int release(std::size_t slot) {
        if (per_ring() && !get_node()) {
            return -ENOMEM;
        }
        const Slot old = *table[slot];
        table[slot].reset();
        tell(old.tag);
        --world_.references[old.file];
        put_node();
        return 0;
    }

    int update_one(std::size_t slot, const FileUpdate& entry, std::size_t file) {
        const bool empty =
            entry.kind == FileUpdate::Kind::skip || entry.kind == FileUpdate::Kind::remove;
        if (empty && entry.tag != 0) {
            return -EINVAL;
        }
        if (entry.kind == FileUpdate::Kind::skip) {
            return 0;
        }
        if (table[slot]) {
            if (const int error = release(slot); error < 0) {
                return error;
            }
            hint = slot;
        }
        if (entry.kind == FileUpdate::Kind::bad_fd) {
            return -EBADF;
        }
        if (entry.kind == FileUpdate::Kind::install) {
            if (!per_ring() && !get_node()) {
                return -ENOMEM;
            }
            store(slot, file, entry.tag);
        }
        return 0;
    }

    std::int64_t find_free() {
        if (table.empty()) {
            return -1;
        }
        std::size_t to = end;
        for (;;) {
            for (std::size_t slot = hint; slot < to; ++slot) {
                if (!table[slot]) {
                    return static_cast<std::int64_t>(slot);
                }
            }
            if (hint == start) {
                return -1;
            }
            to = hint;
            hint = start;
        }
    }

    std::size_t start = 0;
    std::size_t end = 0;
    std::size_t hint = 0;
};

/// A kernel and its naive twin, driven by the same random choices.
class Twins {
  public:
    Twins(const std::string& design, std::uint64_t seed)
        : random_(seed, "program")
        , kernel_(tests::load_design(design), tests::machine_of(4), seed) {
        world_.design = kernel_.design();
        world_.references.assign(files_count, 1);
        for (std::size_t i = 0; i < files_count; ++i) {
            files_.push_back(&kernel_.open_file());
        }
        kernel_.boot();
        kernel_.rlimit_nofile = rlimit;
    }

    void step() {
        if (rings_.empty() || (rings_.size() < max_rings && chance(30))) {
            open();
        }
        const std::size_t ring = pick(rings_.size());
        switch (pick(12)) {
        case 0:
            return register_sparse(ring);
        case 1:
            return register_dense(ring);
        case 2:
            return chance(4) ? unregister(ring) : send(ring);
        case 3:
            return chance(8) ? close(ring) : send(ring);
        case 4:
            return set_range(ring);
        case 5:
        case 6:
            return update(ring);
        case 7:
            return remove(ring);
        case 8:
            return chance(5) ? inject() : send(ring);
        case 9:
            return reap(ring);
        default:
            return send(ring);
        }
    }

    void compare() {
        for (std::size_t i = 0; i < rings_.size(); ++i) {
            models::Ring& real = *rings_[i].real;
            const NaiveRing& naive = *rings_[i].naive;
            REQUIRE(real.files().size() == naive.table.size());
            REQUIRE(real.files().installed() == naive.installed());
            REQUIRE(real.node_cache().cached() == naive.cached);
            REQUIRE(real.node_cache().capacity() == naive.capacity);
            REQUIRE(real.cq().ready() == naive.cq.size());
            REQUIRE(real.cq().overflowed() == naive.overflow.size());
            REQUIRE(real.cq().dropped() == naive.dropped);
            REQUIRE(real.in_flight() == 0);
        }
        for (std::size_t i = 0; i < files_.size(); ++i) {
            REQUIRE(files_[i]->references == world_.references[i]);
        }
        REQUIRE(kernel_.audit() == std::vector<std::string>{});
    }

    void compare_slots() {
        for (const Pair& pair : rings_) {
            for (std::uint32_t slot = 0; slot < pair.real->files().size(); ++slot) {
                REQUIRE(pair.real->files().occupied(slot) == pair.naive->table[slot].has_value());
            }
        }
    }

    void finish() {
        while (!rings_.empty()) {
            close(0);
        }
        compare();
        CHECK(kernel_.rings_alive() == 0);
        const auto& counts = kernel_.engine();
        const auto total = [&](models::Counter counter) {
            return counts.ledger().total(id(counter));
        };
        using C = models::Counter;
        CHECK(total(C::files_installed) == total(C::files_removed));
        CHECK(total(C::node_alloc) == total(C::node_cache_hit) + total(C::node_cache_miss));
        CHECK(total(C::rings_created) == total(C::rings_exited));
        CHECK(results_ > 0);
        CHECK(errors_ > 0);
    }

  private:
    struct Pair {
        models::Ring* real;
        std::unique_ptr<NaiveRing> naive;
    };

    static constexpr std::size_t files_count = 4;
    static constexpr std::size_t max_rings = 4;
    static constexpr std::uint64_t rlimit = 400;

    std::size_t pick(std::size_t bound) { return static_cast<std::size_t>(random_.below(bound)); }
    bool chance(std::uint64_t one_in) { return random_.below(one_in) == 0; }
    sim::Cpu& cpu() { return kernel_.engine().cpu(0); }
    std::uint32_t any_slot() { return static_cast<std::uint32_t>(pick(chance(3) ? 450 : 40)); }

    void same(int real, int naive) {
        REQUIRE(real == naive);
        ++results_;
        errors_ += real < 0 ? 1 : 0;
    }

    void open() {
        const auto entries = static_cast<std::uint32_t>(1 + pick(4));
        models::Ring& real = kernel_.create_ring(cpu(), "ring", {.sq_entries = entries});
        rings_.push_back({&real, std::make_unique<NaiveRing>(world_, real.cq().entries())});
    }

    void close(std::size_t ring) {
        kernel_.close_ring(cpu(), *rings_[ring].real);
        kernel_.engine().run();
        rings_[ring].naive->unregister(); // its CQEs go down with the ring
        rings_.erase(rings_.begin() + static_cast<std::ptrdiff_t>(ring));
    }

    void register_sparse(std::size_t ring) {
        const std::uint32_t slots = chance(6) ? 0 : any_slot();
        same(models::register_files_sparse(cpu(), kernel_, *rings_[ring].real, slots, false),
             rings_[ring].naive->register_sparse(slots, rlimit));
    }

    void register_dense(std::size_t ring) {
        std::vector<models::File*> real;
        std::vector<std::optional<std::size_t>> naive;
        for (std::size_t i = pick(20); i > 0; --i) {
            naive.push_back(pick(files_count));
            real.push_back(files_[*naive.back()]);
            if (chance(40)) {
                naive.back().reset();
                real.back() = &rings_[ring].real->file();
            }
        }
        same(models::register_files(cpu(), kernel_, *rings_[ring].real, real),
             rings_[ring].naive->register_dense(naive, rlimit));
    }

    void unregister(std::size_t ring) {
        same(models::unregister_files(cpu(), kernel_, *rings_[ring].real),
             rings_[ring].naive->unregister());
    }

    void set_range(std::size_t ring) {
        const std::uint32_t offset = chance(4) ? 0 : any_slot();
        const std::uint32_t length = chance(20) ? 0xffffffff : any_slot();
        same(models::register_file_alloc_range(cpu(), kernel_, *rings_[ring].real, offset, length),
             rings_[ring].naive->set_range(offset, length));
    }

    void update(std::size_t ring) {
        const std::uint32_t offset = chance(30) ? 0xffffffff : any_slot();
        std::vector<FileUpdate> entries(1 + pick(10));
        std::vector<std::size_t> files(entries.size());
        for (std::size_t i = 0; i < entries.size(); ++i) {
            constexpr FileUpdate::Kind kinds[]{FileUpdate::Kind::install, FileUpdate::Kind::install,
                                               FileUpdate::Kind::remove, FileUpdate::Kind::remove,
                                               FileUpdate::Kind::skip};
            files[i] = pick(files_count);
            entries[i].kind = chance(25) ? FileUpdate::Kind::bad_fd : kinds[pick(5)];
            entries[i].file = files_[files[i]];
            const bool install = entries[i].kind == FileUpdate::Kind::install;
            entries[i].tag = chance(install ? 3 : 30) ? ++next_tag_ : 0;
        }
        same(models::register_files_update(cpu(), kernel_, *rings_[ring].real, offset, entries),
             rings_[ring].naive->update(offset, entries, files));
    }

    void remove(std::size_t ring) {
        const std::uint32_t slot = any_slot();
        same(rings_[ring].real->files().remove(cpu(), slot), rings_[ring].naive->remove(slot));
    }

    /// SEND_FD from a slot of `source` to any ring, itself included.
    void send(std::size_t source) {
        const std::size_t target = pick(rings_.size());
        const std::uint32_t from = any_slot();
        models::Sqe sqe;
        sqe.opcode = models::Opcode::msg_ring_send_fd;
        sqe.target = rings_[target].real;
        sqe.file_slot = from;
        sqe.user_data = ++next_tag_;
        sqe.target_user_data = ++next_tag_;
        sqe.target_cqe_skip = chance(6);
        std::optional<std::int64_t> index;
        sqe.file_index = models::file_index_alloc;
        if (chance(3)) {
            index = chance(10) ? -1 : static_cast<std::int64_t>(any_slot());
            sqe.file_index = static_cast<std::uint32_t>(*index + 1);
        }
        models::Ring& real = *rings_[source].real;
        tests::prepare(cpu(), real, sqe);
        REQUIRE(real.submit(cpu()) == models::SubmitProgress::submitted);
        real.flush_completions(cpu());
        const int result = naive_send(source, target, from, index, sqe);
        rings_[source].naive->post(sqe.user_data, result);
    }

    int naive_send(std::size_t source, std::size_t target, std::uint32_t from,
                   std::optional<std::int64_t> index, const models::Sqe& sqe) {
        const NaiveRing& sender = *rings_[source].naive;
        if (source == target) {
            return -EINVAL;
        }
        if (from >= sender.table.size() || !sender.table[from]) {
            return -EBADF;
        }
        NaiveRing& receiver = *rings_[target].naive;
        const int result = receiver.install(index, sender.table[from]->file);
        ++results_;
        if (result < 0 || sqe.target_cqe_skip) {
            return result;
        }
        return receiver.post(sqe.target_user_data, result) ? result : -EOVERFLOW;
    }

    void reap(std::size_t ring) {
        models::CompletionQueue& cq = rings_[ring].real->cq();
        NaiveRing& naive = *rings_[ring].naive;
        if (chance(2)) {
            cq.flush_overflow(cpu());
            naive.flush();
        }
        for (std::size_t i = pick(6); i > 0; --i) {
            const auto cqe = cq.reap(cpu());
            REQUIRE((cqe != nullptr) == !naive.cq.empty());
            if (!cqe) {
                return;
            }
            REQUIRE(NaiveCqe{cqe->user_data, cqe->res} == naive.cq.front());
            naive.cq.pop_front();
        }
    }

    void inject() {
        const Failure failure{pick(60), 1 + pick(3)};
        if (chance(2)) {
            kernel_.node_slab().inject_failure(failure.after, failure.times);
            world_.nodes = failure;
        } else {
            rings_.front().real->cq().inject_overflow_failure(failure.after, failure.times);
            world_.overflow_entries = failure;
        }
    }

    sim::RandomStream random_;
    models::Kernel kernel_;
    NaiveWorld world_;
    std::vector<models::File*> files_;
    std::vector<Pair> rings_;
    std::uint64_t next_tag_ = 0;
    std::uint64_t results_ = 0;
    std::uint64_t errors_ = 0;
};

} // namespace

TEST_CASE("random programs agree with a naive model of tables, node caches and CQs") {
    for (const char* design : {"linux-6.12", "linux-6.13", "linux-6.18", "rfc-0001+0002",
                               "rfc-0001+0002+0003", "linux-6.13+prefill"}) {
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            INFO(design, ", seed ", seed);
            Twins twins(design, seed);
            for (int i = 0; i < 1500; ++i) {
                INFO("step ", i);
                twins.step();
                twins.compare();
                if (i % 16 == 0) {
                    twins.compare_slots();
                }
            }
            twins.finish();
        }
    }
}
