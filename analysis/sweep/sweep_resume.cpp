#include "analysis/sweep/sweep_resume.h"

#include "analysis/export/numbers.h"
#include "analysis/output_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <unistd.h>

namespace uringsim::analysis {

namespace {

/// The first line of a file of kept rows: by it one is told from a file of the user's.
constexpr std::string_view kept_mark = "rows kept by uringsim sweep --resume";

std::string kept_path(const std::string& path) {
    return path + ".kept";
}

/// The kept rows beside a file, behind their mark; nothing where there are none of ours.
std::optional<LineReader> open_kept(const std::string& path) {
    std::string ignored;
    auto reader = LineReader::open(kept_path(path), ignored);
    const auto first = reader ? reader->next() : std::nullopt;
    return first && *first == kept_mark ? std::move(reader) : std::nullopt;
}

/// Copies the rows from `line` on, behind what an earlier resume kept, to a new file of kept rows
/// that takes the old one's name. False, with `error` set, where that fails.
bool keep(LineReader& reader, std::optional<std::string_view> line, const std::string& path,
          std::string& error) {
    auto old = open_kept(path);
    std::error_code ignored;
    if (!old && std::filesystem::exists(kept_path(path), ignored)) {
        error = fmt::format("rows have to be kept in {}, but that is another file; move it away",
                            kept_path(path));
        return false;
    }
    const auto file = OutputFile::open(kept_path(path), error);
    const TextSource rows = [&](const TextSink& sink, std::string& why) {
        const auto copy = [&](std::string_view text) {
            return sink(std::string(text) + '\n', why);
        };
        bool done = copy(kept_mark);
        while (old && done) {
            const auto kept = old->next();
            if (!kept) {
                break;
            }
            done = copy(*kept);
        }
        for (; line && done; line = reader.next()) {
            done = copy(*line);
        }
        return done;
    };
    return file && file->write_from(rows, error);
}

/// Reads the file of a sweep that did not end: what is in place, what is not, and where it is torn.
class EarlierRows {
  public:
    EarlierRows(const std::string& path, LineReader reader, const RowFormat& format,
                const SweepPlan& plan, const PointWalk& start)
        : path_(path)
        , reader_(std::move(reader))
        , format_(format)
        , plan_(plan)
        , start_(start)
        , ahead_(start) {}

    /// The header, if the format has one. False, with `error` set, where it is another's.
    bool read_header(std::string& error) {
        const std::string header = format_.header();
        line_ = reader_.next();
        if (header.empty()) {
            return true;
        }
        if (line_ ? std::string(*line_) + '\n' != header
                  : !header.starts_with(reader_.unfinished())) {
            error = "its header is not that of this sweep; give another file, or remove it";
            return false;
        }
        torn_in_header_ = !line_;
        good_ = line_ ? reader_.position() : 0;
        line_ = line_ ? reader_.next() : line_;
        return true;
    }

    /// The rows from the first on that are in place; `walk` moves behind them.
    std::uint64_t read_in_place(PointWalk& walk, const ResumeState::Written& written) {
        std::uint64_t rows = 0;
        while (line_) {
            const auto row = format_.parse(*line_);
            next_ = ahead_.next();
            if (!row || !next_ || row->place != place_of(*next_, plan_) ||
                row->key != key_text(next_->key)) {
                break;
            }
            written(*next_, row->figures);
            walk = ahead_;
            ++rows;
            good_ = reader_.position();
            line_ = reader_.next();
        }
        return rows;
    }

    /// Whether what is behind the rows in place may be cut off: rows of this sweep that stand in
    /// other places, which are kept, and an incomplete last one. False, with `error` set, where
    /// something would be lost.
    bool check_rest(bool any_in_place, std::string& error) {
        if (!reader_.failure().empty()) {
            error = reader_.failure();
            return false;
        }
        return line_ ? check_others(error) : check_torn(any_in_place, error);
    }

    bool has_others() const { return line_.has_value(); }

    /// Keeps the rows that are not in place.
    bool keep_others(std::string& error) { return keep(reader_, line_, path_, error); }

    /// Where the rows in place end.
    std::uint64_t good() const { return good_; }

