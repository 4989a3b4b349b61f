#include "analysis/native/uring/program_thread.h"
#include "analysis/native/uring/tracefs.h"
#include "models/errno_names.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <sys/utsname.h>
#include <thread>

namespace uringsim::analysis::native {

std::optional<std::string> why_unavailable() {
    int error = 0;
    if (KernelRing::create("probe", {1, 0, false, false}, error)) {
        return std::nullopt;
    }
    const std::string disabled = read_first_line("/proc/sys/kernel/io_uring_disabled");
    if (error == -ENOSYS) {
        return "this kernel has no io_uring (CONFIG_IO_URING)";
    }
    if (error == -EPERM && !disabled.empty() && disabled != "0") {
        return fmt::format(
            "io_uring is switched off: sysctl kernel.io_uring_disabled is {}; set it "
            "to 0, or run as root where it is 1",
            disabled);
    }
    return fmt::format("io_uring_setup returned {}: {}", models::result_name(error),
                       error == -EPERM ? "a sandbox or container forbids it (seccomp)"
                                       : std::strerror(-error));
}

Record run_program(const scenarios::Scenario& scenario, const ProgramOptions& options) {
    Record record;
    utsname name{};
    ::uname(&name);
    record.release = name.release;
    record.missing = why_unavailable();
    if (record.missing) {
        return record;
    }
    if (options.purpose == Purpose::count) {
        std::string ignored; // the counters say it again, with what is missing for it
        tracefs_root(ignored);
    }
    SharedRun run(scenario, options);
    std::vector<std::unique_ptr<ProgramThread>> tasks;
    for (std::size_t i = 0; i < scenario.tasks.size(); ++i) {
        tasks.push_back(
            std::make_unique<ProgramThread>(run, scenario.tasks[i], options.cpus.at(i)));
    }
    std::mutex mutex;
    const auto body = [&](ProgramThread& task) {
        try {
            task.walk();
            return;
        } catch (const NotHere& problem) {
            const std::scoped_lock lock(mutex);
            record.missing = record.missing.value_or(problem.what());
        } catch (const std::exception& problem) {
            const std::scoped_lock lock(mutex);
            record.error = record.error.value_or(problem.what());
        }
        run.stop = true;
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < tasks.size(); ++i) {
        threads.emplace_back(body, std::ref(*tasks[i]));
    }
    body(*tasks.front());
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const auto& task : tasks) {
        task->add_to(record);
    }
    return record;
}

} // namespace uringsim::analysis::native
