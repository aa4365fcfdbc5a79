#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No status is dropped in the README's programs and in the examples, and no
# failure is said that Evenkeel has said; 77 where no compiler tells.
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
awk -v folder="$folder" '
    /^```c( .*)?$/ { n++; in_code = 1; next }
    /^```$/ { in_code = 0 }
    in_code { print > (folder "/readme" n ".c") }' README.md

files=0
for file in "$folder"/readme*.c cli/*.c examples/*.c examples/*/*.c \
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
