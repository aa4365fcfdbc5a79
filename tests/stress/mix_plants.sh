#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mix_plants.sh MPIRUN MIX_PLANTED: mix finds planted bugs, each by the sentence
# that tells of what it compares.
set -u
mpirun=$1 mix=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 143' TERM
export MIX_RECORDS="$folder" OMP_WAIT_POLICY=passive
seconds=60 failed=0

# A line has the name of a bug, the shape RANKSxWORKERSxLEVEL of the job, the
# seed to begin with, which finds the bug or is few before one that does, the
# seconds that a seed may take, and what has to be said.
while read -r plant shape seed limit said; do
    ranks=${shape%%x*} workers=${shape#*x} level=${shape##*x}
    workers=${workers%x*}
    MIX_PLANT=$plant MIX_LIMIT=$limit OMP_NUM_THREADS=$workers \
        "$mpirun" --timeout $((seconds + limit)) -n "$ranks" "$mix" "$ranks" \
        "$workers" "$level" "$seed" $seconds >"$folder/said" 2>&1 </dev/null
    status=$?
    found=$(sed -n 's/^\(FAIL\|HANG\)  .* \([0-9]*\):.*/\2/p' "$folder/said" |
        head -n 1)
    if [ $status -ne 0 ] && [ -n "$found" ] &&
        grep -q "$said" "$folder/said"; then
        echo "ok    $plant: seed $found of $seed ...: $said"
        continue
    fi
    echo "FAIL  $plant is not found: status $status, expected a failed seed" \
        "and '$said'"
    tail -n 20 "$folder/said"
    failed=1
done <<END
copied-twice   1x3x2  2 60 : ran:
skipped-gone   1x1x0  1 60 : held after
added-anew     3x1x2  5 60 : sum: value
kept-cache     3x1x2 23 60 : state: value
twice-unpacked 3x1x2  2 60 boxes.h:.* next is false
results-last   3x1x2  6 60 boxes.h:.* is [0-9]*, expected
pinned-twice   1x1x0  1  2 HANG
END
exit $failed
