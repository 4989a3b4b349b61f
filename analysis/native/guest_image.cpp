#include "analysis/native/guest_image.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

namespace uringsim::analysis::native {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view image_suffix = ".elf";

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// The numbers of a release in order: 6, 12, 117 of "6.12.117+deb12".
std::vector<std::uint64_t> numbers_of(const std::string& release) {
    std::vector<std::uint64_t> numbers;
    bool inside = false;
    for (const char c : release) {
        if (is_digit(c)) {
            if (!inside) {
                numbers.push_back(0);
            }
            numbers.back() = numbers.back() * 10 + static_cast<std::uint64_t>(c - '0');
        }
        inside = is_digit(c);
    }
    return numbers;
}

} // namespace

std::string guest_image_folder() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && *cache != '\0') {
        return (fs::path(cache) / "uringsim" / "guests").string();
    }
    const char* home = std::getenv("HOME");
    return (fs::path(home == nullptr ? "/" : home) / ".cache" / "uringsim" / "guests").string();
}

std::string newest_image(const std::vector<std::string>& names, const std::string& version) {
    std::string best;
    for (const std::string& name : names) {
        const bool begins = name.starts_with(version) && name.size() > version.size() &&
                            !is_digit(name[version.size()]);
        if (begins && name.ends_with(image_suffix) &&
            (best.empty() || numbers_of(name) > numbers_of(best))) {
            best = name;
        }
    }
    return best;
}

std::string find_guest_image(const std::string& kernel) {
    std::error_code ignored;
    if (kernel.empty() || fs::exists(kernel, ignored)) {
        return kernel;
    }
    std::vector<std::string> names;
    for (fs::directory_iterator at(guest_image_folder(), ignored), end; at != end;
         at.increment(ignored)) {
        names.push_back(at->path().filename().string());
    }
    std::ranges::sort(names);
    const std::string found = newest_image(names, kernel);
    return found.empty() ? kernel : (fs::path(guest_image_folder()) / found).string();
}

} // namespace uringsim::analysis::native
