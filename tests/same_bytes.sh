#!/usr/bin/env bash
# Every shipped scenario and design gives the same JSON bytes from gcc and clang, -O0 and -O3, and
# ten times over.
# usage: same_bytes.sh SOURCE_DIR RELEASE_PROGRAM WORK_DIR
# Exit 77 where there is no clang to compare with.
set -euo pipefail
source=$1
release=$2
work=$3
command -v clang++ >/dev/null || {
    echo "skipped: clang++ is missing (apt-get install clang)"
    exit 77
}
mkdir -p "$work"

build() { # name, compiler, build type
    cmake -S "$source" -B "$work/$1" -G Ninja -DCMAKE_CXX_COMPILER="$2" -DCMAKE_BUILD_TYPE="$3" \
        -DBUILD_TESTING=OFF >"$work/$1.log" 2>&1
    cmake --build "$work/$1" --target uringsim >>"$work/$1.log" 2>&1 || {
        tail -40 "$work/$1.log"
        exit 1
    }
}

build gcc-O0 g++ Debug
build clang-O0 clang++ Debug
build clang-O3 clang++ Release

# Few rounds: what differs between compilers differs at once.
shorter() { # scenario: the parameters that make it short, where it has them
    local parameter
    for parameter in rounds=3 seconds=1; do
        if grep -q "\"${parameter%=*}\": *{" "$source/scenarios/$1.json"; then
            printf -- '--param %s ' "$parameter"
        fi
    done
}

differences=0
runs=0
same() { # arguments of `run`
    local status other build
    # What a design refuses has to be refused in the same words everywhere.
    "$release" run "$@" --format json >"$work/gcc-O3.out" 2>&1 && status=0 || status=$?
    for build in gcc-O0 clang-O0 clang-O3; do
        "$work/$build/uringsim" run "$@" --format json >"$work/$build.out" 2>&1 && other=0 || other=$?
        if [ $status -ne $other ] || ! cmp -s "$work/gcc-O3.out" "$work/$build.out"; then
            echo "run $*: $build differs from gcc -O3"
            differences=$((differences + 1))
        fi
        runs=$((runs + 1))
    done
}

for scenario in $("$release" list scenarios | awk '/^[^ ]/ { print $1 }'); do
    # shellcheck disable=SC2046 # words wanted
    same "$scenario" $(shorter "$scenario")
done
for design in $("$release" list designs | awk '/^[^ ]/ { print $1 }'); do
    same first-fill --param rounds=3 --design "$design"
    same remove-refill --param rounds=3 --design "$design"
done
"$release" run first-fill --format json >"$work/first.out"
for _ in 2 3 4 5 6 7 8 9 10; do
    "$release" run first-fill --format json | cmp - "$work/first.out" || differences=$((differences + 1))
    runs=$((runs + 1))
done
echo "$runs comparisons, $differences differences"
[ $differences -eq 0 ]
