#pragma once

#include "analysis/native/validation.h"

#include <string>
#include <vector>

namespace uringsim::analysis::native {

/// What one kernel needs for an operation of a phase, on the kernel and simulated: instructions.
struct KernelFigure {
    double measured = 0;
    double simulated = 0;
};

/// A phase of a case on several kernels, in the order in which they were named.
struct SideBySideRow {
    std::string scenario;
    std::string parameters;
    std::string phase;
    std::vector<KernelFigure> kernels;

    /// What the last kernel needs more than the first, in percent.
    double measured_change() const;
    double simulated_change() const;

    /// Both changes have one sign, or are too small to have one (change_noise_percent).
    bool signs_agree() const;
};

/// A change that is no larger has no sign: what a simulated instruction count may be off.
inline constexpr double change_noise_percent = 1.5;

/// The same cases on several kernels, each with its own design, on one machine.
struct SideBySide {
    std::string machine;
    std::vector<NativeValidation> kernels; ///< the rows of each in the same order
    std::vector<SideBySideRow> rows;       ///< those that were timed

    bool counts_exact() const;
    bool signs_agree() const;
};

/// `kernels`: validations of the same cases, two at least.
SideBySide side_by_side(std::vector<NativeValidation> kernels, std::string machine);

std::string side_by_side_text(const SideBySide& comparison);
std::string side_by_side_markdown(const SideBySide& comparison);
std::string side_by_side_csv(const SideBySide& comparison);

} // namespace uringsim::analysis::native
