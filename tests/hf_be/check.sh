#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh WHAT [ARGUMENT...]: hf_be, which HF_PROGRAM names, against numbers
# from elsewhere.
set -u
. "$(dirname "$0")/../hf/common.sh"
what=$1
shift

# hf_be RANKS WORKERS OPTION...: run it; it must succeed.
hf_be() {
    run "$@" || fail "'$*': exit status $?"
}

# near VALUE LIMIT: the energy of the last run is so near to it.
near() {
    is_near "$(energy)" "$1" "$2" || fail "energy '$(energy)', expected $1"
}

# column N: of the rows that the last run printed.
column() {
    awk -v n="$1" '$1 ~ /^[0-9]+$/ && NF == 10 { print $n }' "$folder/out"
}

# energy RANKS WORKERS: the energies of a program in another language, without
# tasks, tiles or screening.
check_energy() {
    hf_be "$1" "$2" --screen 1e-12 --converge 1e-8
    near -58.2005024989 1e-9
    hf_be "$1" "$2" --atoms 1 --tile 4 --screen 1e-12 --converge 1e-8
    near -14.5720745170 1e-9
}

# integrals RANKS WORKERS: with the original's thresholds its energy comes out,
# and each iteration evaluates as many integrals as there are pairs of pairs
# whose bounds' product is at least 1e-6.
check_integrals() {
    hf_be "$1" "$2"
    near -58.20051071 5e-7
    [ "$(column 7 | sort -u)" = 4845492 ] || fail "not 4845492 integrals"
    [ "$(column 7 | wc -l)" -ge 5 ] || fail "fewer than five iterations"
}

# same POLICY SHAPE...: the energy does not depend on who runs what.
check_same() {
    policy=$1 first=
    shift
    for shape in 1x1 "$@"; do
        ranks=${shape%x*} workers=${shape#*x}
        hf_be "$ranks" "$workers" --atoms 2 --tile 4 --converge 1e-7 \
            --policy "$policy"
        grep -q " $((ranks * workers)) workers" "$folder/out" ||
            fail "not $shape workers"
        first=${first:-$(energy)}
        near "$first" 1e-10
    done
}

# count RANKS WORKERS ATOMS TILE TASKS NON-NULL
check_count() {
    hf_be "$1" "$2" --count --atoms "$3" --tile "$4"
    grep -q "^$5 tasks, $6 non-null, $(($1 * $2)) workers, " "$folder/out" ||
        fail "not $5 tasks and $6 non-null"
}

# durations FIELDS: of the tasks that were recorded, sorted: their checksum.
durations() {
    "$EK_RECORD" text "$folder/be4.ekr" |
        awk -v fields="$1" '$1 == "task" {
            print (fields ~ /id/ ? $2 % 2^40 " " : "") $4 }' | sort -n | cksum
}

# record RANKS WORKERS: tasks take as long as a program in another language
# counts, and those of one worker have the ids of the original.
check_record() {
    hf_be "$1" "$2" --count --tile 7 --record "$folder/be4.ekr" \
        --integral-ns 100 --test-ns 3
    grep -q '^6561 tasks, 5585 non-null, ' "$folder/out" ||
        fail "not 6561 tasks and 5585 non-null"
    grep -q '^4845492 integrals, 8555188 tests: 0.510215 s, the longest task 0.000247303 s$' \
        "$folder/out" || fail "not 4845492 integrals and 8555188 tests"
    [ "$(durations ns)" = '3069598599 35186' ] || fail "other durations"
    [ "$1" -gt 1 ] || [ "$(durations 'id ns')" = '1920298038 62239' ] ||
        fail "other ids"
    hf_be "$1" "$2" --count --tile 7
    ! grep -q integrals "$folder/out" || fail "counted without a record"
    hf_be "$1" "$2" --atoms 1 --tile 5 --iterations 50 --record "$folder/be1.ekr"
    "$EK_RECORD" text "$folder/be1.ekr" | awk -v iterations="$(column 1 | wc -l)" '
        /^iteration/ { i++ } /^task/ { tasks++ }
        END { exit i != iterations || tasks != 81 * i }' ||
        fail "a run was not recorded"
    run "$1" "$2" --count --record /none/be4.ekr
    [ $? -eq 1 ] || fail "a record that cannot be written: not 1"
    grep -q "cannot write '/none/be4.ekr'" "$folder/err" ||
        fail "no message that it cannot be written"
}

# discard RANKS WORKERS: null tasks are gone from the second iteration on, and
# there are as many as --count says.
check_discard() {
    size="--atoms 6 --tile 15 --screen 1e-3"
    # shellcheck disable=SC2086
    hf_be "$1" "$2" --count $size
    left=$(sed -n 's/^1296 tasks, \([0-9]*\) non-null, .*/\1/p' "$folder/out")
    # shellcheck disable=SC2086
    run "$1" "$2" $size --iterations 2
    [ "$(column 5 | tr '\n' ' ')" = "1296 $left " ] ||
        fail "tasks of two iterations: not 1296 and $left"
    [ "$(column 6 | tr '\n' ' ')" = "$((1296 - left)) 0 " ] ||
        fail "null tasks of two iterations: not all but $left, and 0"
}

# counts: tasks, null tasks and integrals of each row.
counts() {
    for n in 5 6 7; do
        column $n
    done
}

