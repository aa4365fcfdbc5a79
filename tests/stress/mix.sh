#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mix.sh MPIRUN MIX SECONDS [FIRST [SHAPES [stops]]]: programs drawn from seeds,
# FIRST and on, in all for about so long, over SHAPES, which are words
# RANKSxWORKERSxLEVEL (of MPI).  Says which failed, and how to repeat it.
mpirun=$1 mix=$2 seconds=$3 first=${4:-1}
shapes=${5:-'1x1x0 1x3x2 2x1x2 2x2x1 2x3x2 3x1x3 3x3x2 4x1x0 4x2x2'}
stops=${6:-}
limit=${MIX_LIMIT:-150}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 143' TERM
export MIX_LIMIT="$limit" MIX_RECORDS="$folder" OMP_WAIT_POLICY=passive
each=$((seconds / $(echo "$shapes" | wc -w)))
failed=0
for shape in $shapes; do
    ranks=${shape%%x*} workers=${shape#*x} level=${shape##*x}
    workers=${workers%x*}
    OMP_NUM_THREADS=$workers "$mpirun" --timeout $((each + limit + 20)) \
        -n "$ranks" "$mix" "$ranks" "$workers" "$level" "$first" $each $stops
    status=$?
    [ $status -eq 0 ] && continue
    echo "FAIL  $shape: status $status; repeat it by OMP_NUM_THREADS=$workers" \
        "MIX_RECORDS=. $mpirun -n $ranks $mix $ranks $workers $level SEED"
    failed=1
done
exit $failed
