#include "analysis/native/native.h"

#include "analysis/native/counter_plan.h"
#include "models/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

namespace uringsim::analysis::native {

namespace {

constexpr std::int64_t cycles_are_ns_mhz = 1000;

/// The child's half: runs the program and writes its record. Never returns.
[[noreturn]] void child(const scenarios::Scenario& scenario, const ProgramOptions& options,
                        int fd) {
    const std::string text = to_lines(run_program(scenario, options));
    for (std::string_view rest = text; !rest.empty();) {
        const ssize_t written = ::write(fd, rest.data(), rest.size());
        if (written < 0 && errno != EINTR) {
            break;
        }
        rest.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
    ::_exit(0);
}

std::string read_all(int fd) {
    std::string text;
    std::array<char, 65536> buffer{};
    while (true) {
        const ssize_t count = ::read(fd, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return text;
        }
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
}

scenarios::CounterValues counters_of(const Record& record, std::optional<std::size_t> phase) {
    scenarios::CounterValues values;
    for (const models::CounterInfo& row : models::counter_table()) {
        const auto found = std::ranges::find_if(record.counts, [&](const Count& count) {
            return count.phase == phase && count.counter == row.name;
        });
        if (found != record.counts.end()) {
            values.emplace_back(row.name, found->value);
        }
    }
    return values;
}

} // namespace

std::vector<int> place_tasks(const scenarios::Scenario& scenario, std::vector<int> cpus) {
    std::map<std::uint16_t, int> placed;
    std::vector<int> of_task;
    for (const scenarios::TaskSpec& task : scenario.tasks) {
        if (!placed.contains(task.cpu)) {
            if (cpus.empty()) {
                throw Unavailable(fmt::format(
                    "scenario {} keeps more CPUs busy than the {} that may be used here",
                    scenario.name, placed.size()));
            }
            placed[task.cpu] = cpus.back();
            cpus.pop_back();
        }
        of_task.push_back(placed[task.cpu]);
    }
    return of_task;
}

void check_record(const Record& record) {
    if (record.missing) {
        throw Unavailable(*record.missing);
    }
    if (record.error) {
        throw NativeError(*record.error);
    }
    if (!record.complete) {
        throw NativeError("the process that ran the program ended without a result");
    }
}

Record run_once(const scenarios::Scenario& scenario, const ProgramOptions& options) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) {
        throw NativeError(fmt::format("no pipe: {}", std::strerror(errno)));
    }
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::close(pipe[0]);
        child(scenario, options, pipe[1]);
    }
    ::close(pipe[1]);
    if (pid < 0) {
        ::close(pipe[0]);
        throw NativeError(fmt::format("no process: {}", std::strerror(errno)));
    }
    const std::string text = read_all(pipe[0]);
    ::close(pipe[0]);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        throw NativeError(
            fmt::format("the process that ran the program died of signal {}", WTERMSIG(status)));
    }
    Record record = parse_record(text);
    check_record(record);
    return record;
}

NativeRun assemble(const scenarios::Scenario& scenario, const std::vector<Record>& timed,
                   const std::optional<Record>& counted, double reference_null_ns) {
    NativeRun run;
    scenarios::Result& result = run.result;
    result.scenario = scenario.name;
    result.machine_mhz = cycles_are_ns_mhz;
    result.seed = scenario.seed;
    for (const scenarios::Parameter& parameter : scenario.parameters) {
        result.parameters.push_back(
            {parameter.name, std::to_string(parameter.value), parameter.unit});
    }
    for (std::size_t i = 0; i < scenario.phases.size(); ++i) {
        scenarios::PhaseResult phase{
            scenario.phases[i].name, scenario.phases[i].operations, {}, {}};
        for (const Record& record : timed) {
            for (const Round& round : record.rounds) {
                if (round.phase == i) {
                    phase.cycles_by_round.push_back(static_cast<sim::Cycles>(round.ns));
                }
            }
        }
        if (counted) {
            phase.counters = counters_of(*counted, i);
        }
        if (!timed.empty()) {
            run.times.push_back(phase_times(timed, i, reference_null_ns));
        }
        result.phases.push_back(std::move(phase));
    }
    if (counted) {
        result.counters = counters_of(*counted, std::nullopt);
        run.absent = counted->absent;
        run.notes = counted->notes;
    }
    return run;
}

NativeRun run_native(const scenarios::Scenario& scenario, const NativeOptions& options) {
    if (const auto refused = why_refused(scenario)) {
        throw Unavailable(*refused);
    }
    ProgramOptions program;
    program.cpus = place_tasks(scenario, options.cpus.empty() ? allowed_cpus() : options.cpus);
    if (options.check) {
        program.purpose = Purpose::check;
        run_once(scenario, program);
    }
    std::optional<Record> counted;
    if (options.count) {
        program.purpose = Purpose::count;
        counted = run_once(scenario, program);
    }
    std::vector<Record> timed;
    program.purpose = Purpose::time;
    for (std::uint32_t i = 0; options.time && i < options.processes; ++i) {
        timed.push_back(run_once(scenario, program));
    }
    NativeRun run = assemble(scenario, timed, counted, options.reference_null_ns);
    run.host = read_host();
    run.result.machine = fmt::format("host: {}", run.host.cpu_model);
    run.result.design = "kernel " + run.host.release;
    return run;
}

std::optional<std::string> design_for(const std::string& release,
                                      const std::vector<std::string>& designs) {
    constexpr std::string_view prefix = "linux-";
    const KernelVersion wanted = version_of(release);
    std::optional<std::string> best;
    std::optional<std::string> oldest;
    KernelVersion best_version;
    KernelVersion oldest_version;
    for (const std::string& name : designs) {
        if (!name.starts_with(prefix)) {
            continue;
        }
        const KernelVersion version = version_of(name.substr(prefix.size()));
        const bool plain = version != KernelVersion{} && name.find('+') == std::string::npos;
        if (plain && version > best_version && version <= wanted) {
            best = name;
            best_version = version;
        }
        if (plain && (!oldest || version < oldest_version)) {
            oldest = name;
            oldest_version = version;
        }
    }
    return best ? best : oldest;
}

} // namespace uringsim::analysis::native
