#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# readme.sh: the README's programs compile, as C++, too, and its files exist.
set -u
cd "$(dirname "$0")/../.." || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0

# compile COMPILER OPTION... FILE
compile() {
    # shellcheck disable=SC2046,SC2068,SC2086
    $@ -Wall -Wextra -Werror -fsyntax-only -I include \
        ${MPI_CFLAGS-$(pkg-config --cflags ompi-c)} || status=1
}

# Blocks of C that are whole programs.
awk -v folder="$folder" '
    /^```c( .*)?$/ { n++; in_code = 1; next }
    /^```$/ { in_code = 0 }
    in_code { print > (folder "/block" n ".c") }' README.md
programs=0
for block in "$folder"/block*.c; do
    grep -q 'int main' "$block" || continue
    programs=$((programs + 1))
    compile "${CC:-cc}" -std=c11 "$block"
    ! command -v "${CXX:-c++}" >/dev/null ||
        compile "${CXX:-c++}" -std=c++17 -x c++ "$block"
done
[ $programs -gt 0 ] || { echo "README.md: no program found"; status=1; }

# Links to files, and commands of this repository.
for file in $(
    grep -oE '\]\([^):#]+\)' README.md | sed 's/^](//; s/)$//'
    grep -oE '\b(tools|examples|tests|docs)/[A-Za-z0-9_./-]+' README.md |
        sed 's/[.]$//'
); do
    [ -e "$file" ] || [ -e "$file.c" ] || grep -q "build/$file" README.md ||
        { echo "README.md: no file $file"; status=1; }
done
exit $status
