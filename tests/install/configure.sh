#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# configure.sh MESON MPI-COMPILER: `meson setup` where MPI is a compiler alone,
# where there is none, and with a sanitizer that the compiler does not have.
set -u
meson=$1 compiler=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "FAIL: $*"
    cat "$folder/out"
    exit 1
}

# setup OPTION...: of the library alone.
setup() {
    rm -rf "$folder/build"
    $meson setup "$folder/build" "$root" -Dexamples=false -Dtools=false \
        "$@" >"$folder/out" 2>&1
}

setup -Dtests=false "-Dmpi=$compiler" || fail "-Dmpi=$compiler"
description=$folder/build/meson-private/evenkeel.pc
! grep '^Requires:' "$description" || fail 'requires what has no .pc'
grep '^Libs: .* -l[a-z]*mpi' "$description" >/dev/null ||
    fail "no library of MPI: $(cat "$description")"

# Without a pkg-config file of any MPI.
! command -v mpicc >/dev/null ||
    PKG_CONFIG_LIBDIR=$folder setup -Dtests=false || fail 'mpicc alone'

setup -Dtests=false -Dmpi=nowhere && fail 'an MPI that is not there'
grep -q 'no MPI found with -Dmpi=nowhere; install one' "$folder/out" ||
    fail 'no word of what to do'

if command -v gcc >/dev/null; then
    CC=gcc setup -Db_sanitize=thread && fail 'the thread sanitizer of gcc'
    grep -q 'the thread sanitizer needs clang' "$folder/out" ||
        fail 'no word of what it needs'
fi
exit 0
