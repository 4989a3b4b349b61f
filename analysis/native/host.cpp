#include "analysis/native/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sched.h>

namespace uringsim::analysis::native {

namespace fs = std::filesystem;

namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::uint64_t first_number(const std::string& path) {
    const std::string line = first_line(path);
    std::uint64_t value = 0;
    std::from_chars(line.data(), line.data() + line.size(), value);
    return value;
}

std::string cpu_model(const std::string& root) {
    std::ifstream file(root + "/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) {
            return line.substr(std::min(line.find(':') + 2, line.size()));
        }
    }
    return "";
}

std::string mitigations(const std::string& root) {
    std::map<std::string, std::string> found;
    std::error_code ignored;
    const fs::path folder(root + "/sys/devices/system/cpu/vulnerabilities");
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const std::string state = first_line(entry.path());
        if (!state.empty() && state != "Not affected") {
            found.emplace(entry.path().filename(), state);
        }
    }
    std::string text;
    for (const auto& [name, state] : found) {
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name, state);
    }
    return text;
}

/// "none voluntary (full) lazy": the one in parentheses.
std::string chosen(const std::string& line) {
    const std::size_t open = line.find('(');
    const std::size_t close = line.find(')', open == std::string::npos ? 0 : open);
    if (open == std::string::npos || close == std::string::npos) {
        return "";
    }
    return line.substr(open + 1, close - open - 1);
}

std::string preemption(const std::string& root) {
    const std::string live = chosen(first_line(root + "/sys/kernel/debug/sched/preempt"));
    if (!live.empty()) {
        return live;
    }
    const std::string version = first_line(root + "/proc/version");
    return version.find("PREEMPT_DYNAMIC") != std::string::npos ? "dynamic"
           : version.find("PREEMPT") != std::string::npos       ? "full"
                                                                : "";
}

} // namespace

Host read_host(const std::string& root) {
    Host host;
    host.release = first_line(root + "/proc/sys/kernel/osrelease");
    host.cpu_model = cpu_model(root);
    const auto online = parse_cpu_list(first_line(root + "/sys/devices/system/cpu/online"));
    host.cpus = online ? online->size() : 0;
    host.governor = first_line(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    host.mitigations = mitigations(root);
    host.preemption = preemption(root);
    host.clock_source =
        first_line(root + "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    const std::string load = first_line(root + "/proc/loadavg");
    host.load = load.substr(0, load.find(' '));
#if !defined(__x86_64__)
    host.x86_64 = false;
#endif
    return host;
}

std::optional<SlabGeometry> read_slab_geometry(const std::string& cache, const std::string& root) {
    const std::string folder = root + "/sys/kernel/slab/" + cache + "/";
    SlabGeometry geometry;
    geometry.name = cache;
    geometry.object_bytes = first_number(folder + "object_size");
    geometry.slot_bytes = first_number(folder + "slab_size");
    geometry.objects_per_slab = first_number(folder + "objs_per_slab");
    geometry.order = first_number(folder + "order");
    geometry.cpu_partial = first_number(folder + "cpu_partial");
    geometry.min_partial = first_number(folder + "min_partial");
    if (geometry.objects_per_slab == 0) {
        return std::nullopt;
    }
    return geometry;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
    std::vector<int> cpus;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
        int first = 0;
        auto [next, error] = std::from_chars(at, end, first);
        if (error != std::errc() || first < 0) {
            return std::nullopt;
        }
        int last = first;
        if (next != end && *next == '-') {
            const auto range = std::from_chars(next + 1, end, last);
            if (range.ec != std::errc() || last < first || last >= CPU_SETSIZE) {
                return std::nullopt;
            }
            next = range.ptr;
        }
        for (int cpu = first; cpu <= last; ++cpu) {
            cpus.push_back(cpu);
        }
        if (next == end) {
            return cpus;
        }
        if (*next != ',') {
            return std::nullopt;
        }
        at = next + 1;
    }
}

std::vector<int> allowed_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cpus;
    if (::sched_getaffinity(0, sizeof set, &set) == 0) {
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) {
                cpus.push_back(cpu);
            }
        }
    }
    return cpus;
}

} // namespace uringsim::analysis::native
