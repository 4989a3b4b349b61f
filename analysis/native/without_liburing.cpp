#include "analysis/native/program.h"

// Built in place of analysis/native/uring/ where liburing is not there.

namespace uringsim::analysis::native {

std::optional<std::string> why_unavailable() {
    return "this uringsim was built without liburing; install liburing-dev (2.3 or later) and "
           "build again";
}

Record run_program(const scenarios::Scenario& /*scenario*/, const ProgramOptions& /*options*/) {
    Record record;
    record.missing = why_unavailable();
    return record;
}

} // namespace uringsim::analysis::native
