#pragma once

#include "sim/memory.h"

namespace uringsim::models {

/// The instructions of the kernel's paths on one CPU: groups of lines that cool over an idle gap.
///
/// Weights are lines of 64 bytes that a call runs through. The first two are assumed (prototypes on
/// 6.18 touched that many); node_refill is the size of __kmem_cache_alloc_bulk (560 bytes) and
/// kmem_cache_alloc_bulk_noprof (960 bytes) by the symbol table of a 6.18 kernel, with some 400
/// bytes for the refill of the RFC around them.
struct CodePaths {
    sim::LineGroup submit{.weight = 350, .kind = sim::LineKind::code};
    sim::LineGroup registration{.weight = 230, .kind = sim::LineKind::code};
    sim::LineGroup node_refill{.weight = 30, .kind = sim::LineKind::code};
};

} // namespace uringsim::models
