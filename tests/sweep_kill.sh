#!/usr/bin/env bash
# Kills a sweep with SIGKILL at random moments, resumes it, and compares with the sweep that nobody
# killed: the same bytes each time. Ctrl-C ends one with status 130 and a file to resume. Where there is
# no memory for so many threads, fewer do it.
# usage: sweep_kill.sh PROGRAM WORK_DIR [KILLS]
set -euo pipefail
program=$1
work=$2
kills=${3:-100}
mkdir -p "$work"
rm -f "$work"/rows* "$work"/whole*
RANDOM=1 # the moments are the same from run to run as far as the machine allows

# An array and no function: a function in the background is a shell, and the kill would be the shell's.
sweep=("$program" sweep remove-refill --param rounds=2 --axis node_cache.limit=0,8..1024x2
    --axis param:slots=64..512x2 --designs linux-6.18,rfc-0001+0002+0003)

failed=0
landed=0
for format in jsonl csv; do
    whole=$work/whole.$format
    start=$(date +%s%N)
    "${sweep[@]}" -o "$whole" >"$work/whole.out" 2>/dev/null
    length_us=$((($(date +%s%N) - start) / 1000))
    size=$(stat -c %s "$whole")
    for ((i = 0; i < kills / 2; i++)); do
        rows=$work/rows.$format
        rm -f "$rows" "$rows.kept"
        "${sweep[@]}" -o "$rows" --jobs $((i % 2 + 1)) >/dev/null 2>&1 &
        pid=$!
        sleep "$(printf '0.%06d' $(((RANDOM * 32768 + RANDOM) % length_us % 1000000)))"
        kill -KILL $pid 2>/dev/null || true
        wait $pid 2>/dev/null || true
        left=$(stat -c %s "$rows" 2>/dev/null || echo 0)
        [ "$left" -gt 0 ] && [ "$left" -lt "$size" ] && landed=$((landed + 1))
        "${sweep[@]}" -o "$rows" --resume --jobs 2 >"$work/rows.out" 2>"$work/rows.err"
        if ! cmp "$rows" "$whole" || ! cmp "$work/rows.out" "$work/whole.out"; then
            failed=$((failed + 1))
        fi
    done
done

rows=$work/rows.interrupted.jsonl
"$program" sweep remove-refill --param rounds=20000 --axis node_cache.limit=0..63 --jobs 2 \
    --param slots=8 -o "$rows" >/dev/null 2>"$work/interrupted.err" &
pid=$!
sleep 0.3
kill -INT $pid
wait $pid && status=0 || status=$?
if [ $status -ne 130 ] || ! grep -q -- '--resume runs the rest' "$work/interrupted.err"; then
    echo "Ctrl-C ended with status $status"
    cat "$work/interrupted.err"
    failed=$((failed + 1))
fi
if [ -s "$rows" ] && [ "$(tail -c 1 "$rows" | wc -l)" -ne 1 ]; then
    echo "Ctrl-C left an incomplete row"
    failed=$((failed + 1))
fi
# A system that gives fewer threads than asked for: fewer run, the bytes are the same, and it is said.
limited() { (ulimit -v 2000000 && exec "$program" "$@"); }
if limited --version >/dev/null 2>&1; then # a sanitizer's build needs more to begin with
    many=(sweep remove-refill --param rounds=1 --param slots=8 --axis node_cache.limit=0..1500)
    "$program" "${many[@]}" >"$work/whole.many"
    limited "${many[@]}" --jobs 1024 >"$work/rows.many" 2>"$work/many.err" && status=0 || status=$?
    if [ $status -ne 0 ] || ! cmp "$work/rows.many" "$work/whole.many" ||
        ! grep -q 'did not give 1024 threads' "$work/many.err"; then
        echo "1024 threads in little memory ended with status $status"
        cat "$work/many.err"
        failed=$((failed + 1))
    fi
fi
echo "$kills kills, $landed of them in the middle of the rows, $failed failures"
[ $failed -eq 0 ] && [ $landed -gt 0 ]
