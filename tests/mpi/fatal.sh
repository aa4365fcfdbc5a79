#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fatal.sh MPIRUN FATAL: failures that end the job end it at once, after a
# sentence; none of them prints a status.
set -u
mpirun=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset EVENKEEL_WORKERS EVENKEEL_STEAL
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive OMPI_MCA_mpi_yield_when_idle=1

# ends WHAT SENTENCE: with it, from those ranks that fail by themselves.
ends() {
    out="$folder/$1"
    "$mpirun" --timeout 60 -n 2 "$program" "$1" >"$out" 2>&1
    code=$?
    times=$(grep -c "$2" "$out")
    if [ $code -ne 0 ] && [ "$times" -ge 1 ] && [ "$times" -le 2 ] &&
        ! grep -q 'status \|timeout' "$out"; then
        return
    fi
    touch "$folder/failed"
    echo "FAIL: $1: exit status $code, $times times: $2"
    cat "$out"
}

# Most of their time the launchers wait.
ends caught "error: an exception.* left task 3 (home worker 0) of function 'leave'" &
ends uncaught "error: an exception left task 3 (home worker 0) of function 'leave'" &
ends thread "error: an exception left task .* of function 'leave' on worker [13]" &
ends 'longjmp process' 'error: ek_process: .* longjmp or the like left a task' &
wait
ends 'longjmp destroy' 'error: ek_destroy: .* longjmp or the like left a task' &
ends abort "error: option steal: 'wrong' is not allowed" &
ends 'abort together' 'error: report.struct_bytes is 1' &
ends unwind 'evenkeel: an exception of this rank alone has left a collection' &
ends 'unwind later' 'evenkeel: an exception of this rank alone has left a' &
ends 'unwind next' 'evenkeel: an exception of this rank alone has left a' &
wait
[ ! -e "$folder/failed" ]
