#include "analysis/native/guest.h"

#include "analysis/native/child_process.h"
#include "analysis/native/cpio.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace uringsim::analysis::native {

namespace fs = std::filesystem;

namespace {

constexpr const char* qemu = "qemu-system-x86_64";

std::string read_file(const fs::path& path) {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
}

/// The guest's init: of this build, or installed.
std::optional<fs::path> find_init() {
#ifdef URINGSIM_GUEST_INIT
    std::error_code ignored;
    for (const char* path : {URINGSIM_GUEST_INIT, URINGSIM_INSTALLED_GUEST_INIT}) {
        if (fs::exists(path, ignored)) {
            return path;
        }
    }
#endif
    return std::nullopt;
}

bool in_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (::access((fs::path(folder) / program).c_str(), X_OK) == 0) {
            return true;
        }
    }
    return false;
}

/// A temporary file that removes itself.
class TemporaryFile {
  public:
    explicit TemporaryFile(std::string_view bytes) {
        path_ = (fs::temp_directory_path() / "uringsim-guest-XXXXXX").string();
        const int fd = ::mkostemp(path_.data(), O_CLOEXEC);
        if (fd < 0) {
            throw NativeError("no temporary file can be made in " +
                              fs::temp_directory_path().string());
        }
        ::close(fd);
        std::ofstream(path_, std::ios::binary) << bytes;
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() { ::unlink(path_.c_str()); }

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

std::string make_initramfs(const std::vector<GuestWork>& work) {
    CpioWriter writer;
    writer.add_folder("dev");
    writer.add_console();
    writer.add_folder("proc");
    writer.add_folder("sys");
    writer.add_file("init", read_file(*find_init()), 0755);
    for (std::size_t i = 0; i < work.size(); ++i) {
        writer.add_file(fmt::format("scenario-{}.json", i), work[i].scenario_text, 0644);
        writer.add_file(fmt::format("job-{}", i), to_lines(work[i].job), 0644);
    }
    return writer.finish();
}

} // namespace

std::vector<std::string> qemu_command(const GuestOptions& options, const std::string& initramfs) {
    const std::string line =
        "console=ttyS0 panic=-1 reboot=t quiet tsc=reliable nokaslr mitigations=off norandmaps "
        "random.trust_cpu=off";
    return {qemu,
            "-M",
            "q35",
            "-accel",
            "tcg",
            "-cpu",
            "max,-rdrand,-rdseed",
            "-m",
            "1024",
            "-smp",
            std::to_string(options.cpus),
            "-nodefaults",
            "-display",
            "none",
            "-serial",
            "stdio",
            "-no-reboot",
            "-icount",
            "shift=0,sleep=off,align=off",
            "-rtc",
            "base=2020-01-01,clock=vm",
            "-seed",
            "1",
            "-kernel",
            options.kernel,
            "-initrd",
            initramfs,
            "-append",
            line};
}

std::vector<Record> parse_console(std::string_view console) {
    constexpr std::string_view end_line = "uringsim: end";
    std::vector<Record> records;
    while (!console.empty()) {
        const std::size_t at = console.find(end_line);
        const std::size_t end =
            at == std::string_view::npos ? console.size() : at + end_line.size();
        const Record record = parse_record(console.substr(0, end));
        if (record.complete || record.error || record.missing) {
            records.push_back(record);
        }
        console.remove_prefix(end);
    }
    return records;
}

std::optional<std::string> why_no_guests(const std::string& kernel) {
    if (!find_init()) {
        return "this uringsim was built without the guest's program, which needs liburing's static "
               "library (Debian: liburing-dev)";
    }
    if (!in_path(qemu)) {
        return fmt::format("{} is not installed (Debian: qemu-system-x86)", qemu);
    }
    if (::access(kernel.c_str(), R_OK) != 0) {
        return fmt::format("kernel image {} cannot be read; tests/guest-image.sh fetches one",
                           kernel);
    }
    return std::nullopt;
}

std::vector<NativeRun> run_guest(const std::vector<GuestWork>& work, const GuestOptions& options) {
    if (const auto why = why_no_guests(options.kernel)) {
        throw Unavailable(*why);
    }
    std::size_t wanted = 0;
    for (const GuestWork& item : work) {
        if (const auto refused = why_refused(item.scenario)) {
            throw Unavailable(*refused);
        }
        wanted += (item.job.time ? 1U : 0U) + (item.job.count ? 1U : 0U);
    }
    const TemporaryFile initramfs(make_initramfs(work));
    const auto jobs = static_cast<std::uint32_t>(work.size());
    const ChildOutput output =
        run_child(qemu_command(options, initramfs.path()), options.timeout_s * jobs);
    const std::vector<Record> records = parse_console(output.text);
    for (const Record& record : records) {
        check_record(record);
    }
    if (records.size() != wanted) {
        const std::size_t shown = 400;
        const std::string tail =
            output.text.substr(output.text.size() - std::min(shown, output.text.size()));
        throw NativeError(fmt::format("the guest {} after {} of {} results; its console ended: {}",
                                      output.timed_out ? "ran out of time" : "ended",
                                      records.size(), wanted, tail));
    }
    std::vector<NativeRun> runs;
    auto next = records.begin();
    for (const GuestWork& item : work) {
        std::vector<Record> timed;
        if (item.job.time) {
            timed.push_back(*next++);
        }
        const auto counted = item.job.count ? std::optional(*next++) : std::nullopt;
        NativeRun run = assemble(item.scenario, timed, counted, 0);
        run.instructions = true;
        run.host.release = records.front().release;
        run.host.cpu_model = "QEMU TCG, instruction clock";
        run.host.cpus = static_cast<std::size_t>(options.cpus);
        run.result.machine = "guest: " + run.host.cpu_model;
        run.result.design = "kernel " + run.host.release;
        runs.push_back(std::move(run));
    }
    return runs;
}

} // namespace uringsim::analysis::native
