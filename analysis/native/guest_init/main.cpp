// The init of a guest: runs the scenario of its initramfs, prints the records to the console, and
// switches the machine off.

#include "analysis/native/job.h"
#include "analysis/native/program.h"
#include "scenarios/scenario.h"

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace {

using namespace uringsim;
using analysis::native::Purpose;

std::string read_file(const char* path) {
    const std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void mount_all() {
    ::mkdir("/proc", 0755);
    ::mkdir("/sys", 0755);
    ::mount("proc", "/proc", "proc", 0, nullptr);
    ::mount("sysfs", "/sys", "sysfs", 0, nullptr);
    ::mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, nullptr);
}

void settle(std::uint32_t ms) {
    constexpr std::uint32_t ms_a_second = 1000;
    constexpr long ns_a_ms = 1'000'000;
    const timespec time{ms / ms_a_second, static_cast<long>(ms % ms_a_second) * ns_a_ms};
    ::nanosleep(&time, nullptr);
}

/// What earlier runs left on the lists of the nodes' slab cache is given back, so that a run does
/// not depend on those before it.
void shrink_slabs() {
    std::ofstream("/sys/kernel/slab/kmalloc-32/shrink") << 1 << std::flush;
}

/// Runs the program in a child process and prints its record.
void run(const scenarios::Scenario& scenario, Purpose purpose) {
    shrink_slabs();
    const pid_t pid = ::fork();
    if (pid == 0) {
        analysis::native::ProgramOptions options;
        options.purpose = purpose;
        options.kernel_probes = true;
        options.subtract_clock = true;
        options.settle_us = 20'000;
        options.null_calls = 16; // an instruction clock has no slow mode
        const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
        for (const scenarios::TaskSpec& task : scenario.tasks) {
            options.cpus.push_back(static_cast<int>(task.cpu % cpus));
        }
        const auto record = analysis::native::run_program(scenario, options);
        std::cout << analysis::native::to_lines(record) << std::flush;
        ::_exit(0);
    }
    ::waitpid(pid, nullptr, 0);
}

/// Does job number `index`; false where there is none.
bool do_job(int index) {
    const std::string number = std::to_string(index);
    const std::string text = read_file(("/job-" + number).c_str());
    if (text.empty()) {
        return false;
    }
    const auto job = analysis::native::parse_job(text);
    const std::string file = "/scenario-" + number + ".json";
    scenarios::Diagnostics diagnostics;
    const auto root = scenarios::parse_json(file, read_file(file.c_str()), diagnostics);
    const auto scenario =
        root && job ? scenarios::read_scenario(*root, job->parameters, diagnostics) : std::nullopt;
    if (!scenario) {
        std::cout << "uringsim: error the guest cannot read job " << number << '\n'
                  << diagnostics.to_string() << "uringsim: end\n";
        return true;
    }
    settle(job->settle_ms);
    if (job->time) {
        run(*scenario, Purpose::time);
    }
    if (job->count) {
        run(*scenario, Purpose::count);
    }
    return true;
}

} // namespace

int main() {
    mount_all();
    for (int job = 0; do_job(job); ++job) {
    }
    std::cout << std::flush;
    ::sync();
    ::reboot(RB_AUTOBOOT); // with -no-reboot this ends QEMU
    return 0;
}
