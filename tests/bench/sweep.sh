#!/usr/bin/env bash
# Host time and memory of sweeps: 10,000 points of a first fill of tables of 4096 slots (limit x
# installs x design), by one thread and by two, the ratio of the two, and the peak of memory at a
# tenth of the points and at all.
# usage: sweep.sh PROGRAM [POINTS_OF_EACH_AXIS_DIVIDED_BY]
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
designs=linux-6.18,rfc-0001,rfc-0001+0002,rfc-0001+0002+0003,own-raised-limit

sweep() { # last installs, jobs, output
    "$program" sweep table-life --designs "$designs" --axis node_cache.limit=32..640+32 \
        --axis "param:installs=40..$1+40" --jobs "$2" -o "$3"
}
seconds() { # command...
    local start
    start=$(date +%s%N)
    "$@" >/dev/null
    echo $((($(date +%s%N) - start) / 1000000))
}
peak() { # command...: the most resident memory in KiB
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}

for run in 1 2; do
    one=$(seconds sweep 4000 1 "$work/one.jsonl")
    two=$(seconds sweep 4000 2 "$work/two.jsonl")
    cmp "$work/one.jsonl" "$work/two.jsonl"
    rows=$(wc -l <"$work/one.jsonl")
    awk -v rows="$rows" -v one="$one" -v two="$two" 'BEGIN {
        printf "%d points: jobs 1 %.1f s (%.0f points/s), jobs 2 %.1f s (%.0f points/s), ratio %.2f\n",
            rows, one / 1000, rows * 1000 / one, two / 1000, rows * 1000 / two, one / two }'
done
for last in 400 4000; do
    printf '%s points: peak %s KiB\n' $((last / 40 * 100)) \
        "$(peak "$program" sweep table-life --designs "$designs" --axis node_cache.limit=32..640+32 \
            --axis "param:installs=40..$last+40" --param rounds=1 --jobs 2 -o "$work/peak.jsonl")"
done
