#!/usr/bin/env bash
# Host time and memory of sweeps: points of the scenario table-life, which registers a table of 4096 slots
# and installs files into it for the first time (limit x installs x design; first-fill has no parameter
# for a part of a table). Three parts, in one run:
#   1,000 points, REPEATS times by one thread and by two in turns: seconds, the ratio of each turn, and
#     the best; other load on the machine tells in the seconds, less so in those of the CPU
#   10,000 points by one thread and by two: seconds, points a second, the same bytes
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
seconds() { # values of installs, jobs: wall, CPU
    local args TIMEFORMAT='%R %U %S'
    mapfile -t args < <(arguments "$@")
    { time "$program" "${args[@]}" >/dev/null; } 2>&1 | awk '{ print $1, $2 + $3 }'
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
report() { # points; lines of wall and CPU seconds by one thread, then by two
    awk -v points="$1" '{
        ratio = $1 / $3
        if (ratio > best) best = ratio
        printf "%d points: jobs 1 %.1f s (CPU %.1f), jobs 2 %.1f s (CPU %.1f): " \
            "%.0f and %.0f points/s, ratio %.2f\n",
            points, $1, $2, $3, $4, points / $1, points / $3, ratio }
        END { if (NR > 1) printf "best ratio %.2f\n", best }'
}

for ((i = 0; i < repeats; i++)); do
    echo "$(seconds 400..4000+400 1) $(seconds 400..4000+400 2)"
done | report 1000
echo "$(seconds 40..4000+40 1) $(seconds 40..4000+40 2)" | report 10000
cmp "$work/rows.1.jsonl" "$work/rows.2.jsonl"
[ "$(wc -l <"$work/rows.1.jsonl")" -eq 10000 ]
for values in 400..4000+400 40..4000+40; do
    printf 'peak of resident memory at installs=%s: %s KiB\n' "$values" "$(peak "$values")"
done
