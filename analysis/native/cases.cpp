#include "analysis/native/cases.h"

#include <fstream>
#include <sstream>

namespace uringsim::analysis::native {

namespace op = scenarios::op;

namespace {

std::string read_file(const std::string& path) {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

class CaseList {
  public:
    explicit CaseList(std::string rounds)
        : rounds_(std::move(rounds)) {}

    void add(const std::string& scenario, scenarios::ParameterOverrides parameters,
             bool calibrates = false) {
        parameters.emplace_back("rounds", rounds_);
        cases_.push_back({scenario, std::move(parameters), calibrates});
    }

    std::vector<Case> take() { return std::move(cases_); }

  private:
    std::string rounds_;
    std::vector<Case> cases_;
};

/// The program with `sleep` put in after each close of a ring; jumps follow.
std::vector<scenarios::Instruction> with_sleeps(const std::vector<scenarios::Instruction>& program,
                                                std::uint64_t us) {
    std::vector<std::size_t> moved;
    std::size_t next = 0;
    for (const scenarios::Instruction& instruction : program) {
        moved.push_back(next);
        next += std::holds_alternative<op::CloseRing>(instruction.op) ? 2 : 1;
    }
    std::vector<scenarios::Instruction> result;
    for (scenarios::Instruction instruction : program) {
        if (auto* begin = std::get_if<op::RepeatBegin>(&instruction.op)) {
            begin->end = moved[begin->end];
        } else if (auto* end = std::get_if<op::RepeatEnd>(&instruction.op)) {
            end->begin = moved[end->begin];
        }
        const bool close = std::holds_alternative<op::CloseRing>(instruction.op);
        const std::string where = instruction.where;
        result.push_back(std::move(instruction));
        if (close) {
            result.push_back({op::Sleep{us}, where});
        }
    }
    return result;
}

} // namespace

std::vector<Case> standard_cases(bool instructions) {
    CaseList list(instructions ? "8" : "15");
    for (const char* slots : {"96", "192", "3072"}) {
        list.add("first-fill", {{"slots", slots}}, true);
    }
    list.add("cold-warm", {{"slots", "96"}}, true);
    list.add("cold-warm", {{"slots", "192"}}, true);
    list.add("remove-refill", {{"slots", "3072"}, {"installs", "3072"}}, true);
    list.add("remove-refill", {{"slots", "1536"}, {"installs", "192"}}, true);
    for (const char* slots : {"1536", "3072"}) {
        list.add("register-many-install-few", {{"slots", slots}, {"installs", "16"}}, true);
    }
    for (const char* batch : {"2", "64"}) {
        list.add("nop", {{"batch", batch}}, true);
    }
    for (const char* size : {"2", "8"}) {
        list.add("update-files", {{"slots", "768"}, {"batch", size}, {"entries", size}}, true);
    }
    // Updates that replace a file: nodes come from the cache and go back to it.
    for (const char* batch : {"2", "64"}) {
        list.add("rsrc-update", {{"slots", "192"}, {"batch", batch}, {"warmup", "20"}}, true);
    }
    for (const char* batch : {"2", "8"}) {
        list.add("messages", {{"slots", "768"}, {"batch", batch}}, true);
    }

    for (const char* slots : {"64", "128", "256", "512", "1024", "2048", "4096", "8192"}) {
        list.add("first-fill", {{"slots", slots}});
    }
    for (const char* slots : {"64", "128", "256"}) {
        list.add("cold-warm", {{"slots", slots}});
    }
    for (const char* installs : {"64", "1024", "4096"}) {
        list.add("remove-refill", {{"slots", "4096"}, {"installs", installs}});
    }
    for (const char* installs : {"1", "64", "4096"}) {
        list.add("register-many-install-few", {{"slots", "4096"}, {"installs", installs}});
    }
    for (const char* batch : {"1", "16", "32"}) {
        list.add("nop", {{"batch", batch}});
    }
    list.add("update-files", {{"batch", "1"}, {"entries", "1"}});
    list.add("update-files", {{"batch", "32"}, {"entries", "16"}});
    for (const char* batch : {"1", "8", "32"}) {
        list.add("rsrc-update", {{"batch", batch}, {"warmup", "20"}});
    }
    list.add("rsrc-update", {{"slots", "1024"}, {"warmup", "20"}});
    list.add("messages", {{"batch", "1"}});
    list.add("messages", {{"batch", "32"}});
    return list.take();
}

std::optional<std::vector<LoadedCase>> load_cases(const Library& library,
                                                  const std::vector<Case>& cases,
                                                  scenarios::Diagnostics& diagnostics) {
    std::vector<LoadedCase> loaded;
    for (const Case& the_case : cases) {
        const auto root =
            library.load(FileKind::scenario, the_case.scenario, "SCENARIO", diagnostics);
        auto scenario =
            root ? scenarios::read_scenario(*root, the_case.parameters, diagnostics) : std::nullopt;
        if (!scenario) {
            return std::nullopt;
        }
        loaded.push_back({the_case, *std::move(scenario), read_file(root->file())});
    }
    return loaded;
}

models::Design placed(const models::Design& design, const Placement& placement) {
    // Chosen by the new slabs of six first fills in 6.18.15: what others have in use of kmalloc-32
    // leaves room for as many nodes. The exit work starts when a grace period is over.
    constexpr std::int64_t slabs = 6;
    constexpr std::int64_t percent_in_use = 70;
    constexpr std::int64_t exit_delay_us = 4'000;
    models::Design result = design;
    if (placement.booted_guest) {
        result.slab_resident = slabs;
        result.slab_resident_live = percent_in_use;
        result.ring_exit_delay_us = exit_delay_us;
    }
    return result;
}

scenarios::Scenario placed(const scenarios::Scenario& scenario, const Placement& placement) {
    scenarios::Scenario result = scenario;
    for (std::size_t i = 0; i < result.tasks.size(); ++i) {
        if (!placement.cpus.empty()) {
            result.tasks[i].cpu = static_cast<std::uint16_t>(placement.cpus.at(i));
        }
        if (placement.settle_us > 0) {
            result.tasks[i].program = with_sleeps(result.tasks[i].program, placement.settle_us);
        }
    }
    return result;
}

} // namespace uringsim::analysis::native
