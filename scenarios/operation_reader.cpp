#include "scenarios/scenario_reader.h"

#include "models/uring/file_table.h"
#include "scenarios/key_shape.h"

#include <algorithm>
#include <array>

namespace uringsim::scenarios {

namespace {

constexpr std::int64_t max_u32 = 0xffffffffLL;
constexpr std::int64_t max_slots = 1LL << 22;
constexpr std::int64_t max_count = 1LL << 31;
constexpr std::int64_t max_sq_entries = 32768;

const IntegerRange& slot_range() {
    static const IntegerRange range{0, max_slots, "slots"};
    return range;
}

/// A number, or nothing where the key is absent; 0 after reporting.
std::optional<std::uint32_t> optional_integer(ObjectReader& reader, const ValueReader& values,
                                              std::string_view key, const IntegerRange& range) {
    ValueReader::describe(reader, key, range);
    const JsonNode* node = reader.optional(key);
    if (node == nullptr) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(values.integer(*node, range).value_or(0));
}

Batch read_batch(ObjectReader& reader, const ValueReader& values) {
    Batch batch;
    batch.count = values.integer_or(reader, "count", {0, max_count, "requests"}, 1);
    const std::int64_t fallback = std::clamp<std::int64_t>(batch.count, 1, max_sq_entries);
    batch.size = values.integer_or(reader, "batch", {1, max_sq_entries, "requests"}, fallback);
    batch.submit = reader.boolean_or("submit", true);
    batch.reap = reader.boolean_or("reap", true);
    return batch;
}

op::Via read_via(ObjectReader& reader, op::Via fallback) {
    static constexpr std::array<std::string_view, 2> names{"request", "call"};
    return static_cast<op::Via>(reader.choice_or("via", names, static_cast<std::size_t>(fallback)));
}

std::optional<std::size_t> read_target(ObjectReader& reader, const ValueReader& values) {
    const JsonNode* node = reader.required("target");
    if (reader.is_observed()) {
        KeyShape shape = shape_of_type("string");
        shape.types.emplace_back("null");
        reader.describe("target", shape);
    }
    if (node == nullptr || node->is_null()) {
        return std::nullopt; // null: a file descriptor that is no ring
    }
    return values.ring_index(*node);
}

op::Any read_create_ring(ObjectReader& reader, const ValueReader& values) {
    return op::CreateRing{values.ring(reader, "ring"), values.expect(reader)};
}

op::Any read_enable_ring(ObjectReader& reader, const ValueReader& values) {
    return op::EnableRing{values.ring(reader, "ring")};
}

op::Any read_close_ring(ObjectReader& reader, const ValueReader& values) {
    return op::CloseRing{values.ring(reader, "ring")};
}

op::Any read_register_files(ObjectReader& reader, const ValueReader& values) {
    op::RegisterFiles result{};
    result.ring = values.ring(reader, "ring");
    result.count = values.required_integer(reader, "count", slot_range());
    result.ring_file = reader.boolean_or("ring_file", false);
    result.expect = values.expect(reader);
    return result;
}

op::Any read_register_files_sparse(ObjectReader& reader, const ValueReader& values) {
    op::RegisterFilesSparse result{};
    result.ring = values.ring(reader, "ring");
    result.count = values.required_integer(reader, "count", slot_range());
    result.opt_in = reader.boolean_or("opt_in", false);
    result.expect = values.expect(reader);
    return result;
}

op::Any read_alloc_range(ObjectReader& reader, const ValueReader& values) {
    op::RegisterFileAllocRange result{};
    result.ring = values.ring(reader, "ring");
    result.offset = values.required_integer(reader, "offset", {0, max_u32, "slots"});
    result.length = values.required_integer(reader, "length", {0, max_u32, "slots"});
    result.expect = values.expect(reader);
    return result;
}

op::Any read_unregister_files(ObjectReader& reader, const ValueReader& values) {
    return op::UnregisterFiles{values.ring(reader, "ring"), values.expect(reader)};
}

/// "alloc" or a slot.
std::uint32_t read_update_offset(ObjectReader& reader, const ValueReader& values) {
    const IntegerRange range{0, max_u32, "slot", R"("alloc" or a parameter)"};
    static constexpr std::array<std::string_view, 1> names{"alloc"};
    ValueReader::describe(reader, "offset", range);
    ValueReader::describe(reader, "offset", names);
    const JsonNode* offset = reader.optional("offset");
    if (offset == nullptr) {
        return 0;
    }
    if (offset->is_string() && offset->text() == names[0]) {
        return models::file_index_alloc;
    }
    return static_cast<std::uint32_t>(values.integer(*offset, range).value_or(0));
}

/// The slots that the kernel is to pick.
void read_first_slot(ObjectReader& reader, const ValueReader& values, op::UpdateFiles& result) {
    result.first_slot = optional_integer(reader, values, "first_slot", slot_range());
    if (result.first_slot && !result.alloc()) {
        reader.optional("first_slot")
            ->report_key("the kernel picks no slots here; that needs \"offset\": \"alloc\" and "
                         "\"via\": \"request\"",
                         values.diagnostics());
    }
}

op::Any read_update_files(ObjectReader& reader, const ValueReader& values) {
    static constexpr std::array<std::string_view, 5> with_names{"file", "none", "skip", "bad_fd",
                                                                "ring_file"};
    op::UpdateFiles result{};
    result.ring = values.ring(reader, "ring");
    result.offset = read_update_offset(reader, values);
    result.count = values.integer_or(reader, "count", {1, max_slots, "slots"}, 1);
    result.entries = values.integer_or(reader, "entries", {1, max_slots, "slots"}, 1);
    result.batch = values.integer_or(reader, "batch", {1, max_sq_entries, "requests"}, 1);
    result.with = static_cast<op::With>(reader.choice_or("with", with_names, 0));
    result.via = read_via(reader, op::Via::request);
    result.tag = static_cast<std::uint64_t>(
        reader.integer_or("tag", {0, std::numeric_limits<std::int64_t>::max()}, 0));
    if (const JsonNode* tag = reader.optional("tag");
        tag != nullptr && result.tag != 0 && result.via == op::Via::request) {
        tag->report_key("only an update with \"via\": \"call\" carries tags; a FILES_UPDATE request "
                        "has no place for them",
                        values.diagnostics());
    }
    read_first_slot(reader, values, result);
    result.expect = values.expect(reader);
    return result;
}

op::Any read_remove_files(ObjectReader& reader, const ValueReader& values) {
    op::RemoveFiles result{};
    result.ring = values.ring(reader, "ring");
    result.via = read_via(reader, op::Via::call);
    result.expect = values.expect(reader);
    return result;
}

/// The buffers of an operation: equal ones, or empty slots.
models::UserBuffer read_buffer(ObjectReader& reader, const ValueReader& values) {
    constexpr std::int64_t max_bytes = 1LL << 31;
    constexpr std::int64_t max_offset = 4095;
    static constexpr std::array<std::string_view, 2> pages_names{"small", "huge"};
    models::UserBuffer buffer;
    buffer.present = !reader.boolean_or("empty", false);
    buffer.bytes = values.integer_or(reader, "bytes", {0, max_bytes, "bytes"}, 4096);
    buffer.offset = values.integer_or(reader, "page_offset", {0, max_offset, "bytes"}, 0);
    ValueReader::describe(reader, "pages", pages_names);
    if (const JsonNode* pages = reader.optional("pages")) {
        buffer.pages = static_cast<models::UserBuffer::Pages>(
            values.choice(*pages, pages_names).value_or(0));
    }
    buffer.tag = static_cast<std::uint64_t>(
        reader.integer_or("tag", {0, std::numeric_limits<std::int64_t>::max()}, 0));
    return buffer;
}

const IntegerRange& buffer_range() {
    static const IntegerRange range{0, 1LL << 20, "buffers"};
    return range;
}

op::Any read_register_buffers(ObjectReader& reader, const ValueReader& values) {
    op::RegisterBuffers result{};
    result.ring = values.ring(reader, "ring");
    result.count = values.required_integer(reader, "count", buffer_range());
    result.buffer = read_buffer(reader, values);
    result.expect = values.expect(reader);
    return result;
}

op::Any read_update_buffers(ObjectReader& reader, const ValueReader& values) {
    op::UpdateBuffers result{};
    result.ring = values.ring(reader, "ring");
    result.first = values.integer_or(reader, "first", buffer_range(), 0);
    result.count = values.integer_or(reader, "count", buffer_range(), 1);
    result.buffer = read_buffer(reader, values);
    result.expect = values.expect(reader);
    return result;
}

op::Any read_unregister_buffers(ObjectReader& reader, const ValueReader& values) {
    return op::UnregisterBuffers{values.ring(reader, "ring"), values.expect(reader)};
}

op::Any read_clone_buffers(ObjectReader& reader, const ValueReader& values) {
    op::CloneBuffers result{};
    result.ring = values.ring(reader, "ring");
    result.from = values.ring(reader, "from");
    result.range.src_off = values.integer_or(reader, "src_off", {0, max_u32, "buffers"}, 0);
    result.range.dst_off = values.integer_or(reader, "dst_off", {0, max_u32, "buffers"}, 0);
    result.range.nr = values.integer_or(reader, "nr", {0, max_u32, "buffers"}, 0);
    result.range.dst_replace = reader.boolean_or("dst_replace", false);
    result.expect = values.expect(reader);
    return result;
}

op::Any read_read_fixed(ObjectReader& reader, const ValueReader& values) {
    constexpr std::int64_t max_buffer = 65535; // sqe->buf_index has 16 bits
    constexpr std::int64_t max_bytes = 0x7fffffff;
    op::ReadFixed result{};
    result.ring = values.ring(reader, "ring");
    result.batch = read_batch(reader, values);
    result.buffer = values.integer_or(reader, "buffer", {0, max_buffer, "slot"}, 0);
    result.bytes = values.integer_or(reader, "bytes", {0, max_bytes, "bytes"}, 4096);
    result.offset = values.integer_or(reader, "offset", {0, max_u32, "bytes"}, 0);
    result.pending = reader.boolean_or("pending", false);
    result.expect = values.expect(reader);
    return result;
}

op::Any read_end_read(ObjectReader& reader, const ValueReader& values) {
    return op::EndRead{values.ring(reader, "ring")};
}

op::Any read_set_rlimit_memlock(ObjectReader& reader, const ValueReader& values) {
    return op::SetRlimitMemlock{values.required_integer(reader, "bytes", {0, max_u32, "bytes"})};
}

op::Any read_nop(ObjectReader& reader, const ValueReader& values) {
    static constexpr std::array<std::string_view, 3> completes{"at_once", "interrupt", "worker"};
    constexpr std::int64_t one_second_us = 1'000'000;
    op::Nop result{};
    result.ring = values.ring(reader, "ring");
    result.batch = read_batch(reader, values);
    result.cqe_skip = reader.boolean_or("cqe_skip", false);
    result.completes = static_cast<models::Completes>(reader.choice_or("completes", completes, 0));
    result.later_every = values.integer_or(reader, "later_every", {1, max_count, "requests"}, 1);
    result.delay_us = values.integer_or(reader, "delay_us", {0, one_second_us, "us"}, 0);
    return result;
}

op::Any read_shrink(ObjectReader& reader, const ValueReader& values) {
    return op::Shrink{values.required_integer(reader, "objects", {0, max_count, "objects"}),
                      values.expect(reader)};
}

op::CpuHotplug read_cpu_hotplug(ObjectReader& reader, const ValueReader& values, bool online) {
    constexpr std::int64_t max_cpu = 1023;
    const std::uint32_t cpu = values.required_integer(reader, "cpu", {0, max_cpu, "CPU"});
    return {static_cast<std::uint16_t>(cpu), online, values.expect(reader)};
}

op::Any read_cpu_offline(ObjectReader& reader, const ValueReader& values) {
    return read_cpu_hotplug(reader, values, false);
}

op::Any read_cpu_online(ObjectReader& reader, const ValueReader& values) {
    return read_cpu_hotplug(reader, values, true);
}

op::Any read_slab_cycle(ObjectReader& reader, const ValueReader& values) {
    static constexpr std::array<std::string_view, 2> modes{"single", "bulk"};
    op::SlabCycle result{};
    result.bytes = values.required_integer(reader, "bytes", {8, 8192, "bytes"});
    result.count = values.required_integer(reader, "count", {1, 1 << 20, "objects"});
    result.account = reader.boolean_or("account", false);
    result.bulk_alloc = reader.choice_or("alloc", modes, 0) == 1;
    result.bulk_free = reader.choice_or("free", modes, 0) == 1;
    return result;
}

op::Any read_slab_residents(ObjectReader& reader, const ValueReader& values) {
    op::SlabResidents result{};
    result.bytes = values.required_integer(reader, "bytes", {8, 8192, "bytes"});
    result.slabs = values.required_integer(reader, "slabs", {0, 1024, "slabs"});
    result.live = values.required_integer(reader, "live", {0, 4096, "objects"});
    result.account = reader.boolean_or("account", false);
    return result;
}

/// "alloc", "sequential", or a slot number; `file_index` is the raw field of the SQE.
void read_slot(ObjectReader& reader, const ValueReader& values, op::SendFd& result) {
    const IntegerRange slots{0, max_u32 - 2, "slot", R"("alloc", "sequential" or a parameter)"};
    const IntegerRange indexes{0, max_u32, "slot + 1"};
    static constexpr std::array<std::string_view, 2> names{"alloc", "sequential"};
    ValueReader::describe(reader, "slot", slots);
    ValueReader::describe(reader, "slot", names);
    ValueReader::describe(reader, "file_index", indexes);
    const JsonNode* slot = reader.optional("slot");
    const JsonNode* raw = reader.optional("file_index");
    if (slot != nullptr && raw != nullptr) {
        raw->report_key("only one of \"slot\" and \"file_index\" may be given",
                        values.diagnostics());
        return;
    }
    if (raw != nullptr) {
        result.slot = op::Slot::file_index;
        result.file_index = static_cast<std::uint32_t>(
            values.integer(*raw, indexes).value_or(0));
        return;
    }
    result.slot = op::Slot::alloc;
    result.file_index = models::file_index_alloc;
    if (slot == nullptr || (slot->is_string() && slot->text() == "alloc")) {
        return;
    }
    if (slot->is_string() && slot->text() == "sequential") {
        result.slot = op::Slot::sequential;
        result.file_index = 0;
        return;
    }
    if (const auto number = values.integer(*slot, slots)) {
        result.slot = op::Slot::file_index;
        result.file_index = static_cast<std::uint32_t>(*number + 1);
    }
}

op::Any read_send_fd(ObjectReader& reader, const ValueReader& values) {
    op::SendFd result{};
    result.ring = values.ring(reader, "ring");
    result.target = read_target(reader, values);
    result.batch = read_batch(reader, values);
    read_slot(reader, values, result);
    result.source_slot = values.integer_or(reader, "source_slot", {0, max_u32, "slot"}, 0);
    result.len = values.integer_or(reader, "len", {0, max_u32}, 0);
    result.flags = values.integer_or(reader, "flags", {0, max_u32}, 0);
    result.cqe_skip = reader.boolean_or("cqe_skip", false);
    result.expect = values.expect(reader);
    return result;
}

op::Any read_send_data(ObjectReader& reader, const ValueReader& values) {
    op::SendData result{};
    result.ring = values.ring(reader, "ring");
    result.target = read_target(reader, values);
    result.batch = read_batch(reader, values);
    result.len = values.integer_or(reader, "len", {0, 0x7fffffff}, 0);
    result.targets = result.target ? values.scenario().rings[*result.target].instances : 1;
    result.last = reader.boolean_or("last", false);
    result.latency = values.latency(reader);
    result.expect = values.expect(reader);
    return result;
}

op::Any read_receive(ObjectReader& reader, const ValueReader& values) {
    op::Receive result{};
    result.ring = values.ring(reader, "ring");
    result.wait = values.integer_or(reader, "wait", {1, max_sq_entries, "messages"}, 1);
    result.count = optional_integer(reader, values, "count", {0, max_count, "messages"});
    result.latency = values.latency(reader);
    values.scenario().rings[result.ring].received = true;
    return result;
}

op::Any read_pace(ObjectReader& reader, const ValueReader& values) {
    static constexpr std::array<std::string_view, 4> rules{"credit", "sleep", "spin", "grid"};
    constexpr std::int64_t hour_us = 3'600'000'000;
    constexpr std::int64_t default_loss_us = 48;
    op::Pace result{};
    ValueReader::describe(reader, "rule", rules);
    if (const JsonNode* rule = reader.required("rule")) {
        result.rule = static_cast<op::Pace::Rule>(values.choice(*rule, rules).value_or(0));
    }
    result.delay_us = values.required_integer(reader, "delay_us", {1, hour_us, "us"});
    result.loss_us = values.integer_or(reader, "loss_us", {0, 1000, "us"}, default_loss_us);
    return result;
}

op::Any read_submit(ObjectReader& reader, const ValueReader& values) {
    op::Submit result{};
    result.ring = values.ring(reader, "ring");
    result.wait = optional_integer(reader, values, "wait", {0, max_u32, "completions"});
    result.expect = values.expect(reader);
    return result;
}

op::Any read_reap(ObjectReader& reader, const ValueReader& values) {
    op::Reap result{};
    result.ring = values.ring(reader, "ring");
    result.count = optional_integer(reader, values, "count", {0, max_u32, "completions"});
    result.first_user_data = optional_integer(reader, values, "first_user_data", {0, max_count});
    result.expect = values.expect(reader);
    return result;
}

op::Any read_poll(ObjectReader& reader, const ValueReader& values) {
    op::Poll result{};
    result.ring = values.ring(reader, "ring");
    result.slot = values.integer_or(reader, "slot", {0, max_u32, "slot"}, 0);
    result.expect = values.expect(reader);
    return result;
}

op::Any read_end_poll(ObjectReader& reader, const ValueReader& values) {
    return op::EndPoll{values.ring(reader, "ring")};
}

op::Any read_sleep(ObjectReader& reader, const ValueReader& values) {
    constexpr std::int64_t one_hour_us = 3'600'000'000;
    return op::Sleep{values.required_integer(reader, "us", {0, one_hour_us, "us"})};
}

op::Any read_set_rlimit(ObjectReader& reader, const ValueReader& values) {
    return op::SetRlimitNofile{values.required_integer(reader, "limit", {0, max_u32, "files"})};
}

op::Any read_fail_alloc(ObjectReader& reader, const ValueReader& values) {
    static constexpr std::array<std::string_view, 3> names{"rsrc_node", "overflow_entry", "request"};
    op::FailAlloc result{};
    result.ring = values.ring(reader, "ring");
    result.what = static_cast<op::FailWhat>(reader.choice("what", names).value_or(0));
    result.after = values.integer_or(reader, "after", {0, max_count, "objects"}, 0);
    result.times = values.integer_or(reader, "times", {1, max_count, "calls"}, 1);
    return result;
}

op::Any read_assert(ObjectReader& reader, const ValueReader& values) {
    static constexpr std::array<std::string_view, 15> names{
        "cq_ready",   "cq_overflowed", "cq_dropped",    "files_installed",
        "files_held", "nodes_cached",  "node_capacity", "rings_alive",
        "buffers_installed", "pins", "pages_accounted", "requests_cached",
        "requests_available", "local_work", "taskrun"};
    op::Assert result{};
    result.quantity = static_cast<op::Quantity>(reader.choice("quantity", names).value_or(0));
    if (!op::is_global(result.quantity)) {
        result.ring = values.ring(reader, "ring");
    }
    result.equals = values.required_integer(reader, "equals", {0, max_u32});
    return result;
}

op::Any read_snapshot(ObjectReader& reader, const ValueReader& values) {
    const std::size_t ring = values.ring(reader, "ring");
    return op::Snapshot{ring, reader.name("name").value_or("")};
}

struct OperationRow {
    std::string_view name;
    op::Any (*read)(ObjectReader&, const ValueReader&);
};

constexpr std::array operations{
    OperationRow{"create_ring", &read_create_ring},
    OperationRow{"enable_ring", &read_enable_ring},
    OperationRow{"close_ring", &read_close_ring},
    OperationRow{"register_files", &read_register_files},
    OperationRow{"register_files_sparse", &read_register_files_sparse},
    OperationRow{"register_file_alloc_range", &read_alloc_range},
    OperationRow{"unregister_files", &read_unregister_files},
    OperationRow{"update_files", &read_update_files},
    OperationRow{"remove_files", &read_remove_files},
    OperationRow{"register_buffers", &read_register_buffers},
    OperationRow{"update_buffers", &read_update_buffers},
    OperationRow{"unregister_buffers", &read_unregister_buffers},
    OperationRow{"clone_buffers", &read_clone_buffers},
    OperationRow{"read_fixed", &read_read_fixed},
    OperationRow{"end_read", &read_end_read},
    OperationRow{"set_rlimit_memlock", &read_set_rlimit_memlock},
    OperationRow{"nop", &read_nop},
    OperationRow{"send_fd", &read_send_fd},
    OperationRow{"send_data", &read_send_data},
    OperationRow{"receive", &read_receive},
    OperationRow{"pace", &read_pace},
    OperationRow{"submit", &read_submit},
    OperationRow{"reap", &read_reap},
    OperationRow{"poll", &read_poll},
    OperationRow{"end_poll", &read_end_poll},
    OperationRow{"sleep", &read_sleep},
    OperationRow{"set_rlimit_nofile", &read_set_rlimit},
    OperationRow{"fail_alloc", &read_fail_alloc},
    OperationRow{"shrink", &read_shrink},
    OperationRow{"cpu_offline", &read_cpu_offline},
    OperationRow{"cpu_online", &read_cpu_online},
    OperationRow{"slab_cycle", &read_slab_cycle},
    OperationRow{"slab_residents", &read_slab_residents},
    OperationRow{"assert", &read_assert},
    OperationRow{"snapshot", &read_snapshot},
};

} // namespace

std::vector<std::string_view> operation_names() {
    std::vector<std::string_view> names;
    for (const OperationRow& row : operations) {
        names.push_back(row.name);
    }
    return names;
}

std::optional<op::Any> read_operation(ObjectReader& reader, const ValueReader& values) {
    const std::vector<std::string_view> names = operation_names();
    const auto index = reader.choice("op", names);
    if (!index) {
        return std::nullopt;
    }
    return operations[*index].read(reader, values);
}

} // namespace uringsim::scenarios
