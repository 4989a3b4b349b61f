#!/usr/bin/env bash
# Every machine that names free costs is, byte for byte, what calibrate makes of the published figures.
# usage: refit.sh PROGRAM MACHINES_DIR
set -euo pipefail
program=$1
fitted=0
for file in "$2"/*.json; do
    grep -q '"calibration"' "$file" || continue
    fitted=$((fitted + 1))
    "$program" calibrate --from published --machine "$(basename "$file" .json)" 2>/dev/null |
        cmp - "$file"
done
echo "$fitted machines refitted"
[ $fitted -gt 0 ]
