#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh MESON BUILD MPICC: install to an empty folder; build programs against that
# alone, in C, C++ and Fortran with pkg-config, with CMake, by hand, and with the
# static library; run them, and one in Python; look at what else is there; and
# uninstall.  MPICC: '' if it is not known.
set -u
meson=$1 build=$2 mpicc=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
# What the developer has installed can still be uninstalled.
log=$build/meson-logs/install-log.txt
[ ! -f "$log" ] || cp "$log" "$folder/log"
trap '[ ! -f "$folder/log" ] || cp "$folder/log" "$log"; rm -rf "$folder"' EXIT

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
library=$(dirname "$(find "$folder/root" -name libevenkeel.so)")
prefix=$(cd "$(dirname "$(find "$folder/root" -name evenkeel.h)")/.." && pwd)
fortran_module=$(find "$folder/root" -name evenkeel.mod)
python_module=$(find "$folder/root" -name evenkeel.py)
PKG_CONFIG_PATH=$(dirname "$description")
export PKG_CONFIG_PATH
cp "$root/examples/01_hello.c" .
cp "$root/tests/install/hello.cc" "$root/tests/install/hello.f90" .

# What is installed knows neither this repository nor the folder of the build.
grep -r -l -e "$root" -e "$build" "$description" "$library/cmake" \
    "$prefix/include" "$prefix/share" 2>/dev/null && fail "a path of the build"

# Documents, and where --help sends to; pages of calls and tools.
documents=$prefix/share/doc/evenkeel
for file in LICENSE README.md CHANGELOG.md docs/how-to/read-the-report.md \
    examples/01_hello.c \
    examples/common/job.c cli/message.h; do
    [ -s "$documents/$file" ] || fail "$file is not installed"
