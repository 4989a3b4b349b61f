#!/usr/bin/env bash
# No message is lost or doubled: ten million through a CQ of one entry, on every design, to rings with
# and without DEFER_TASKRUN. The receiver counts each one; a run in which one is missing or comes twice
# fails. Minutes, so the default tests send fewer.
# usage: ten_million_messages.sh PROGRAM [MESSAGES]
set -euo pipefail
program=$1
messages=${2:-10000000}
designs=$("$program" list designs | awk '/^[^ ]/ { print $1 }')
failed=$(for target in plain defer; do
    for design in $designs; do
        echo "$target $design"
    done
done | xargs -P "$(nproc)" -L 1 bash -c '
    "$0" run msg-ring-flood --param messages="$1" --param cq_entries=1 --param target="$2" \
        --design "$3" --format csv >/dev/null 2>&1 || echo "$3, $2"' "$program" "$messages")
if [ -n "$failed" ]; then
    printf 'messages were lost or doubled, or the run stopped:\n%s\n' "$failed"
    exit 1
fi
echo "$(wc -w <<<"$designs") designs, plain and defer: $messages messages each, every one once"
