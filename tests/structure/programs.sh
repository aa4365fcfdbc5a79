#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# programs.sh: programs in documents (blocks of C with a main()) compile as C11 and
# as C++17.  CC and CXX may be given; a C++ compiler that is missing is no failure.
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

# shellcheck disable=SC2046
awk -v folder="$folder" -f tests/structure/blocks.awk README.md \
    $(find docs -name '*.md')
programs=0
for block in "$folder"/*.c; do
    grep -q 'int main' "$block" || continue
    programs=$((programs + 1))
    compile "${CC:-cc}" -std=c11 "$block"
    ! command -v "${CXX:-c++}" >/dev/null ||
        compile "${CXX:-c++}" -std=c++17 -x c++ "$block"
done
[ $programs -gt 0 ] || { echo "no program found"; status=1; }
echo "$programs programs compile"
exit $status
