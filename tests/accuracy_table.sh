#!/usr/bin/env bash
# The accuracy tables in the documents are what `uringsim validate` prints.
# A table stands between a line "<!-- accuracy: COMMAND -->" and a line "<!-- accuracy end -->";
# COMMAND's Markdown is put there without its title, its headings one level lower.
# usage: accuracy_table.sh [--update] PROGRAM_DIR FILE...
set -euo pipefail
update=no
if [ "$1" == --update ]; then
    update=yes
    shift
fi
export PATH="$1:$PATH"
shift
tables=0 stale=0
for file in "$@"; do
    wanted=$(mktemp)
    inside=no
    while IFS= read -r line || [ -n "$line" ]; do
        if [[ $line == '<!-- accuracy: '*' -->' ]]; then
            inside=yes
            tables=$((tables + 1))
            command=${line#'<!-- accuracy: '}
            printf '%s\n\n' "$line"
            # A broken gate (status 1) is another test's matter; the table shows it.
            status=0
            printed=$(bash -c "${command%' -->'}") || status=$?
            [ $status -le 1 ] && [ -n "$printed" ] || {
                echo "$file: ${command%' -->'} failed" >&2
                exit 1
            }
            sed -e '/^# /,/^$/d' -e 's/^## /### /' <<<"$printed"
            printf '\n'
        elif [ "$line" == '<!-- accuracy end -->' ]; then
            inside=no
        fi
        [ $inside == yes ] || printf '%s\n' "$line"
    done <"$file" >"$wanted"
    [ $inside == no ] || {
        echo "$file: a table has no <!-- accuracy end -->"
        exit 1
    }
    if ! cmp -s "$wanted" "$file"; then
        if [ $update == yes ]; then
            cat "$wanted" >"$file"
        else
            diff "$file" "$wanted" | head -40 || true
            echo "$file: run tests/accuracy_table.sh --update"
            stale=$((stale + 1))
        fi
    fi
    rm -f "$wanted"
done
echo "$tables accuracy tables, $stale files out of date"
[ $stale -eq 0 ] && [ $tables -gt 0 ]
