#include "scenarios/did_you_mean.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace uringsim::scenarios {
namespace {

std::string folded(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
        else if (c == '-')
            c = '_';
    }
    return result;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    // Three rows suffice: a swap of neighbours looks back by two.
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        before_last.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

template <typename Name>
std::optional<std::string> nearest(std::string_view given, std::span<const Name> candidates) {
    const std::string wanted = folded(given);
    std::size_t limit = std::max<std::size_t>(1, wanted.size() / 3);
    std::optional<std::string> best;
    for (const Name& candidate : candidates) {
        const std::string name = folded(candidate);
        const std::size_t longer = std::max(name.size(), wanted.size());
        const std::size_t shorter = std::min(name.size(), wanted.size());
        // The distance is at least the difference in length: spares the table for a huge `given`.
        if (longer - shorter > limit)
            continue;
        const std::size_t distance = edit_distance(wanted, name);
        if (distance > limit || distance >= longer)
            continue;
        best = std::string(candidate);
        if (distance == 0)
            break;
        limit = distance - 1; // only a strictly nearer one may take its place
    }
    return best;
}

} // namespace

std::optional<std::string> did_you_mean(std::string_view given,
                                        std::span<const std::string_view> candidates) {
    return nearest(given, candidates);
}

std::optional<std::string> did_you_mean(std::string_view given,
                                        std::span<const std::string> candidates) {
    return nearest(given, candidates);
}

} // namespace uringsim::scenarios
