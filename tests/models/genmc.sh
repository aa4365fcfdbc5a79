#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# genmc.sh PROGRAM.c DEFINE [MUTANT...]: all executions of a program of C11
# threads under RC11, and those of its mutants, which must have an error: a
# failed assertion or a race.  77 without genmc, which Debian does not have:
# https://github.com/MPI-SWS/genmc
set -u
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
define=$2
shift 2
if ! command -v genmc >/dev/null; then
    echo "no genmc on the path"
    exit 77
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bad=0

# check STATUS WHAT [OPTION...]: genmc returns 42 when it has found an error.
check() {
    expected=$1
    what=$2
    shift 2
    genmc -rc11 -- -std=c11 -DGENMC -I "$(dirname "$program")/../../src" \
        "$define" "$@" "$program" >"$log" 2>&1
    status=$?
    if [ $status -eq "$expected" ]; then
        echo "$what: $status, as it should"
        return
    fi
    cat "$log"
    echo "$(basename "$program") $what: $status instead of $expected"
    bad=1
}

check 0 "$define"
for mutant; do
    check 42 "$mutant" "-D$mutant"
done
exit $bad
