#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fatal.sh MPIRUN FATAL: without ierr, errors end all ranks after a sentence.
set -u
mpirun=$1 program=$2
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# ends WHAT SENTENCE
ends() {
    "$mpirun" --timeout 60 -n 2 "$program" "$1" >"$out" 2>&1
    code=$?
    [ $code -ne 0 ] && grep -q "$2" "$out" &&
        ! grep -q 'not ended\|timeout' "$out" && return
    echo "FAIL: $1: exit status $code, expected: $2"
    cat "$out"
    exit 1
}

ends early 'error: ek_create: call MPI_Init first'
ends option "error: option steal: 'wrong' is not allowed"
ends 'one option' "error: option steal: 'wrong' is not allowed"
ends differ 'error: option seed must be the same on all ranks'
ends range 'error: ek_add_range: 4 ... 1; allowed: 0 <= first <= last'
ends task "error: task .* of function 'pair' failed .* with code 1: three"
ends payload "error: .* the payload has 12 bytes, and the variable 8"
ends 'error stop' 'ERROR STOP stopped by itself'
ends leave 'error: worker . stopped fetching .* call ek_stop to end early'
ends open 'is destroyed while an iteration is open; call ek_end first'
