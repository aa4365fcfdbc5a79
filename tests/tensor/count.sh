#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# count.sh: tensor_contraction --count, which HF_PROGRAM names, against counts
# of tasks and of their operations that another program made.
set -u
. "$(dirname "$0")/../hf/common.sh"

# count RANKS WORKERS PRESET TASK TASKS NON-NULL OPERATIONS BYTES
count() {
    run "$1" "$2" --count --preset "$3" --task "$4" \
        --flop-ns 0.5 --byte-ns 0.25 --record "$folder/tasks.ekr" ||
        fail "$3, $4: exit status $?"
    grep -q "^$5 tasks, $6 non-null, $(($1 * $2)) workers, " "$folder/out" ||
        fail "$3, $4: not $5 tasks and $6 non-null"
    seconds=$(awk "BEGIN { printf \"%.6g\", (0.5 * $7 + 0.25 * $8) * 1e-9 }")
    grep -q "^$7 operations, $8 bytes: $seconds s, " "$folder/out" ||
        fail "$3, $4: not $7 operations, $8 bytes and $seconds s"
}

# operations CHECKSUM: how many tasks of the last record take how long, if
# operations alone take time; durations are kept within 0.2 %.
operations() {
    run 1 2 --count --preset fifth --task "$1" --flop-ns 1 --byte-ns 0 \
        --record "$folder/tasks.ekr" || fail "$1: exit status $?"
    sum=$("$EK_RECORD" text "$folder/tasks.ekr" |
        awk '$1 == "task" { print $4 }' | sort -n | uniq -c |
        awk '{ print $1 }' | cksum)
    [ "$sum" = "$2" ] || fail "$1: other operations: $sum"
}

count 1 2 paper product 46854025 2959783 251438320320000 8754178121600
count 2 1 paper tile 1874161 470357 251438320320000 5738356841600
count 3 1 fifth12 product 1827904 114576 402301312512 40095159296
operations product '2271316092 104'
operations tile '3875598598 54'
expect '--compare and --count do not go together' --compare --count
expect "--byte-ns is '-1'; allowed: a number from 0 to" --count --byte-ns -1
cat "$folder/out"
