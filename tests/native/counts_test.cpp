// Counts of the shipped scenarios on the running kernel against the simulator, to the unit. Exit
// status 77 where this host cannot run io_uring or cannot count.

#include "analysis/library.h"
#include "analysis/native/validation.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

using namespace uringsim;
using namespace uringsim::analysis;

namespace {

constexpr int skipped = 77;

int skip(const std::string& why) {
    std::cout << "skipped: " << why << '\n';
    return skipped;
}

std::vector<native::Case> cases() {
    const auto rounds = [](const char* text) {
        return std::pair<std::string, std::string>("rounds", text);
    };
    return {{"first-fill", {{"slots", "4096"}, rounds("3")}},
            {"first-fill", {{"slots", "65"}, rounds("3")}},
            {"cold-warm", {{"slots", "128"}, rounds("3")}},
            {"cold-warm", {{"slots", "256"}, rounds("3")}},
            {"remove-refill", {{"slots", "4096"}, {"installs", "4096"}, rounds("3")}},
            {"remove-refill", {{"slots", "4096"}, {"installs", "64"}, rounds("3")}},
            {"register-many-install-few", {{"slots", "512"}, {"installs", "40"}, rounds("4")}},
            {"nop", {{"batch", "16"}, rounds("3")}},
            {"update-files", {{"batch", "8"}, {"entries", "16"}, rounds("3")}},
            {"messages", {{"batch", "16"}, rounds("3")}}};
}

} // namespace

int main() {
    if (const auto why = native::why_unavailable()) {
        return skip(*why);
    }
    scenarios::Diagnostics diagnostics;
    const auto library = Library::open(std::nullopt, diagnostics);
    const auto loaded = library ? native::load_cases(*library, cases(), diagnostics) : std::nullopt;
    if (!loaded) {
        std::cerr << diagnostics.to_string();
        return 1;
    }
    try {
        native::NativeOptions options;
        options.time = false;
        const native::NativeRuns runs = native::run_cases_here(*loaded, options);
        const auto name = native::design_for(runs.release, library->names(FileKind::design));
        const auto root =
            name ? library->load(FileKind::design, *name, "design", diagnostics) : std::nullopt;
        const auto design = root ? library->design(*root, diagnostics) : std::nullopt;
        if (!design) {
            return skip("no shipped design for kernel " + runs.release);
        }
        const auto& counters = runs.runs.front().result.phases.front().counters;
        const bool counted = std::ranges::any_of(
            counters, [](const auto& counter) { return counter.first == "sqe_submitted"; });
        const auto validation =
            native::validate_native(*loaded, runs, *design, native::host_machine());
        std::cout << native::validation_text(validation);
        if (!validation.counts_exact()) {
            return 1;
        }
        return counted ? 0 : skip("kernel events cannot be counted here");
    } catch (const native::Unavailable& problem) {
        return skip(problem.what());
    } catch (const std::exception& problem) {
        std::cerr << problem.what() << '\n';
        return 1;
    }
}
