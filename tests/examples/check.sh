#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh hello|iterate|counter|cpp|tiles|shared|gather|data|amr|uts|uts_bad_input|nqueens|forks|bpc PROGRAM RANKS WORKERS: what an example prints.
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
    EVENKEEL_CHECKPOINT="$folder/saves@every:4" run out "$ranks"
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
    run resumed 2 --resume "$folder/saves"
    grep -q 'with frame 4$' "$folder/resumed" || fail "not resumed with frame 4"
    awk '/%/ { print $1, $2 }' "$folder/resumed" >"$folder/resumed.points"
    tail -2 "$folder/out.points" >"$folder/last.points"
    same last.points resumed.points
    rm -r "$folder/saves"
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
    EVENKEEL_STEAL=none run none "$ranks"
    EVENKEEL_WORKERS=1 run alone 1
    for name in out apart none alone; do
        awk 'NR > 1 { print $1, $2 }' "$folder/$name" >"$folder/$name.hashes"
    done
    same out.hashes apart.hashes none.hashes alone.hashes
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

# says NAME LINE: that is what NAME begins with.
says() {
    [ "$(head -n 1 "$folder/$1")" = "$2" ] || fail "$1 does not say '$2'"
}

# refuses PATTERN ARGUMENT...: bad input, which both ranks end for, and one says.
refuses() {
    pattern=$1
    shift
    "$root/tools/mpirun" --timeout 100 -n 2 "$program" "$@" \
        >"$folder/bad" 2>&1
    [ $? -eq 2 ] || fail "$*: no bad input"
    [ "$(grep -c -- "$pattern" "$folder/bad")" -eq 1 ] ||
        fail "$*: '$pattern' is not said once"
}

# has_sequential NAME: there are rows for both ways, and what they come to.
has_sequential() {
    for row in sequential tasks efficiency; do
        [ "$(grep -c "^$row " "$folder/$1")" -eq 1 ] || fail "no row $row"
    done
}

# Trees of each kind have the same nodes with a task for each, for some and for
# a subtree, in the node and apart, and by a recursion (which the program
# compares).
check_uts() {
    while read -r expected tree; do
        expected=$(echo "$expected" | tr _ ' ')
        # shellcheck disable=SC2086
        {
            run tasks "$ranks" $tree --sequential --repeat 2
            EVENKEEL_RANKS_PER_NODE=1 run chunks "$ranks" $tree --chunk 3
            run subtrees "$ranks" $tree --cutoff 3
        }
        has_sequential tasks
        for name in tasks chunks subtrees; do
            says $name "$expected"
        done
    done <<TREES
45555_nodes,_27200_leaves,_depth_51 -t 1 -a 2 -b 6 -d 10 -r 502
56958_nodes,_28959_leaves,_depth_31 -t 1 -a 1 -b 5 -d 12 -r 1
112169_nodes,_98397_leaves,_depth_200 -t 0 -b 2000 -q 0.122 -m 8 -r 42
36148_nodes,_27282_leaves,_depth_63 -t 2 -b 6 -d 10 -q 0.23 -m 4 -r 1
9841_nodes,_6561_leaves,_depth_8 -t 3 -b 3 -d 8 -g 2
TREES
    run named "$ranks" --tree T1 --cutoff 7
    says named "4130071 nodes, 3305118 leaves, depth 10"
    # Critical: a node has one child in the mean, and still there is an end.
    run critical "$ranks" -t 0 -b 50 -q 0.5 -m 2 -r 5
    says critical "42205 nodes, 21127 leaves, depth 662"
}

check_uts_bad_input() {
    refuses "--tree is 'T9'; allowed: T1, T2, " --tree T9
    refuses "-b, .* do not go with it" --tree T1 -b 3
    refuses "-q 0.6 times -m 2 is above 1.001" -t 0 -q 0.6 -m 2
    refuses "allowed with exponential decrease (-a 1)" -a 1 -b 1
    refuses "--chunk and --cutoff do not go together" --chunk 2 --cutoff 2
}

# Solutions are as known wherever tasks end; the program checks that.
check_nqueens() {
    for cutoff in 0 1 4 11; do
        run "cutoff$cutoff" "$ranks" --queens 11 --cutoff $cutoff
        says "cutoff$cutoff" "166926 nodes, 2680 solutions"
    done
    EVENKEEL_RANKS_PER_NODE=1 run apart "$ranks" --queens 12 --sequential
    says apart "856189 nodes, 14200 solutions"
    has_sequential apart
    refuses "--queens is '19'; allowed: an integer from 1 to 18" --queens 19
}

# Nodes and leaves are those of the recurrence, which the program checks.
check_forks() {
    run fib "$ranks" --tree fib:22
    says fib "57313 nodes, 17711 found"
    EVENKEEL_RANKS_PER_NODE=1 run apart "$ranks" --tree fib:25,cutoff=8 --sequential
    says apart "242785 nodes, 75025 found"
    has_sequential apart
    EVENKEEL_STEAL=dvs run skew "$ranks" --tree skew:100,20,3,1
    says skew "5489 nodes, 2745 found"
    EVENKEEL_STEAL=leapfrog run stress "$ranks" --tree stress:1000,20,2
    says stress "2047 nodes, 1024 found"
    [ "$ranks" -gt 1 ] || {
        EVENKEEL_STEAL=dvs EVENKEEL_WORKERS=33 run large 1 --tree fib:9 --repeat 2 \
            2>"$folder/said"
        [ "$(grep -c 'suits nodes of up to 32 workers' "$folder/said")" -eq 1 ] ||
            fail 'who uses dvs on 33 workers is not told so once'
    }
    EVENKEEL_STEAL=dvs EVENKEEL_DVS=source=9 "$root/tools/mpirun" -n 1 \
        "$program" --tree fib:9 >"$folder/source" 2>&1 &&
        fail 'a source that is no worker is taken'
    grep -q 'source of option dvs is none of the workers of a node' \
        "$folder/source" || fail 'the wrong source is not named'
    refuses "--tree is 'fib:61'; allowed: fib:N" --tree fib:61
    refuses "--tree is 'fib'; allowed: fib:N" --tree fib
}

# All producers and consumers run, also where there is nothing to consume.
check_bpc() {
    set -- --depth 5 --produce 0.5
    run burn "$ranks" "$@" --consumers 8 --consume 1
    EVENKEEL_RANKS_PER_NODE=1 run sleep "$ranks" "$@" --consumers 8 --sleep
    run alone 1 "$@" --consumers 0
    says burn "45 nodes, 40 consumers"
    says sleep "45 nodes, 40 consumers"
    says alone "5 nodes, 0 consumers"
    # No schedule is better than the best possible.
    awk '/the best possible is/ { good = $1 > 0 && $7 > 0 && $1 >= $7 }
         END { exit !good }' "$folder/sleep" || fail "better than possible"
    refuses "--depth is '0'; allowed:" --depth 0
    refuses "--consume is '-1'; allowed:" --consume -1
}

"check_$what"
cat "$folder"/*
