#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh MESON BUILD: install to an empty folder, build an example against that
# with pkg-config alone, and run it; with the shared and the static library.
set -u
meson=$1 build=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "FAIL: $*"
    cat "$folder/out" 2>/dev/null
    exit 1
}

# hello PROGRAM: it runs all its tasks on two ranks.
hello() {
    "$root/tools/mpirun" --timeout 60 -n 2 "$1" >"$folder/out" 2>&1 ||
        fail "$1: exit status $?"
    grep -qx '12 tasks ran' "$folder/out" || fail "$1: no '12 tasks ran'"
}

cd "$folder" || exit 1
DESTDIR=$folder/root $meson install -C "$build" --no-rebuild \
    >"$folder/out" 2>&1 || fail "meson install: exit status $?"
description=$(find "$folder/root" -name evenkeel.pc)
[ -f "$description" ] || fail "no evenkeel.pc"
library=$(dirname "$(find "$folder/root" -name libevenkeel.a)")
PKG_CONFIG_PATH=$(dirname "$description")
export PKG_CONFIG_PATH
cp "$root/examples/01_hello.c" .

# What is installed knows neither this repository nor the folder of the build.
grep -r -l -e "$root" -e "$build" "$description" \
    "$folder/root"/*/*/include 2>/dev/null && fail "a path of the build"

# shellcheck disable=SC2046
${CC:-cc} -std=c11 -Wall -Wextra -Werror 01_hello.c -o hello_shared \
    $(pkg-config --cflags --libs evenkeel) >"$folder/out" 2>&1 ||
    fail "compiling with the shared library"
LD_LIBRARY_PATH=$library hello ./hello_shared

# Without the shared one the linker takes the static one.
find "$library" -name 'libevenkeel.so*' -exec rm {} +
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -Wall -Wextra -Werror 01_hello.c -o hello_static \
    $(pkg-config --cflags evenkeel) \
    $(pkg-config --libs --static evenkeel) >"$folder/out" 2>&1 ||
    fail "compiling with the static library"
hello ./hello_static
