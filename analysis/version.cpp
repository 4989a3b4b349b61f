#include "analysis/version.h"

namespace uringsim::analysis {

std::string_view version() {
    return URINGSIM_VERSION;
}

} // namespace uringsim::analysis
