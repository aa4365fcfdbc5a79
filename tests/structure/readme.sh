#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# readme.sh PRINT_OPTIONS [--write]: the README's option table is the library's
# own (--write: make it so), its programs compile, as C++, too, its files exist.
set -u
print_options=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/../.." || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
begin='<!-- options: begin -->'
end='<!-- options: end -->'

"$print_options" >"$folder/options" || exit 1
if [ "${2:-}" = --write ]; then
    awk -v begin="$begin" -v end="$end" -v table="$folder/options" '
        $0 == end { is_old = 0 }
        !is_old { print }
        $0 == begin { is_old = 1
                      while ((getline line < table) > 0) print line }
        ' README.md >"$folder/README.md" &&
        cat "$folder/README.md" >README.md
    exit
fi

sed -n "/^$begin\$/,/^$end\$/p" README.md | sed '1d;$d' >"$folder/readme"
if ! diff "$folder/readme" "$folder/options"; then
    echo "README.md: other options; tests/structure/readme.sh" \
        "$print_options --write"
    status=1
fi

# compile COMPILER OPTION... FILE
compile() {
    # shellcheck disable=SC2046,SC2068,SC2086
    $@ -Wall -Wextra -Werror -fsyntax-only -I include \
        ${MPI_CFLAGS-$(pkg-config --cflags ompi-c)} || status=1
}

# Blocks of C that are whole programs.
awk -v folder="$folder" '
    /^```c$/ { n++; in_code = 1; next }
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
