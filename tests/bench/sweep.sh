#!/usr/bin/env bash
# Host time and memory of sweeps: points of a first fill of tables of 4096 slots (limit x installs x
# design). Three parts, in one run:
#   10,000 points by one thread and by two: seconds, points a second, the same bytes
#   1,000 points, REPEATS times by one thread and by two in turns: the ratio of each turn, and the best
#     (other load on the machine only lowers it)
#   the peak of resident memory at 1,000 points and at 10,000
# usage: sweep.sh PROGRAM [REPEATS]
set -euo pipefail
program=$1
repeats=${2:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
designs=linux-6.18,rfc-0001,rfc-0001+0002,rfc-0001+0002+0003,own-raised-limit

arguments() { # values of installs, jobs
    printf '%s\n' sweep table-life --designs "$designs" --axis node_cache.limit=32..640+32 \
        --axis "param:installs=$1" --jobs "$2" -o "$work/rows.$2.jsonl"
}
milliseconds() { # values of installs, jobs
    local start args
    mapfile -t args < <(arguments "$@")
    start=$(date +%s%N)
    "$program" "${args[@]}" >/dev/null
    echo $((($(date +%s%N) - start) / 1000000))
}
peak() { # values of installs: KiB, as the kernel says just before the end
    local args pid now high=0
    mapfile -t args < <(arguments "$1" 2)
    "$program" "${args[@]}" --param rounds=1 >/dev/null &
    pid=$!
    while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$now" ]; do
        high=$now
        sleep 0.05
    done
    wait "$pid"
    echo "$high"
}

echo "load average: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) CPUs"
one=$(milliseconds 40..4000+40 1)
two=$(milliseconds 40..4000+40 2)
cmp "$work/rows.1.jsonl" "$work/rows.2.jsonl"
rows=$(wc -l <"$work/rows.1.jsonl")
awk -v rows="$rows" -v one="$one" -v two="$two" 'BEGIN {
    printf "%d points: jobs 1 %.1f s (%.0f points/s), jobs 2 %.1f s (%.0f points/s), ratio %.2f\n",
        rows, one / 1000, rows * 1000 / one, two / 1000, rows * 1000 / two, one / two }'
for ((i = 0; i < repeats; i++)); do
    echo "$(milliseconds 400..4000+400 1) $(milliseconds 400..4000+400 2)"
done | awk '{ ratio = $1 / $2; if (ratio > best) best = ratio
    printf "1000 points: jobs 1 %.1f s, jobs 2 %.1f s, ratio %.2f\n", $1 / 1000, $2 / 1000, ratio }
    END { if (NR > 0) printf "best ratio %.2f\n", best }'
for values in 400..4000+400 40..4000+40; do
    printf 'peak of resident memory at installs=%s: %s KiB\n' "$values" "$(peak "$values")"
done
