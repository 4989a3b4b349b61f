#include "analysis/native/kernel_symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

namespace uringsim::analysis::native {

namespace {

struct Line {
    std::uint64_t address = 0;
    std::string_view name;
};

/// "ffffffff81b4aa40 T io_rsrc_node_alloc", with a tab and "[module]" behind for modules.
std::optional<Line> parse_line(std::string_view text) {
    Line line;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), line.address, 16);
    const auto at = static_cast<std::size_t>(end - text.data());
    if (error != std::errc() || at + 3 >= text.size() || text[at] != ' ' || text[at + 2] != ' ') {
        return std::nullopt;
    }
    const char type = text[at + 1];
    line.name = text.substr(at + 3);
    if ((type != 't' && type != 'T') || line.name.find('\t') != std::string_view::npos) {
        return std::nullopt;
    }
    return line;
}

} // namespace

KernelSymbols KernelSymbols::parse(std::string_view kallsyms) {
    KernelSymbols symbols;
    while (!kallsyms.empty()) {
        const std::size_t end = std::min(kallsyms.find('\n'), kallsyms.size());
        const auto line = parse_line(kallsyms.substr(0, end));
        kallsyms.remove_prefix(std::min(end + 1, kallsyms.size()));
        if (!line || line->address == 0) {
            continue;
        }
        symbols.starts_.push_back(line->address);
        symbols.by_name_.emplace(line->name.substr(0, line->name.find('.')), line->address);
    }
    std::ranges::sort(symbols.starts_);
    return symbols;
}

KernelSymbols KernelSymbols::load() {
    const std::ifstream file("/proc/kallsyms");
    std::ostringstream text;
    text << file.rdbuf();
    return parse(text.str());
}

std::vector<AddressRange> KernelSymbols::ranges(const std::string& name) const {
    std::vector<AddressRange> found;
    const auto [first, last] = by_name_.equal_range(name);
    for (auto it = first; it != last; ++it) {
        const auto next = std::ranges::upper_bound(starts_, it->second);
        found.push_back({it->second, next == starts_.end() ? it->second + 1 : *next});
    }
    std::ranges::sort(found, {}, &AddressRange::begin);
    return found;
}

std::string call_site_filter(const std::vector<AddressRange>& ranges) {
    std::string text;
    for (const AddressRange& range : ranges) {
        text += fmt::format("{}(call_site > {:#x} && call_site <= {:#x})",
                            text.empty() ? "" : " || ", range.begin, range.end);
    }
    return text;
}

} // namespace uringsim::analysis::native