done
manual=$prefix/share/man
sed -n -e 's/^EK_API [^(]*\b\(ek_[a-z0-9_]*\)(.*/\1/p' \
    -e 's/^typedef .*\b\(ek_[a-z0-9_]*\)[;({ ].*/\1/p' \
    -e 's/^} \(ek_[a-z0-9_]*\);/\1/p' \
    "$prefix"/include/*.h | sort -u | while read -r name; do
    grep -q '^\.SH SYNOPSIS' "$manual/man3/$name.3" || echo "$name.3"
done >missing
[ ! -s missing ] || fail "no manual page: $(cat missing)"
for section in DESCRIPTION 'OPTIONS AND ENVIRONMENT' FILES 'SEE ALSO'; do
    grep -qx "\.SH $section" "$manual/man7/evenkeel.7" ||
        fail "evenkeel.7 has no $section"
done
grep -q '^\.nf' "$manual/man7/evenkeel.7" || fail "evenkeel.7 has no program"
! grep -n '](\|`\|you know' "$manual/man7/evenkeel.7" >markup ||
    fail "Markdown, or words of others, in evenkeel.7: $(head markup)"
if command -v groff >/dev/null; then
    groff -man -ww -k -Tutf8 "$manual"/man[37]/* >/dev/null 2>warnings
    [ ! -s warnings ] || fail "groff: $(head warnings)"
fi
for tool in "$prefix"/bin/ek-*; do
    [ -x "$tool" ] || continue
    name=$(basename "$tool")
    page=$manual/man1/$name.1
    grep -qx "$name \\\\- [A-Z].*[.]" "$page" && grep -q 'help' "$page" ||
        fail "no manual page $name.1"
    # shellcheck disable=SC2016
    ! command -v bash >/dev/null || bash -c '
        . "$1"
        _evenkeel "$2" --he "$2"
        [ "${COMPREPLY[*]}" = --help ]' bash \
        "$prefix/share/bash-completion/completions/$name" "$tool" ||
        fail "$name: --he is not completed"
done

# shellcheck disable=SC2046
${CC:-cc} -std=c11 -Wall -Wextra -Werror -include evenkeel_inline.h \
    01_hello.c -o hello_shared \
    $(pkg-config --cflags --libs evenkeel) >"$folder/out" 2>&1 ||
    fail "compiling with the shared library"
LD_LIBRARY_PATH=$library hello ./hello_shared

# A C++ compiler that is no wrapper of MPI's.
if command -v "${CXX:-c++}" >/dev/null; then
    # shellcheck disable=SC2046
    ${CXX:-c++} -std=c++17 -include evenkeel.hpp hello.cc -o hello_cxx \
        $(pkg-config --cflags --libs evenkeel) >"$folder/out" 2>&1 ||
        fail "compiling as C++"
    LD_LIBRARY_PATH=$library hello ./hello_cxx
fi

# The module for Python finds the library of its prefix.
if [ -n "$python_module" ]; then
    cat >hello.py <<'EOF'
import evenkeel
with evenkeel.Tasks() as tasks:
    for i in tasks.range(12):
        pass
    if tasks.rank == 0:
        print(f"{tasks.report['tasks']:.0f} tasks ran")
EOF
    PYTHONPATH=$(dirname "$python_module")
    PYTHONDONTWRITEBYTECODE=1
    export PYTHONPATH PYTHONDONTWRITEBYTECODE
    python3 -m evenkeel | grep -q "$library" || fail "another library"
    "$root/tools/mpirun" --timeout 60 -n 2 python3 hello.py >"$folder/out" 2>&1
    grep -qx '12 tasks ran' "$folder/out" || fail "hello.py"
fi

# cmake_project LANGUAGE SOURCE TARGET
cmake_project() {
    mkdir "cmake_$1"
    cat >"cmake_$1/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.16)
project(hello $1)
find_package(evenkeel 0.1 REQUIRED)
add_executable(hello ../$2)
target_link_libraries(hello $3)
EOF
    cmake -S "cmake_$1" -B "cmake_$1" -DCMAKE_PREFIX_PATH="$prefix" \
        >"$folder/out" 2>&1 || fail "cmake, $1"
    cmake --build "cmake_$1" >"$folder/out" 2>&1 || fail "cmake --build, $1"
    hello "cmake_$1/hello"
}
if command -v cmake >/dev/null; then
    cmake_project C 01_hello.c evenkeel::evenkeel
    ! command -v "${CXX:-c++}" >/dev/null ||
        cmake_project CXX hello.cc evenkeel::static
    [ -z "$fortran_module" ] || cmake_project Fortran hello.f90 evenkeel::fortran
fi

# Fortran: with the module file, and with the source for another compiler.
if [ -n "$fortran_module" ]; then
    # shellcheck disable=SC2046
    ${FC:-gfortran} hello.f90 -o hello_fortran \
        $(pkg-config --cflags --libs evenkeel-fortran) >"$folder/out" 2>&1 ||
        fail "compiling as Fortran"
    LD_LIBRARY_PATH=$library hello ./hello_fortran
    # shellcheck disable=SC2046
    ${FC:-gfortran} -J . -o hello_source \
        "$prefix/share/evenkeel/evenkeel.f90" hello.f90 \
        $(pkg-config --cflags --libs evenkeel-fortran |
            sed 's/-levenkeel_fortran//') >"$folder/out" 2>&1 ||
        fail "compiling the source of the module"
    LD_LIBRARY_PATH=$library hello ./hello_source
fi

# by_hand WRAPPER OPTION...: of MPI's compilers, where there is that one.
by_hand() {
    compiler=$(echo "$mpicc" | sed "s/mpicc/$1/")
    command -v "$compiler" >/dev/null || return 0
    shift
    "$compiler" "$@" -o hello_by_hand -I"$prefix/include" -L"$library" \
        -levenkeel >"$folder/out" 2>&1 || fail "$compiler by hand"
    LD_LIBRARY_PATH=$library hello ./hello_by_hand
}
by_hand mpicc 01_hello.c
by_hand mpicxx -std=c++17 -include evenkeel.hpp hello.cc
[ -z "$fortran_module" ] ||
    by_hand mpifort -I"$prefix/include/evenkeel" hello.f90 -L"$library" \
        -levenkeel_fortran

# Without the shared one the linker takes the static one.
mkdir aside
mv "$library"/libevenkeel.so* aside
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -Wall -Wextra -Werror 01_hello.c -o hello_static \
    $(pkg-config --cflags evenkeel) \
    $(pkg-config --libs --static evenkeel) >"$folder/out" 2>&1 ||
    fail "compiling with the static library"
hello ./hello_static
mv aside/* "$library"

DESTDIR=$folder/root ninja -C "$build" uninstall >"$folder/out" 2>&1 ||
    fail "ninja uninstall: exit status $?"
[ ! -e "$folder/root" ] || fail "still there: $(find "$folder/root" | head)"
