#include "analysis/sweep/merge.h"

#include "analysis/sweep/row_file.h"
#include "analysis/sweep/row_format.h"

#include <fmt/format.h>

#include <optional>

namespace uringsim::analysis {

namespace {

/// One file of rows, at its next row.
struct Source {
    std::string path;
    LineReader reader;
    std::string header; ///< of CSV
    std::string line;
    std::optional<RowPlace> place; ///< of `line`; nothing at the end

    /// Goes to the next row. False, with `error` set, where the next line is none.
    bool advance(std::string& error) {
        const auto next = reader.next();
        if (!next) {
            place.reset();
            if (reader.torn()) {
                error = fmt::format("{}: ends in the middle of a row; `sweep --resume` completes it",
                                    path);
                return false;
            }
            return true;
        }
        line = *next;
        const auto before = place;
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
    sources.push_back({path, *std::move(reader), "", "", std::nullopt});
    Source& source = sources.back();
    auto probe = LineReader::open(path, error);
    const auto first = probe ? probe->next() : std::nullopt;
    if (first && first->starts_with("index,runs,")) {
        source.header = std::string(*first) + '\n';
        source.reader.next();
    }
    return source.advance(error);
}

} // namespace

bool merge_rows(const std::vector<std::string>& files, const TextSink& sink, std::string& error) {
    std::vector<Source> sources;
    for (const std::string& path : files) {
        if (!open_source(path, sources, error)) {
            return false;
        }
    }
    const std::string& header = sources.front().header;
    std::optional<std::uint64_t> runs;
    for (const Source& source : sources) {
        if (source.header != header || (runs && source.place && source.place->runs != *runs)) {
            error = fmt::format("{}: is of another sweep or format than {}", source.path,
                                sources.front().path);
            return false;
        }
        runs = source.place ? source.place->runs : runs;
    }
    if (!runs) {
        error = "there are no rows to merge";
        return false;
    }
    if (!header.empty() && !sink(header, error)) {
        return false;
    }
    for (std::uint64_t index = 0; index < *runs; ++index) {
        Source* at = nullptr;
        for (Source& source : sources) {
            if (!source.place || source.place->index != index) {
                continue;
            }
            if (at != nullptr) {
                error = fmt::format("row {} is in {} and in {}", index, at->path, source.path);
                return false;
            }
            at = &source;
        }
        if (at == nullptr) {
            error = fmt::format("row {} of {} is missing: is a shard left out or unfinished?", index,
                                *runs);
            return false;
        }
        if (at->place->runs != *runs) {
            error = fmt::format("{}: row {} is of another sweep", at->path, index);
            return false;
        }
        if (!sink(at->line + '\n', error) || !at->advance(error)) {
            return false;
        }
    }
    for (const Source& source : sources) {
        if (source.place) {
            error = fmt::format("{}: row {} is none of {} rows", source.path, source.place->index,
                                *runs);
            return false;
        }
    }
    return true;
}

} // namespace uringsim::analysis
