#pragma once

#include "analysis/library.h"
#include "analysis/published.h"
#include "models/primitives.h"
#include "scenarios/strict_json.h"

#include <optional>
#include <string>
#include <vector>

namespace uringsim::analysis {

/// What happens to a conclusion where one cost alone leaves its place.
enum class Flip {
    sign, ///< the change becomes one to the other side
    size, ///< it comes to differ from the published one by more than the source's limit of points
};

/// Where a cost would have to be for a conclusion to flip, all other costs as they are.
struct Crossing {
    models::Primitive primitive{};
    Flip flip = Flip::size;
    double now_cycles = 0;
    double at_cycles = 0; ///< within the physical range of the primitive table
};

/// A published change of a phase between two designs: a figure in percent, or two figures of which
/// one names the other by "against".
struct Conclusion {
    std::string id; ///< of the figure on the changed design
    std::string source;
    std::string scenario;
    std::string phase;
    std::string design;
    std::string baseline;
    double published = 0;            ///< percent
    double simulated = 0;            ///< percent
    double noise = 0;                ///< percentage points
    double points = 0;               ///< what the size may be off
    bool has_sign = false;           ///< the published change is larger than its noise
    bool size_holds = true;          ///< as the costs are now
    std::vector<Crossing> crossings; ///< nearest first, in shares of the cost
};

struct Sensitivity {
    std::vector<Conclusion> conclusions; ///< in the order of the files
    /// Figures whose phases are no sums of costs, and so cannot be told without new runs.
    std::vector<std::string> no_sums;
};

/// How far each cost may move within its range before a conclusion of the files flips. On one CPU a
/// change of t is where the counts of both designs, each times its cost, make
/// new - (1 + t) old = 0: linear in every cost, so the crossings are exact and need no runs beyond
/// those of the figures. Nothing after reporting. Throws scenarios::RunError.
std::optional<Sensitivity> sensitivity(const Library& library,
                                       const std::vector<PublishedFile>& files, unsigned jobs,
                                       scenarios::Diagnostics& diagnostics);

} // namespace uringsim::analysis
