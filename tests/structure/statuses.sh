#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs in documents and the examples drop no status, and do not repeat what
# Evenkeel has said of a failure; 77 if no compiler tells.
set -u
cd "$(dirname "$0")/../.." || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if grep -rnE 'ek_error_message ?\(\)' README.md examples; then
    echo 'Evenkeel has said it: a second time'
    exit 1
fi
mpi=$(echo "${MPI_CFLAGS-$(pkg-config --cflags ompi-c)}" |
    sed 's/-I/-isystem /g')

# dropped FILE: the lines that drop one.
dropped() {
    case $1 in
    *.cc) compiler="${CXX:-c++} -std=c++17" ;;
    *) compiler="${CC:-cc} -std=c2x" ;;
    esac
    # Of the compiler's words only these matter: it may not know all headers.
    # shellcheck disable=SC2086
    $compiler -fsyntax-only -Wunused-result -I include -I examples $mpi \
        "$1" 2>&1 | grep -E 'warning: ignoring return value'
}

cat >"$folder/dropping.c" <<EOF
#include <evenkeel.h>
void drop(void);
void drop(void)
{
    ek_clear(NULL);
}
EOF
if [ -z "$(dropped "$folder/dropping.c")" ]; then
    echo "${CC:-cc} does not tell of statuses that are dropped"
    exit 77
fi
# shellcheck disable=SC2046
awk -v folder="$folder" -f tests/structure/blocks.awk README.md \
    $(find docs -name '*.md')

files=0
for file in "$folder"/*.md.*.c cli/*.c examples/*.c examples/*/*.c \
    examples/*.cc examples/*/*.cc; do
    files=$((files + 1))
    dropped "$file" >>"$folder/found"
done
[ $files -gt 10 ] || { echo "only $files files were found"; exit 1; }
if [ -s "$folder/found" ]; then
    cat "$folder/found"
    exit 1
fi
echo "$files files look at every status"
