#pragma once

#include "analysis/calibrate.h"

#include <string>

namespace uringsim::analysis {

/// What people read about a calibration: the three kinds of cost apart, residuals, leave-one-out
/// errors. Ends with a newline.
std::string calibration_text(const Calibration& calibration);

} // namespace uringsim::analysis
