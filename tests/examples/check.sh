#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh hello|iterate|counter|cpp|tiles|shared|gather|data|amr PROGRAM RANKS WORKERS: what an example prints.
set -u
what=$1 program=$2 ranks=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMP_NUM_THREADS="$4" EVENKEEL_WORKERS="$4"

fail() {
    echo "FAIL: $*"
    cat "$folder"/*
    exit 1
}

# run NAME RANKS ARGUMENT...: its output goes to $folder/NAME.
run() {
    name=$1 size=$2
    shift 2
    "$root/tools/mpirun" --timeout 100 -n "$size" "$program" "$@" \
        >"$folder/$name" || fail "$*: exit status $?"
}

# same NAME NAME...: the files are the same, and none is empty.
same() {
    for name in "$@"; do
        [ -s "$folder/$name" ] || fail "$name is empty"
        cmp "$folder/$1" "$folder/$name" || fail "$1 and $name differ"
    done
}

check_hello() {
    run out "$ranks"
    [ "$(sed -n 's/^hello from task \([0-9]*\) .*/\1/p' "$folder/out" |
        sort -n | tr '\n' ' ')" = "0 1 2 3 4 5 6 7 8 9 10 11 " ] ||
        fail "not every task said hello once"
    [ "$(tail -n 1 "$folder/out")" = "12 tasks ran" ] || fail "last line"
}

# The same points in every frame, however they came about.
check_iterate() {
    run out "$ranks"
    EVENKEEL_STEAL=none run none "$ranks"
    EVENKEEL_WORKERS=1 run alone 1
    for name in out none alone; do
        awk 'NR > 1 { print $1, $2 }' "$folder/$name" >"$folder/$name.points"
    done
    same out.points none.points alone.points
    [ "$(wc -l <"$folder/out.points")" -eq 6 ] || fail "not six frames"
    awk 'NR > 1 && $3 != 0 { exit 1 }' "$folder/none" ||
        fail "rows were stolen without stealing"
    [ "$ranks" -eq 1 ] || awk 'NR == 2 && $3 == 0 { exit 1 }' "$folder/out" ||
        fail "no row was stolen in the first frame"
}

# The same energies from both loops.
check_counter() {
    for loop in counter evenkeel; do
        run $loop "$ranks" $loop
        sed 's/,.*//' "$folder/$loop" >"$folder/$loop.energies"
    done
    run alone 1 evenkeel
    sed 's/,.*//' "$folder/alone" >"$folder/alone.energies"
    same counter.energies evenkeel.energies alone.energies
    [ "$(grep -c '^step [0-4]: energy ' "$folder/counter.energies")" -eq 5 ] ||
        fail "not five steps"
}

# The same sequence in each iteration; what a task throws is heard by all ranks.
check_cpp() {
    run out "$ranks"
    [ "$(grep -c '^iteration [0-2]: 156159 takes 382 steps$' "$folder/out")" \
        -eq 3 ] || fail "not three times the longest sequence"
    "$root/tools/mpirun" --timeout 100 -n "$ranks" "$program" 30 \
        >"$folder/thrown" 2>&1 && fail "an exception is no success"
    grep -q '^rank [0-9]* has what its task threw$' "$folder/thrown" ||
        fail "nobody has the exception"
    [ "$(grep -c 'this block is bad' "$folder/thrown")" -eq 1 ] ||
        fail "said more than once"
}

# The same norm on any number of ranks, also where each is a node of its own:
# then tiles come by messages, and some from a cache.
check_tiles() {
    run out "$ranks"
    EVENKEEL_RANKS_PER_NODE=1 run apart "$ranks"
    for name in out apart; do
        [ "$(tail -n 1 "$folder/$name")" = \
            "norm of C: 32169.550821, difference: 0" ] || fail "not the product"
    done
    [ "$ranks" -eq 1 ] || awk 'NR > 1 && NR < 6 && !($3 > 0 && $4 > 0) { exit 1 }' \
        "$folder/apart" || fail "no tile came by messages, or from a cache"
}

# The same value however blocks move, on any number of ranks; plans are even.
check_amr() {
    set -- --roots 8 --iterations 6
    run out "$ranks" --compare --repeat 1 "$@"
    EVENKEEL_RESTORE=hierarchical EVENKEEL_RANKS_PER_NODE=1 run apart "$ranks" \
        --split bytes --costs last "$@"
    run alone 1 --split stay "$@"
    for name in out apart alone; do
        sed -n 's/^value \([0-9.]*\).*/\1/p' "$folder/$name" \
            >"$folder/$name.value"
    done
    same out.value apart.value alone.value
    # Blocks, imbalance, blocks moved.
    [ "$ranks" -eq 1 ] || awk '
        $1 == "plan" || $1 == "bytes" { even += $3 < 1 && $5 > 0 }
        $1 == "stay" { uneven = $3 > 20 && $5 == 0 }
        END { exit !(even == 2 && uneven) }' "$folder/out" ||
        fail "plans are not even, or nothing moved"
    "$root/tools/mpirun" -n 1 "$program" --split nowhere >"$folder/bad" 2>&1
    [ $? -eq 2 ] || fail "a way that there is not is bad input"
    grep -q "allowed: stay, curve, bisection, plan, bytes" "$folder/bad" ||
        fail "ways are not listed"
}

# The same hashes on any number of ranks, wherever columns are.
check_data() {
    run out "$ranks"
    EVENKEEL_RANKS_PER_NODE=1 run apart "$ranks"
    EVENKEEL_DATA=follow EVENKEEL_RESTORE=centralized run follow "$ranks"
    EVENKEEL_WORKERS=1 run alone 1
    for name in out apart follow alone; do
        awk 'NR > 1 { print $1, $2 }' "$folder/$name" >"$folder/$name.hashes"
    done
    same out.hashes apart.hashes follow.hashes alone.hashes
    [ "$(wc -l <"$folder/out.hashes")" -eq 6 ] || fail "not six steps"
    [ "$ranks" -eq 1 ] || awk 'NR == 2 && !($3 > 0 && $4 > 0) { exit 1 }' \
        "$folder/apart" || fail "no column was away in the first step"
}

# The same ozone wherever columns react.
check_shared() {
    run out "$ranks"
    EVENKEEL_STEAL=none run none "$ranks"
    EVENKEEL_WORKERS=1 run alone 1
    for name in out none alone; do
        awk 'NR > 1 { print $1, $2 }' "$folder/$name" >"$folder/$name.ozone"
    done
    same out.ozone none.ozone alone.ozone
    [ "$(wc -l <"$folder/out.ozone")" -eq 8 ] || fail "not eight steps"
    [ "$ranks" -eq 1 ] || awk 'NR == 2 && $3 == 0 { exit 1 }' "$folder/out" ||
        fail "no column was stolen in the first step"
}

# Every row comes once, however many ranks there are.
check_gather() {
    run out "$ranks"
    EVENKEEL_RANKS_PER_NODE=1 EVENKEEL_RESTORE=centralized run apart "$ranks"
    EVENKEEL_WORKERS=1 run alone 1
    for name in out apart alone; do
        sed 's/;.*//' "$folder/$name" >"$folder/$name.points"
    done
    same out.points apart.points alone.points
    [ "$(grep -c '^frame [0-3]: 300 rows, ' "$folder/out")" -eq 4 ] ||
        fail "not all rows of four frames"
}

"check_$what"
cat "$folder"/*
