#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# abi.sh MESON: programs that were built for the last release, the last tag v* of
# this history, run with this library, too.  abidiff compares both as the public
# headers show them, but for what abi.suppr allows.  77: there is no such tag, or no
# abidiff, or the soname has changed.
set -u
meson=$1
cd "$(dirname "$0")/../.." || exit 1

skip() {
    echo "not compared: $*"
    exit 77
}

tag=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null) ||
    skip 'there is no tag v*'
command -v abidiff >/dev/null || skip 'no abidiff (Debian: abigail-tools)'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# build NAME SOURCE: the library alone, for a debugger.
build() {
    $meson setup "$folder/$1" "$2" -Dbuildtype=debug -Dtests=false \
        -Dtools=false -Dexamples=false -Dstatic=false >"$folder/log" 2>&1 &&
        $meson compile -C "$folder/$1" -j 2 >"$folder/log" 2>&1 && return
    tail -n 30 "$folder/log"
    echo "cannot build $1"
    exit 1
}
mkdir "$folder/source"
git archive "$tag" | tar -x -C "$folder/source"
build old "$folder/source"
build new .
old=$folder/old/src/libevenkeel.so new=$folder/new/src/libevenkeel.so

soname() {
    readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'
}
[ "$(soname "$old")" = "$(soname "$new")" ] ||
    skip "$tag is $(soname "$old"), this is $(soname "$new")"

abidiff --no-added-syms --suppressions tests/structure/abi.suppr \
    --headers-dir1 "$folder/source/include" --headers-dir2 include \
    "$old" "$new" || exit 1
echo "programs built for $tag run with this library"