# same_as_alone OPTION...: energies, tasks, null tasks and integrals of a run
# of $size are those without these options.
same_as_alone() {
    # shellcheck disable=SC2086
    hf_be "$ranks" "$workers" $size "$@"
    near "$alone" 1e-10
    [ "$(counts)" = "$expected" ] || fail "'$*': other tasks or integrals"
}

# distributed RANKS WORKERS: in a node, and with each rank a node.
check_distributed() {
    ranks=$1 workers=$2
    size="--atoms 3 --spacing 12 --tile 8 --converge 1e-6"
    # shellcheck disable=SC2086
    hf_be "$ranks" "$workers" $size
    alone=$(energy) expected=$(counts) memory=$(memory)
    [ "$(column 6 | head -n 1)" -gt 500 ] || fail "few null tasks"
    same_as_alone --distributed
    awk -v copied="$memory" -v spread="$(memory)" -v ranks="$ranks" \
        'BEGIN { exit spread * (ranks + 1) / 2 > copied }' ||
        fail "$(memory) MB per rank, $memory MB copied"
    export EVENKEEL_RANKS_PER_NODE=1
    same_as_alone --distributed --null-by-get --cache 0.01
    same_as_alone --distributed --policy hierarchical
}

# gets RANKS WORKERS: nodes apart, a comparison says what tiles cost; a cache
# answers some gets, and null tasks that get bounds get most.
check_gets() {
    export EVENKEEL_RANKS_PER_NODE=1
    size="--atoms 2 --spacing 12 --tile 6 --iterations 3 --modes StealAll,auto"
    last=0
    for options in "--cache 1" "--cache 0" "--cache 0 --null-by-get"; do
        # shellcheck disable=SC2086
        hf_be "$1" "$2" $size --distributed $options
        # shellcheck disable=SC2046
        set -- "$1" "$2" $(sed '1,/^per iteration/d' "$folder/out" |
            awk '$1 == "StealAll" || $1 == "auto" { print $2, $3 }')
        [ $# -eq 6 ] || fail "'$options': not two rows of tiles"
        case $options,$4 in
        "--cache 1,0.0%" | "--cache 0"*,[1-9]*) fail "'$options': hits $4" ;;
        esac
        awk "BEGIN { exit $3 <= $last }" || fail "'$options': $3 MB, $last"
        last=$3
    done
}

# compare RANKS WORKERS: one row per mode, whatever the environment says, and
# the energy of a run by itself.
check_compare() {
    hf_be "$1" "$2" --atoms 2 --tile 4
    alone=$(energy)
    export EVENKEEL_STEAL=none EVENKEEL_RESTORE=original
    hf_be "$1" "$2" --atoms 2 --tile 4 --compare
    has_modes
    near "$alone" 5e-7
}

# repeat RANKS WORKERS: one row per mode, whose median is between its least and
# its most, however many rounds.
check_repeat() {
    hf_be "$1" "$2" --atoms 2 --compare --iterations 3 --repeat 3
    has_modes
    grep -q '^3 x 3 iterations each; ' "$folder/out" || fail "not 3 x 3"
    awk '/^[a-zA-Z].* [0-9.]+-[0-9.]+ / {
             split($4, spread, "-"); rows++
             if ($3 < spread[1] || $3 > spread[2]) bad = 1
             if ($1 == "static" && $5 != 1) bad = 1 }
         END { exit bad || rows != 10 }' "$folder/out" ||
        fail "no spread around the median"
}

check_bad_input() {
    expect "unknown option '--atom'" --atom 4
    expect '--atoms needs a value' --atoms
    expect "--atoms is '0'; allowed: an integer from 1 to" --atoms 0
    expect "--atoms is '4x'; allowed: an integer" --atoms 4x
    expect "--tile is '-1'; allowed: an integer from 1 to" --tile -1
    expect "--spacing is '0'; allowed: a number from" --spacing 0
    expect "--screen is 'nan'; allowed: a number from" --screen nan
    expect "--converge is 'no'; allowed: a number from" --converge no
    expect "--iterations is '0'; allowed: an integer" --iterations 0
    expect "restore: 'best' is not allowed; allowed: original" --policy best
    expect "restore: 'best' is not allowed" --policy best --count
    expect "steal: 'best' is not allowed; allowed: random" --steal best
    expect '--compare and --count do not go together' --compare --count
    expect '--compare and --record do not go together' --compare --record be4.ekr
    expect "--test-ns is '-1'; allowed: a number from 0 to" --test-ns -1
    expect '--compare and --modes have policies of their own' --compare --policy auto
    expect '--compare and --modes have policies of their own' --compare --steal none
    expect "restore: 'best' is not allowed; allowed: original" --modes retain,best
    expect "steal: 'best' is not allowed; allowed: random" --modes retain+best
    expect '--cache needs --distributed' --cache 2
    expect '--null-by-get needs --distributed' --null-by-get
    expect '--count needs no matrix' --count --distributed
    expect '--compare needs at least 2' --compare --iterations 1
    expect '--repeat needs --compare' --repeat 2
    export EVENKEEL_STEAL=everything
    expect 'EVENKEEL_STEAL.*everything'
}

"check_$what" "$@"
cat "$folder/out"
