#!/usr/bin/env bash
# The includes run one way: sim <- models <- scenarios <- analysis, and sim does not know io_uring.
# usage: layers.sh SOURCE_DIR
set -euo pipefail
cd "$1"
failed=0

forbid() { # folder, pattern, what it means
    local hits
    hits=$(grep -rnE "$2" --include='*.h' --include='*.cpp' "$1" || true)
    if [ -n "$hits" ]; then
        printf '%s:\n%s\n' "$3" "$hits"
        failed=1
    fi
}

include='#include *[<"]'
forbid sim "$include(models|scenarios|analysis)/" "sim includes a layer above it"
forbid models "$include(scenarios|analysis)/" "models include a layer above them"
forbid scenarios "${include}analysis/" "scenarios include analysis"
forbid sim '[iI]o_uring|rsrc|[sc]qe|msg_ring|nlohmann|iostream' "sim speaks of io_uring, JSON or I/O"
for layer in sim models scenarios; do
    forbid "$layer" 'std::(uniform_|normal_|exponential_|poisson_|discrete_)|unordered_(map|set)|random_device|(system|steady)_clock' \
        "$layer uses what differs from run to run"
done
exit $failed
