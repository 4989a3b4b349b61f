#!/bin/bash
# Fetches Debian kernel images for `uringsim native --vm` and unpacks each to an ELF image in a
# cache folder outside the tree. Nothing is installed.
#
#   tests/guest-image.sh [--suite SUITE] [--flavour cloud-amd64] [--cache DIR] VERSION...
#
# VERSION is the start of a kernel release ("6.1", "6.12", "6.18"); the newest package of it that
# the suites configured on this machine have is taken. With --suite, packages come from that suite
# of the same archive (such as trixie-backports), with lists of its own: the machine's are not
# changed. Prints the path of each image. Exit status 77 where a package cannot be had.
set -euo pipefail

suite=
flavour=cloud-amd64
cache=${XDG_CACHE_HOME:-$HOME/.cache}/uringsim/guests
versions=()
while [ $# -gt 0 ]; do
    case $1 in
    --suite) suite=$2; shift 2 ;;
    --flavour) flavour=$2; shift 2 ;;
    --cache) cache=$2; shift 2 ;;
    -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "guest-image.sh: there is no option $1" >&2; exit 2 ;;
    *) versions+=("$1"); shift ;;
    esac
done
[ ${#versions[@]} -gt 0 ] || { echo "guest-image.sh: a kernel version is missing" >&2; exit 2; }
command -v apt-get >/dev/null || { echo "guest-image.sh: this machine has no apt" >&2; exit 77; }
mkdir -p "$cache"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The archive that this machine uses, from its own configuration.
archive() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/\?$' | head -n 1
}

use_suite() {
    local uri
    uri=$(archive)
    [ -n "$uri" ] || { echo "guest-image.sh: no Debian archive is configured" >&2; exit 77; }
    mkdir -p "$work/lists/partial" "$work/archives/partial"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $suite main" \
        >"$work/sources.list"
    cat >"$work/apt.conf" <<CONF
Dir::State::lists "$work/lists";
Dir::Cache "$work";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
CONF
    export APT_CONFIG=$work/apt.conf
    apt-get -qq -o APT::Sandbox::User=root update >&2 || { echo "guest-image.sh: suite $suite cannot be had" >&2; exit 77; }
}

# The newest package of a version that can be downloaded.
package_of() {
    local pattern="^linux-image-${1//./\\.}[.+-].*-${flavour}\$"
    if [ "$flavour" = amd64 ]; then
        pattern="^linux-image-${1//./\\.}[.+-][^a-z]*(\\+deb[0-9]+(\\+[0-9]+)?)?-amd64\$"
    fi
    apt-cache --names-only search "$pattern" | cut -d' ' -f1 | sort -rV | while read -r name; do
        if ! apt-cache policy "$name" | grep -q 'Candidate: (none)'; then
            echo "$name"
            break
        fi
    done
}

# A bzImage holds a compressed ELF image: find where it starts by its magic.
unpack_kernel() {
    local from=$1 to=$2 magic tool offset
    while read -r magic tool; do
        command -v "${tool%% *}" >/dev/null || continue
        for offset in $(LC_ALL=C grep -aobP "$magic" "$from" | cut -d: -f1); do
            tail -c +$((offset + 1)) "$from" | $tool >"$to.part" 2>/dev/null || true
            if [ "$(head -c 4 "$to.part" | tail -c 3)" = ELF ]; then
                mv "$to.part" "$to"
                return 0
            fi
        done
    done <<'MAGICS'
\xfd7zXZ\x00 unxz
\x28\xb5\x2f\xfd unzstd
\x1f\x8b\x08 gunzip
\x02\x21\x4c\x18 unlz4
MAGICS
    rm -f "$to.part"
    return 1
}

[ -z "$suite" ] || use_suite
for version in "${versions[@]}"; do
    package=$(package_of "$version")
    if [ -z "$package" ]; then
        echo "guest-image.sh: no package linux-image-$version*-$flavour in the configured suites" \
            "(apt-get update first, or --suite)" >&2
        exit 77
    fi
    image=$cache/${package#linux-image-}.elf
    if [ ! -s "$image" ]; then
        (cd "$work" && apt-get -qq -o APT::Sandbox::User=root download "$package" >&2 2>"$work/log") ||
            { cat "$work/log" >&2; exit 77; }
        dpkg-deb --fsys-tarfile "$work/$package"_*.deb |
            tar -x -C "$work" --wildcards './boot/vmlinuz-*'
        unpack_kernel "$work"/boot/vmlinuz-* "$image" ||
            { echo "guest-image.sh: $package: no unpacker for its kernel image" \
                "(xz-utils, zstd, gzip, lz4)" >&2; exit 77; }
        rm -rf "$work"/boot "$work"/*.deb
    fi
    echo "$image"
done
