#pragma once

#include <string>
#include <vector>

namespace uringsim::analysis::native {

/// Where tests/guest-image.sh puts kernel images: $XDG_CACHE_HOME or ~/.cache, /uringsim/guests.
std::string guest_image_folder();

/// Of these file names, the newest image of a kernel whose release begins with `version`
/// ("6.12": 6.12.117 and not 6.1 or 6.120); empty where there is none.
std::string newest_image(const std::vector<std::string>& names, const std::string& version);

/// A file is its own name; "6.12" is the newest such image in the folder above. What is neither
/// comes back as it is, for the run to say that it cannot be read.
std::string find_guest_image(const std::string& kernel);

} // namespace uringsim::analysis::native
