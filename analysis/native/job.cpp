#include "analysis/native/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace uringsim::analysis::native {

std::string to_lines(const Job& job) {
    std::string text;
    for (const auto& [name, value] : job.parameters) {
        text += fmt::format("param {}={}\n", name, value);
    }
    text += job.time ? "time\n" : "";
    text += job.count ? "count\n" : "";
    return text + fmt::format("settle_ms {}\n", job.settle_ms);
}

std::optional<Job> parse_job(std::string_view text) {
    Job job;
    job.time = false;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t space = std::min(line.find(' '), line.size());
        const std::string_view key = line.substr(0, space);
        const std::string_view value = line.substr(std::min(space + 1, line.size()));
        if (key == "time") {
            job.time = true;
        } else if (key == "count") {
            job.count = true;
        } else if (const std::size_t equals = value.find('=');
                   key == "param" && equals != std::string_view::npos) {
            job.parameters.emplace_back(value.substr(0, equals), value.substr(equals + 1));
        } else if (key == "settle_ms") {
            const auto [at, error] =
                std::from_chars(value.data(), value.data() + value.size(), job.settle_ms);
            if (error != std::errc() || at != value.data() + value.size()) {
                return std::nullopt;
            }
        } else if (!line.empty()) {
            return std::nullopt;
        }
    }
    return job;
}

} // namespace uringsim::analysis::native
