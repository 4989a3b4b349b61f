#pragma once

#include "models/mm/slab.h"

#include <memory>

namespace uringsim::models {

/// Makes a cache of the slab allocator that the design asks for by `slab.policy`: Slub, SlabClassic
/// or Sheaves. To add one: a file with a class behind KmemCache, a value of SlabKind with its name
/// in the knob's choices, and a line here.
std::unique_ptr<KmemCache> make_slab_cache(const SlabCacheSpec& spec,
                                           const SlabEnvironment& environment);

} // namespace uringsim::models
