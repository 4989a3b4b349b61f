#include "analysis/native/uring/task_counters.h"

#include "analysis/native/btf.h"
#include "analysis/native/counter_plan.h"
#include "analysis/native/kernel_symbols.h"
#include "analysis/native/uring/tracefs.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace uringsim::analysis::native {

namespace {

constexpr std::array own_names{"enters",          "cqe_reaped",    "errors_counted",
                               "files_installed", "files_removed", "rings_created"};
constexpr const char* probe_group = "uringsim";

KernelFacts facts_of_this_kernel(bool kernel_probes) {
    KernelFacts facts;
    utsname name{};
    ::uname(&name);
    facts.release = name.release;
    facts.probes = kernel_probes;
    const Btf btf = Btf::load();
    facts.node_bytes = btf.struct_bytes("io_rsrc_node");
    facts.slab_name_offset = btf.member_offset("kmem_cache", "name");
    return facts;
}

/// Makes the probe, as a trace event of ours. Only in guests: the probe stays until the kernel
/// ends. Returns 0 or the error.
int make_probe(const std::string& root, const KernelEvent& event, std::uint64_t name_offset) {
    const std::string text = fmt::format("p:{}/{} {} slab=+0(+{}(%di)):string third=%dx:s32\n",
                                         probe_group, event.name, event.name, name_offset);
    const int fd = ::open((root + "/kprobe_events").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    const int error = ::write(fd, text.data(), text.size()) < 0 ? -errno : 0;
    ::close(fd);
    return error;
}

/// A counting perf event of this thread; negative: the error.
int open_event(const std::string& root, const std::string& name, const std::string& filter) {
    const std::string id = read_first_line(root + "/events/" + name + "/id");
    if (id.empty()) {
        return -ENOENT;
    }
    perf_event_attr attr{};
    attr.type = PERF_TYPE_TRACEPOINT;
    attr.size = sizeof attr;
    attr.config = std::stoull(id);
    const long fd = ::syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    if (!filter.empty() &&
        ::ioctl(static_cast<int>(fd), PERF_EVENT_IOC_SET_FILTER, filter.c_str()) != 0) {
        const int error = -errno;
        ::close(static_cast<int>(fd));
        return error;
    }
    return static_cast<int>(fd);
}

std::uint64_t value_of(int fd) {
    std::uint64_t value = 0;
    return ::read(fd, &value, sizeof value) == sizeof value ? value : 0;
}

/// How many of these events the action causes.
std::uint64_t count_during(const std::string& root, const std::string& name,
                           const std::string& filter, const std::function<void()>& action) {
    const int fd = open_event(root, name, filter);
    if (fd < 0) {
        return 0;
    }
    const std::uint64_t before = value_of(fd); // some came in before the filter was set
    action();
    const std::uint64_t count = value_of(fd) - before;
    ::close(fd);
    return count;
}

/// The call sites within the ranges from which the action causes events, by bisection.
std::vector<std::uint64_t> call_sites_of(const std::string& root, const std::string& name,
                                         std::vector<AddressRange> ranges,
                                         const std::function<void()>& action) {
    std::vector<std::uint64_t> sites;
    while (!ranges.empty()) {
        const AddressRange range = ranges.back();
        ranges.pop_back();
        if (count_during(root, name, call_site_filter({range}), action) == 0) {
            continue;
        }
        if (range.end - range.begin == 1) {
            sites.push_back(range.end);
            continue;
        }
        const std::uint64_t middle = range.begin + (range.end - range.begin) / 2;
        ranges.push_back({range.begin, middle});
        ranges.push_back({middle, range.end});
    }
    return sites;
}

std::string but_not(const std::vector<std::uint64_t>& sites) {
    std::string text;
    for (const std::uint64_t site : sites) {
        text += fmt::format(" && call_site != {:#x}", site);
    }
    return text;
}

} // namespace

TaskCounters::TaskCounters(bool kernel_probes, const std::function<void()>& end_empty_table)
    : names_(own_names.begin(), own_names.end()) {
    open_all(kernel_probes, end_empty_table);
}

TaskCounters::~TaskCounters() {
    for (const Event& event : events_) {
        ::close(event.fd);
    }
}

void TaskCounters::open_all(bool kernel_probes, const std::function<void()>& end_empty_table) {
    std::string why;
    const auto root = tracefs_root(why);
    const KernelFacts facts = facts_of_this_kernel(kernel_probes);
    const CounterPlan plan = plan_counters(KernelSymbols::load(), facts);
    absent_ = plan.absent;
    for (const PlannedCounter& planned : plan.counted) {
        std::vector<int> fds;
        std::string problem = root ? "" : why;
        for (const KernelEvent& event : planned.events) {
            std::string name = event.name;
            if (problem.empty() && event.kind == KernelEvent::Kind::probe) {
                name = fmt::format("{}/{}", probe_group, event.name);
                const bool there = ::access((*root + "/events/" + name).c_str(), F_OK) == 0;
                const int error =
                    there ? 0 : make_probe(*root, event, facts.slab_name_offset.value_or(0));
                if (error < 0) {
                    problem = fmt::format("function {} cannot be probed on this kernel: {}",
                                          event.name, std::strerror(-error));
                }
            }
            if (problem.empty()) {
                const int fd = open_event(
                    *root, name,
                    event.filter + but_not(call_sites_of(*root, name, event.shared_with_tables,
                                                         end_empty_table)));
                if (fd < 0) {
                    problem = fmt::format("event {}: {}", name, std::strerror(-fd));
                } else {
                    fds.push_back(fd);
                }
            }
        }
        if (!problem.empty()) {
            for (const int fd : fds) {
                ::close(fd);
            }
            absent_.push_back({planned.counter, problem});
            continue;
        }
        for (const int fd : fds) {
            events_.push_back({fd, names_.size()});
        }
        names_.push_back(planned.counter);
    }
}

void TaskCounters::read(const ProgramCounts& own, std::vector<std::uint64_t>& counts) const {
    counts.assign(names_.size(), 0);
    const std::array values{own.enters,          own.cqe_reaped,    own.errors_counted,
                            own.files_installed, own.files_removed, own.rings_created};
    std::copy(values.begin(), values.end(), counts.begin());
    for (const Event& event : events_) {
        counts[event.counter] += value_of(event.fd);
    }
}

} // namespace uringsim::analysis::native
