#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# genmc.sh [--searched=SUM] PROGRAM.c [-DNAME...] [MUTANT...]: all executions of a
# program of C11 threads under RC11, and those of its mutants (further defines, with
# commas between them), each of which must have an error: a failed assertion or a
# race.  Where the program compiles to what SUM is of, only the mutants.
# MODEL: --imm instead of --rc11.  A line ` * genmc: OPTION...` of the program is
# for its compiler.  Without genmc 0.10 or later, which Debian does not have
# (https://github.com/MPI-SWS/genmc), whether it compiles, then 77.
set -u
here=$(cd "$(dirname "$0")" && pwd)
searched=
if [ "${1#--searched=}" != "$1" ]; then
    searched=${1#--searched=}
    shift
fi
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
defines=
while [ $# -gt 0 ] && [ "${1#-D}" != "$1" ]; do
    defines="$defines $1"
    shift
done
options="-std=c11 -g0 -w -DGENMC -I $here/include -I $here/../../src \
-I $here/../../include $defines $(sed -n 's/^ \* genmc: //p' "$program")"
if ! command -v genmc >/dev/null; then
    # shellcheck disable=SC2086
    "${CC:-cc}" $options -fsyntax-only "$program" || exit 1
    echo "no genmc on the path"
    exit 77
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bad=0

# explore OPTION...: without what genmc makes of loops that it takes for waiting,
# without names of variables, of which 0.10.3 cannot name those of all types, and
# without its cache of instructions, in which two variables get the same address.
explore() {
    genmc "${MODEL:---rc11}" --disable-estimation --disable-spin-assume \
        --disable-instruction-caching "$@" "$program" >"$log" 2>&1
}

# check STATUS WHAT [-DNAME...]: genmc returns 42 when it has found an error.
check() {
    expected=$1
    what=$2
    shift 2
    # To inline takes genmc a second.  Some programs need it: without, genmc refuses
    # a call of memset() there and returns 17.
    # shellcheck disable=SC2086
    explore --disable-function-inliner -- $options "$@"
    status=$?
    if [ $status -eq 17 ]; then
        # shellcheck disable=SC2086
        explore -- $options "$@"
        status=$?
    fi
    if [ $status -ne "$expected" ]; then
        cat "$log"
        echo "$(basename "$program")$defines $what: $status, not $expected"
        bad=1
    elif [ "$expected" -eq 0 ]; then
        echo "$(basename "$program")$defines: $(sed -n \
            's/^Number of complete executions explored: //p' "$log") executions"
    else
        echo "$what: found"
    fi
}

# sum: of what the program compiles to, wherever it lies.
sum() {
    # shellcheck disable=SC2086
    clang $options "-fmacro-prefix-map=$here=." -S -emit-llvm -o - "$program" |
        sed '/^; ModuleID/d; /^source_filename/d; /^!/d' | md5sum | cut -d ' ' -f 1
}

now=
[ -z "$searched" ] || ! command -v clang >/dev/null || now=$(sum)
if [ -n "$searched" ] && [ "$searched" = "$now" ]; then
    echo "as it is: searched before"
else
    [ -z "$now" ] || echo "its sum is $now"
    check 0 'as it is'
fi
for mutant; do
    # shellcheck disable=SC2046
    check 42 "$mutant" $(echo "$mutant" | sed 's/^/-D/; s/,/ -D/g')
done
exit $bad