  private:
    /// Every row behind has to be one that this sweep will write.
    bool check_others(std::string& error) const {
        auto behind = LineReader::open(path_, error, good_);
        if (!behind) {
            return false;
        }
        std::set<std::string> keys;
        while (const auto line = behind->next()) {
            const auto row = format_.parse(*line);
            if (!row) {
                error = fmt::format("it has lines that are no rows of a sweep: {}",
                                    line->substr(0, 60));
                return false;
            }
            keys.insert(row->key);
        }
        if (!behind->failure().empty()) {
            error = behind->failure();
            return false;
        }
        const std::size_t others = keys.size();
        for (PointWalk all = start_; !keys.empty();) {
            const auto point = all.next();
            if (!point) {
                break;
            }
            keys.erase(key_text(point->key));
        }
        if (keys.empty()) {
            return true;
        }
        error = keys.size() == others && good_ <= format_.header().size()
                    ? "none of its rows is of this sweep; give another file, or remove it"
                    : fmt::format("{} in it {} not of this sweep or shard and would be lost; give "
                                  "another file, or remove what is lost",
                                  counted(keys.size(), "row"), keys.size() == 1 ? "is" : "are");
        return false;
    }

    /// An incomplete line at the end has to be the start of a row.
    bool check_torn(bool any_in_place, std::string& error) {
        const std::string_view torn = reader_.unfinished();
        if (torn.empty() || torn_in_header_) {
            return true;
        }
        const auto point = ahead_.next();
        const std::string start =
            point ? format_.start_of(place_of(*point, plan_), point->key) : "";
        const std::size_t common = std::min(torn.size(), start.size());
        if (point && torn.substr(0, common) == std::string_view(start).substr(0, common)) {
            return true;
        }
        error = any_in_place ? "what follows its last row is no row of this sweep; remove it"
                             : "none of its rows is of this sweep; give another file, or remove it";
        return false;
    }

    std::string path_;
    LineReader reader_;
    const RowFormat& format_;
    const SweepPlan& plan_;
    PointWalk start_;
    PointWalk ahead_;
    std::optional<SweepPoint> next_;
    std::optional<std::string_view> line_; ///< the first one that is not in place
    std::uint64_t good_ = 0;
    bool torn_in_header_ = false;
};

} // namespace

std::optional<ResumeState> ResumeState::read(RowFile& file, const RowFormat& format,
                                             const SweepPlan& plan, PointWalk& walk,
                                             const Written& written, std::string& error) {
    auto reader = LineReader::open(file.path(), error);
    if (!reader) {
        return std::nullopt;
    }
    EarlierRows earlier(file.path(), *std::move(reader), format, plan, walk);
    if (!earlier.read_header(error)) {
        return std::nullopt;
    }
    ResumeState state;
    state.rows_ = earlier.read_in_place(walk, written);
    if (!earlier.check_rest(state.rows_ > 0, error) ||
        (earlier.has_others() && !earlier.keep_others(error))) {
        return std::nullopt;
    }
    state.load_kept(file.path(), format);
    if (!file.cut(earlier.good(), error) ||
        (earlier.good() == 0 && !file.append(format.header(), error))) {
        return std::nullopt;
    }
    return state;
}

void ResumeState::load_kept(const std::string& path, const RowFormat& format) {
    format_ = &format;
    auto kept = open_kept(path);
    if (!kept) {
        return;
    }
    std::uint64_t at = kept->position();
    while (const auto line = kept->next()) {
        if (const auto row = format.parse(*line)) {
            kept_[row->key] = at;
        }
        at = kept->position();
    }
    reader_ = std::make_shared<LineReader>(*std::move(kept));
}

std::optional<std::string> ResumeState::find(const SweepPoint& point, const SweepPlan& plan) const {
    const auto found = kept_.find(key_text(point.key));
    if (found == kept_.end()) {
        return std::nullopt;
    }
    const std::string line = reader_->at(found->second);
    const auto row = format_->parse(line);
    const std::size_t start = format_->start_of(row->place, point.key).size();
    return format_->start_of(place_of(point, plan), point.key) + line.substr(start) + '\n';
}

void ResumeState::finish(const std::string& path) {
    if (open_kept(path)) {
        ::unlink(kept_path(path).c_str());
    }
}

} // namespace uringsim::analysis
