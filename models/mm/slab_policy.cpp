#include "models/mm/slab_policy.h"

#include "models/mm/sheaves.h"
#include "models/mm/slab_classic.h"
#include "models/mm/slub.h"

#include <stdexcept>

namespace uringsim::models {

std::unique_ptr<KmemCache> make_slab_cache(const SlabCacheSpec& spec,
                                           const SlabEnvironment& environment) {
    switch (environment.design.slab_policy) {
    case SlabKind::slub:
        return std::make_unique<Slub>(spec, environment);
    case SlabKind::slab:
        return std::make_unique<SlabClassic>(spec, environment);
    case SlabKind::sheaves:
        return std::make_unique<Sheaves>(spec, environment);
    }
    throw std::logic_error("no such slab allocator");
}

} // namespace uringsim::models
