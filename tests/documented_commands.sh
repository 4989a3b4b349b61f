#!/usr/bin/env bash
# Runs the commands that the documents show and compares what they print.
# In a ```console block a line "$ command" is run, and the lines up to the next command or the end of
# the block are what it has to print. A line "..." stands for any number of lines.
# With --update the files are rewritten with what the commands print now; what has a "..." stays.
# Commands with --vm need kernel images: they are left out, or with --guests run alone, and status 77
# says that one of them could not.
# usage: documented_commands.sh [--update] [--guests] PROGRAM_DIR FILE...
set -euo pipefail
update=0
guests=0
unavailable=77
[ "$1" != --update ] || { update=1; shift; }
[ "$1" != --guests ] || { guests=1; shift; }
export PATH="$1:$PATH"
shift
failed=0
count=0

check() { # file, line, command, expected
    local actual pattern=${4%$'\n'} status=0
    if { [[ $3 == *' --vm '* ]] && [ $guests -eq 0 ]; } || { [[ $3 != *' --vm '* ]] && [ $guests -eq 1 ]; }; then
        [ -z "$pattern" ] || fresh+="$pattern"$'\n'
        return
    fi
    actual=$(bash -c "$3" 2>/dev/null) || status=$?
    [ $guests -eq 0 ] || [ $status -ne $unavailable ] || exit $unavailable
    count=$((count + 1))
    if [ $update -eq 1 ] && [[ $'\n'$pattern != *$'\n...'* ]]; then
        pattern=$actual
    fi
    [ -z "$pattern" ] || fresh+="$pattern"$'\n'
    if [[ $pattern == *$'\n...\n'* || $pattern == *$'\n...' || $pattern == '...'* ]]; then
        local head=${pattern%%...*} tail=${pattern##*...}
        [[ $actual$'\n' == "$head"* && $'\n'$actual == *"$tail" ]] && return
    elif [ "$actual" == "$pattern" ]; then
        return
    fi
    printf '%s:%s: $ %s\n' "$1" "$2" "$3"
    diff <(printf '%s\n' "$pattern") <(printf '%s\n' "$actual") | head -40 || true
    failed=$((failed + 1))
}

for file in "$@"; do
    inside=0 command="" expected="" number=0 at=0 fresh=""
    while IFS= read -r line || [ -n "$line" ]; do
        number=$((number + 1))
        if [ $inside -eq 0 ]; then
            [ "$line" == '```console' ] && inside=1
            fresh+="$line"$'\n'
            continue
        fi
        if [[ $line == '```' || $line == '$ '* ]]; then
            [ -z "$command" ] || check "$file" "$at" "$command" "$expected"
            command="" expected=""
            fresh+="$line"$'\n'
        fi
        if [ "$line" == '```' ]; then
            inside=0
        elif [[ $line == '$ '* ]]; then
            command=${line#'$ '} at=$number
        elif [ -n "$command" ]; then
            expected+="$line"$'\n'
        fi
    done <"$file"
    [ $update -eq 0 ] || printf '%s' "$fresh" >"$file"
done
echo "$count documented commands, $failed print something else"
[ $failed -eq 0 ] && [ $count -gt 0 ]
