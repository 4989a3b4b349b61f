#include "analysis/sweep/merge.h"

#include "analysis/sweep/row_file.h"
#include "analysis/sweep/row_format.h"

#include <fmt/format.h>

#include <optional>

namespace uringsim::analysis {

namespace {

/// One file of rows, at its next row.
struct Source {
    Source(std::string file, LineReader lines)
        : path(std::move(file))
        , reader(std::move(lines)) {}

    std::string path;
    LineReader reader;
    std::string header; ///< of CSV
    std::string line;
    std::optional<RowPlace> place; ///< of `line`; nothing at the end

    /// Goes to the next row. False, with `error` set, where the next line is none.
    bool advance(std::string& error) {
        const auto before = place;
        const auto next = reader.next();
        if (!next) {
            place.reset();
            if (!reader.failure().empty()) {
                error = fmt::format("{}: cannot be read: {}", path, reader.failure());
                return false;
            }
            if (reader.torn()) {
                error = fmt::format(
                    "{}: ends in the middle of a row; `sweep --resume` completes it", path);
            }
            return !reader.torn();
        }
        return read(*next, before, error);
    }

    /// Reads the first line: the header of CSV, or a row.
    bool start(std::string& error) {
        const auto first = reader.next();
        if (first && first->starts_with(csv_header_start)) {
            header = std::string(*first) + '\n';
            return advance(error);
        }
        return first ? read(*first, std::nullopt, error) : advance(error);
    }

  private:
    bool read(std::string_view text, const std::optional<RowPlace>& before, std::string& error) {
        line = text;
        place = header.empty() ? jsonl_place(line) : csv_place(line);
        if (!place) {
            error = fmt::format("{}: this is no row of a sweep: {}", path, line.substr(0, 60));
            return false;
        }
        if (before && place->index <= before->index) {
            error = fmt::format("{}: row {} comes after row {}", path, place->index, before->index);
            return false;
        }
        return true;
    }
};

bool open_source(const std::string& path, std::vector<Source>& sources, std::string& error) {
    auto reader = LineReader::open(path, error);
    if (!reader) {
        error = fmt::format("{}: cannot be read: {}", path, error);
        return false;
    }
    return sources.emplace_back(path, *std::move(reader)).start(error);
}

/// A row of the sweep that all sources are of; nothing, with `error` set, where they are of several
/// or have no rows.
std::optional<RowPlace> common_sweep(const std::vector<Source>& sources, std::string& error) {
    const Source* first = nullptr;
    for (const Source& source : sources) {
        if (source.header != sources.front().header) {
            error = fmt::format("{}: is of another sweep or format than {}", source.path,
                                sources.front().path);
            return std::nullopt;
        }
        if (!source.place) {
            continue;
        }
        first = first != nullptr ? first : &source;
        if (!source.place->is_beside(*first->place)) {
            error = fmt::format("{}: is of another sweep than {}", source.path, first->path);
            return std::nullopt;
        }
    }
    if (first == nullptr) {
        error = "there are no rows to merge";
        return std::nullopt;
    }
    return first->place;
}

/// The one source that is at row `index` of the sweep; nullptr, with `error` set, where none is or
/// several are.
Source* source_of(std::uint64_t index, const RowPlace& sweep, std::vector<Source>& sources,
                  std::string& error) {
    Source* at = nullptr;
    for (Source& source : sources) {
        if (!source.place || source.place->index != index) {
            continue;
        }
        if (at != nullptr) {
            error = fmt::format("row {} is in {} and in {}", index, at->path, source.path);
            return nullptr;
        }
        at = &source;
    }
    if (at == nullptr) {
        error = fmt::format("row {} of {} is missing: is a shard left out or unfinished?", index,
                            sweep.runs);
    } else if (!at->place->is_beside(sweep)) {
        error = fmt::format("{}: row {} is of another sweep than those before it", at->path, index);
        return nullptr;
    }
    return at;
}

} // namespace

bool merge_rows(const std::vector<std::string>& files, const TextSink& sink, std::string& error) {
    std::vector<Source> sources;
    for (const std::string& path : files) {
        if (!open_source(path, sources, error)) {
            return false;
        }
    }
    const auto sweep = common_sweep(sources, error);
    const std::string& header = sources.front().header;
    if (!sweep || (!header.empty() && !sink(header, error))) {
        return false;
    }
    for (std::uint64_t index = 0; index < sweep->runs; ++index) {
        Source* source = source_of(index, *sweep, sources, error);
        if (source == nullptr || !sink(source->line + '\n', error) || !source->advance(error)) {
            return false;
        }
    }
    for (const Source& source : sources) {
        if (source.place) {
            error = fmt::format("{}: row {} is none of {} rows", source.path, source.place->index,
                                sweep->runs);
            return false;
        }
    }
    return true;
}

} // namespace uringsim::analysis
