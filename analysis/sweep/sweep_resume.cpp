#include "analysis/sweep/sweep_resume.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <unistd.h>

namespace uringsim::analysis {

namespace {

std::string kept_path(const std::string& path) {
    return path + ".kept";
}

/// Copies the rows that `reader` still has, behind what an earlier resume kept, to a new file of
/// kept rows that then takes the old one's name. False, with `error` set, where that fails.
bool keep(LineReader& reader, std::optional<std::string_view> first, const std::string& path,
          const RowFormat& format, std::string& error) {
    const std::string fresh = kept_path(path) + ".new";
    auto file = RowFile::open(fresh, false, error);
    if (!file) {
        return false;
    }
    const auto copy = [&](std::string_view line) {
        return !format.parse(line) || file->append(std::string(line) + '\n', error);
    };
    std::string ignored;
    if (auto old = LineReader::open(kept_path(path), ignored)) {
        while (const auto line = old->next()) {
            if (!copy(*line)) {
                return false;
            }
        }
    }
    for (auto line = first; line; line = reader.next()) {
        if (!copy(*line)) {
            return false;
        }
    }
    if (std::rename(fresh.c_str(), kept_path(path).c_str()) != 0) {
        error = "the rows to keep could not be moved";
        return false;
    }
    return true;
}

/// The row with the index and number of runs of this sweep in place of those it had.
std::string placed(std::string line, const SweepPoint& point, std::uint64_t runs) {
    if (jsonl_place(line)) {
        const std::size_t rest = line.find(",\"key\"");
        return fmt::format("{{\"index\":{},\"runs\":{}{}\n", point.index, runs, line.substr(rest));
    }
    const std::size_t rest = line.find(',', line.find(',') + 1);
    return fmt::format("{},{}{}\n", point.index, runs, line.substr(rest));
}

} // namespace

std::optional<ResumeState> ResumeState::read(RowFile& file, const RowFormat& format,
                                             const SweepPlan& plan, PointWalk& walk,
                                             const Written& written, std::string& error) {
    auto reader = LineReader::open(file.path(), error);
    if (!reader) {
        return std::nullopt;
    }
    ResumeState state;
    auto line = reader->next();
    std::uint64_t good = 0;
    const std::string header = format.header();
    if (!header.empty()) {
        if (line && std::string(*line) + '\n' != header) {
            error = "its header is not that of this sweep; give another file, or remove it";
            return std::nullopt;
        }
        good = line ? reader->position() : 0;
        line = line ? reader->next() : line;
    }
    PointWalk ahead = walk;
    while (line) {
        const auto row = format.parse(*line);
        const auto point = ahead.next();
        if (!row || !point || row->index != point->index || row->runs != plan.runs() ||
            row->key != key_text(point->key)) {
            break;
        }
        written(*point, row->figures);
        walk = ahead;
        ++state.rows_;
        good = reader->position();
        line = reader->next();
    }
    const bool more = line.has_value();
    if (more && !keep(*reader, line, file.path(), format, error)) {
        return std::nullopt;
    }
    std::string ignored;
    if (auto kept = LineReader::open(kept_path(file.path()), ignored)) {
        std::uint64_t at = 0;
        while (const auto old = kept->next()) {
            if (const auto row = format.parse(*old)) {
                state.kept_[row->key] = at;
            }
            at = kept->position();
        }
        state.reader_ = std::make_shared<LineReader>(*std::move(kept));
    }
    if (more && state.rows_ == 0) {
        bool any = false;
        for (PointWalk rest = walk; auto point = rest.next();) {
            any = any || state.kept_.contains(key_text(point->key));
        }
        if (!any) {
            ::unlink(kept_path(file.path()).c_str());
            error = "none of its rows is of this sweep; give another file, or remove it";
            return std::nullopt;
        }
    }
    if (!file.cut(good, error)) {
        return std::nullopt;
    }
    if (good == 0 && !header.empty() && !file.append(header, error)) {
        return std::nullopt;
    }
    return state;
}

std::optional<std::string> ResumeState::find(const SweepPoint& point, const SweepPlan& plan) const {
    const auto found = kept_.find(key_text(point.key));
    if (found == kept_.end()) {
        return std::nullopt;
    }
    return placed(reader_->at(found->second), point, plan.runs());
}

void ResumeState::finish(const std::string& path) {
    ::unlink(kept_path(path).c_str());
}

} // namespace uringsim::analysis
