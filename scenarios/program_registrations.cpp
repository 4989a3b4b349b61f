// The operations of a program that make and close rings and register files and buffers.

#include "scenarios/program_task.h"

#include <fmt/format.h>

namespace uringsim::scenarios {

sim::Step ProgramTask::run(const op::CreateRing& op, sim::Cpu& cpu) {
    const RingSpec& spec = run_.scenario.rings[op.ring];
    if (run_.rings[op.ring] != nullptr) {
        fail(fmt::format("ring \"{}\" is open already", spec.name));
    }
    const int result = spec.params.check();
    check(cpu, result, op.expect, "create_ring");
    if (result == 0) {
        run_.rings[op.ring] = &run_.kernel.create_ring(cpu, spec.name, spec.params);
    }
    return advance();
}

sim::Step ProgramTask::run(const op::EnableRing& op, sim::Cpu& /*cpu*/) {
    ring(op.ring).enable(self_);
    return advance();
}

sim::Step ProgramTask::run(const op::CloseRing& op, sim::Cpu& cpu) {
    run_.kernel.close_ring(cpu, ring(op.ring));
    run_.rings[op.ring] = nullptr;
    return advance();
}

sim::Step ProgramTask::run(const op::RegisterFiles& op, sim::Cpu& cpu) {
    models::Ring& target = ring(op.ring);
    const std::vector<models::File*> files(op.count, op.ring_file ? &target.file() : &run_.file);
    check(cpu, models::register_files(cpu, run_.kernel, target, files), op.expect,
          "register_files");
    return advance();
}

sim::Step ProgramTask::run(const op::RegisterFilesSparse& op, sim::Cpu& cpu) {
    const int result =
        models::register_files_sparse(cpu, run_.kernel, ring(op.ring), op.count, op.opt_in);
    check(cpu, result, op.expect, "register_files_sparse");
    return advance();
}

sim::Step ProgramTask::run(const op::RegisterFileAllocRange& op, sim::Cpu& cpu) {
    const int result = models::register_file_alloc_range(cpu, run_.kernel, ring(op.ring), op.offset,
                                                         op.length);
    check(cpu, result, op.expect, "register_file_alloc_range");
    return advance();
}

sim::Step ProgramTask::run(const op::UnregisterFiles& op, sim::Cpu& cpu) {
    return unregister(cpu, op.ring, models::UnregisterCall::Table::files, op.expect,
                      "unregister_files");
}

sim::Step ProgramTask::unregister(sim::Cpu& cpu, std::size_t index,
                                  models::UnregisterCall::Table table, const Expect& expect,
                                  const char* what) {
    if (stage_ == Stage::idle) {
        unregister_.begin(ring(index), table);
        stage_ = Stage::enter;
    }
    if (unregister_.step(cpu, run_.kernel, *this) == models::EnterCall::Progress::blocked) {
        return sim::Step::blocked();
    }
    check(cpu, unregister_.result(), expect, what);
    return advance();
}

sim::Step ProgramTask::run(const op::RegisterBuffers& op, sim::Cpu& cpu) {
    const std::vector<models::UserBuffer> buffers(op.count, op.buffer);
    check(cpu, models::register_buffers(cpu, run_.kernel, ring(op.ring), buffers), op.expect,
          "register_buffers");
    return advance();
}

sim::Step ProgramTask::run(const op::UpdateBuffers& op, sim::Cpu& cpu) {
    const std::vector<models::UserBuffer> buffers(op.count, op.buffer);
    const int result =
        models::register_buffers_update(cpu, run_.kernel, ring(op.ring), op.first, buffers);
    check(cpu, result, op.expect, "update_buffers");
    return advance();
}

sim::Step ProgramTask::run(const op::UnregisterBuffers& op, sim::Cpu& cpu) {
    return unregister(cpu, op.ring, models::UnregisterCall::Table::buffers, op.expect,
                      "unregister_buffers");
}

sim::Step ProgramTask::run(const op::CloneBuffers& op, sim::Cpu& cpu) {
    const int result =
        models::register_clone_buffers(cpu, run_.kernel, ring(op.ring), ring(op.from), op.range);
    check(cpu, result, op.expect, "clone_buffers");
    return advance();
}

sim::Step ProgramTask::run(const op::EndRead& op, sim::Cpu& cpu) {
    if (!ring(op.ring).end_read(cpu)) {
        fail(fmt::format("no READ_FIXED is pending on ring \"{}\"", ring(op.ring).name()));
    }
    return advance();
}

sim::Step ProgramTask::run(const op::SetRlimitMemlock& op, sim::Cpu& /*cpu*/) {
    constexpr std::uint64_t page_bytes = 4096;
    run_.kernel.pinned().limit_pages = op.bytes / page_bytes;
    return advance();
}

} // namespace uringsim::scenarios
