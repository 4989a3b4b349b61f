#include "analysis/export/document.h"
#include "analysis/export/numbers.h"
#include "models/primitives.h"

#include <fmt/format.h>

#include <algorithm>

namespace uringsim::analysis {

namespace {

constexpr std::size_t max_id_width = 22;

std::string sign_text(const Conclusion& conclusion) {
    if (!conclusion.has_sign) {
        return "none";
    }
    const bool flips = std::ranges::any_of(
        conclusion.crossings, [](const Crossing& crossing) { return crossing.flip == Flip::sign; });
    if ((conclusion.published > 0) != (conclusion.simulated > 0)) {
        return "wrong";
    }
    return flips ? "can flip" : "safe";
}

std::string size_text(const Conclusion& conclusion) {
    if (!conclusion.size_holds) {
        return "off";
    }
    const bool flips = std::ranges::any_of(
        conclusion.crossings, [](const Crossing& crossing) { return crossing.flip == Flip::size; });
    return flips ? "can flip" : "safe";
}

Section overview(const Sensitivity& sensitivity) {
    Table table({{"conclusion", Align::left},
                 {"published"},
                 {"simulated"},
                 {"noise"},
                 {"sign", Align::left},
                 {"size", Align::left}});
    for (const Conclusion& conclusion : sensitivity.conclusions) {
        table.add_row({shortened(conclusion.id, max_id_width), signed_percent(conclusion.published),
                       signed_percent(conclusion.simulated),
                       fmt::format("{:.2f} pt", conclusion.noise), sign_text(conclusion),
                       size_text(conclusion)});
    }
    Section section{"conclusions", std::move(table), {}};
    section.lines.emplace_back(
        "sign: safe where no cost alone can turn it within its range; none where the published "
        "change is within its noise");
    section.lines.emplace_back("size: safe where no cost alone can bring it out of the source's "
                               "limit around the published change");
    if (!sensitivity.no_sums.empty()) {
        section.lines.push_back(fmt::format("not told, for their phases are no sums of costs: {}",
                                            fmt::join(sensitivity.no_sums, ", ")));
    }
    return section;
}

Section crossings_section(const Sensitivity& sensitivity, Flip flip, const char* title) {
    Table table({{"conclusion", Align::left},
                 {"cost", Align::left},
                 {"now"},
                 {"flips at"},
                 {"move"},
                 {"range"}});
    for (const Conclusion& conclusion : sensitivity.conclusions) {
        if (flip == Flip::size && !conclusion.size_holds) {
            continue;
        }
        for (const Crossing& crossing : conclusion.crossings) {
            if (crossing.flip != flip) {
                continue;
            }
            const models::PrimitiveInfo& row = models::info(crossing.primitive);
            table.add_row({shortened(conclusion.id, max_id_width), std::string(row.name),
                           short_number(crossing.now_cycles), short_number(crossing.at_cycles),
                           signed_percent((crossing.at_cycles / crossing.now_cycles - 1) * 100.0),
                           fmt::format("{} - {}", row.min_cycles, row.max_cycles)});
        }
    }
    if (table.empty()) {
        return {title, std::nullopt, {"none"}};
    }
    return {title, std::move(table), {}};
}

} // namespace

Document describe(const Sensitivity& sensitivity) {
    Document document;
    document.title = "sensitivity";
    document.facts = {"how far one cost alone may move, within its physical range, before a "
                      "published conclusion flips; cycles"};
    document.sections = {overview(sensitivity),
                         crossings_section(sensitivity, Flip::sign, "costs that turn the sign"),
                         crossings_section(sensitivity, Flip::size,
                                           "costs that bring the size out of the source's limit")};
    return document;
}

} // namespace uringsim::analysis
