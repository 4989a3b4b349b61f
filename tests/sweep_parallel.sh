#!/usr/bin/env bash
# The recipe of docs/sweeps.md: shards run by GNU parallel and merged equal the sweep in one.
# usage: sweep_parallel.sh PROGRAM WORK_DIR
# Exit 77 where GNU parallel is not installed.
set -euo pipefail
program=$1
work=$2
parallel --version 2>/dev/null | grep -q 'GNU parallel' || {
    echo "skipped: GNU parallel is missing (apt-get install parallel)"
    exit 77
}
mkdir -p "$work"
cd "$work"
rm -f shard.*.jsonl merged.jsonl whole.jsonl
arguments="first-fill --param rounds=2 --axis node_cache.limit=0,32..512x2 --axis param:slots=64..512x2 --designs linux-6.18,rfc-0001"
parallel --will-cite -j 2 "'$program' sweep $arguments --shard {}/5 --resume -o shard.{}.jsonl" ::: 1 2 3 4 5 >/dev/null
"$program" merge shard.*.jsonl -o merged.jsonl
"$program" sweep $arguments -o whole.jsonl >whole.txt
cmp merged.jsonl whole.jsonl
# Resuming a merged file runs nothing and prints the summary of the whole.
"$program" sweep $arguments --resume -o merged.jsonl | cmp - whole.txt
cmp merged.jsonl whole.jsonl
echo "$(wc -l <merged.jsonl) rows of 5 shards are those of the whole"
