#!/usr/bin/env bash
# Guests are deterministic: the same scenario on the same kernel image prints the same bytes, times
# and counts. Exit status 77 where no image has been fetched or guests cannot run.
# usage: guest_bytes.sh PROGRAM [VERSION...]
set -euo pipefail
program=$1
shift
[ $# -gt 0 ] || set -- 6.18 6.12 6.1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ran=0
for version in "$@"; do
    for turn in 1 2; do
        status=0
        "$program" native --vm "$version" first-fill --param slots=64 --param rounds=4 --format json \
            -o "$work/$turn" 2>"$work/error" || status=$?
        [ $status -ne 77 ] || { cat "$work/error"; break; }
        [ $status -eq 0 ] || { cat "$work/error"; exit 1; }
    done
    [ $status -eq 0 ] || continue
    cmp "$work/1" "$work/2" || { echo "kernel $version: two runs print different bytes"; exit 1; }
    echo "kernel $version: two runs print the same $(wc -c <"$work/1") bytes"
    ran=$((ran + 1))
done
[ $ran -gt 0 ] || exit 77
