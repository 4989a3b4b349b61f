#pragma once

#include "analysis/library.h"
#include "analysis/schema/shape_recorder.h"
#include "scenarios/strict_json.h"

namespace uringsim::analysis {

/// A file with one of everything that its kind may hold, and what readers asked for when they read
/// it. Its values are of no meaning: most keys are absent, which the readers report to nobody.
struct Skeleton {
    scenarios::JsonNode root;
    ShapeRecorder shapes;

    explicit Skeleton(FileKind kind);
};

} // namespace uringsim::analysis
