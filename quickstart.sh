#!/usr/bin/env bash
# Installs what is missing, builds, and runs the main job:
#   ./quickstart.sh         the RFC's table: four designs on three workloads
#   ./quickstart.sh test    the same set-up, then all tests
# Made for Debian 12; elsewhere install the packages below by your own means.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
    echo "usage: ./quickstart.sh [run|test]" >&2
    exit 2
}

build_packages=(g++ cmake ninja-build libboost-dev libboost-program-options-dev
    nlohmann-json3-dev libfmt-dev libeigen3-dev doctest-dev)
# For the tests: the optional parts.
test_packages=(libbenchmark-dev liburing-dev)

job=${1:-run}
[ $# -le 1 ] || usage
case $job in
run) packages=("${build_packages[@]}") ;;
test) packages=("${build_packages[@]}" "${test_packages[@]}") ;;
*) usage ;;
esac

installed() {
    dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed
}

install_missing() {
    command -v dpkg-query >/dev/null || {
        echo "quickstart: this is no Debian system; it needs: ${packages[*]}" >&2
        return 0
    }
    local missing=() package
    for package in "${packages[@]}"; do
        installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    echo "quickstart: installing with apt: ${missing[*]}" >&2
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

build() {
    echo "quickstart: building build/release/uringsim" >&2
    cmake --preset release >&2
    cmake --build --preset release >&2
}

run_main_job() {
    local designs=linux-6.18,rfc-0001,rfc-0001+0002,rfc-0001+0002+0003
    local uringsim=build/release/uringsim
    "$uringsim" compare first-fill --designs "$designs"
    echo
    "$uringsim" compare remove-refill --designs "$designs"
    echo
    "$uringsim" compare register-many-install-few --param installs=4096 --param gap_us=50000 \
        --designs "$designs"
    echo
    "$uringsim" compare register-many-install-few --param installs=64 --param gap_us=50000 \
        --designs "$designs"
}

install_missing
build
case $job in
run) run_main_job ;;
test) ctest --preset release ;;
esac
