#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh WHAT [ARGUMENT...]: tensor_contraction, which HF_PROGRAM names; every
# run checks each entry of C against dense products.
set -u
. "$(dirname "$0")/../hf/common.sh"
what=$1
shift

small='--check dense --tile 3 --blocks i=5,4,0,3 a=2,3,4,2'
permuted='C[l,i,k,j] += A[b,j,i,a] * B[l,a,k,b]'

# contract RANKS WORKERS OPTION...: run it; it must succeed, and say so.
contract() {
    run "$@" || fail "'$*': exit status $?"
    error=$(sed -n 's/^relative error //p' "$folder/out")
    awk -v error="$error" 'BEGIN {
        exit !(error ~ /^[0-9.]+e[-+][0-9]+$/ && error <= 1e-12) }' ||
        fail "'$*': relative error '$error'"
}

# column N: of the rows that the last run printed.
column() {
    awk -v n="$1" '$1 ~ /^[0-9]+$/ && NF == 11 { print $n }' "$folder/out"
}

# modes RANKS WORKERS TASK [apart]: all modes compute the same, and tiles go
# between nodes, of which each rank is one, or not at all.
check_modes() {
    [ "${4:-}" != apart ] || export EVENKEEL_RANKS_PER_NODE=1
    # shellcheck disable=SC2086
    contract "$1" "$2" $small --expression "$permuted" --task "$3" \
        --compare --iterations 2
    tables=$([ "${4:-}" = apart ] && echo 2 || echo 1)
    for mode in static counter StealAll Steal StealRet centralized \
        hierarchical central.-12 hierarch.-12 auto; do
        [ "$(grep -c "^$mode " "$folder/out")" -eq "$tables" ] ||
            fail "not $tables rows for $mode"
    done
}

# hosts RANKS WORKERS TASK: the same over TCP between two host names.
check_hosts() {
    # shellcheck disable=SC2086
    run "$1" "$2" $small --expression "$permuted" --task "$3" --modes \
        StealRet,StealAll,counter,hierarchical --iterations 2
    status=$?
    [ $status -ne 77 ] || exit 77
    [ $status -eq 0 ] || fail "exit status $status"
    grep -q '^relative error ' "$folder/out" || fail "not checked"
}

# expressions: any order of indices, with and without outer and contracted ones.
check_expressions() {
    while read -r symmetry expression; do
        # shellcheck disable=SC2086
        contract 1 2 $small --symmetry "$symmetry" --iterations 2 \
            --expression "$expression"
    done <<'END'
spatial C[i,j,k,l] += A[i,a,j,b] * B[b,k,a,l]
spin C[l,i,k,j] += A[b,j,i,a] * B[l,a,k,b]
none Sum[i,j] += This[a,i] * That[j,a]
spatial C[i,j,k] += A[a,b,c] * B[k,c,i,a,j,b]
spatial C[i,j,k,l] += A[l,i,j] * B[k]
spin C[p,q,r,s,t] += A[t,p,u,r] * B[s,u,q]
END
}

# nulls RANKS WORKERS: null tasks are in the first iteration alone, and not
# there where tasks start at owners.
check_nulls() {
    size="$small --iterations 2"
    for row in 'tile blocks 625 448 177' 'product blocks 15625 14482 1143' \
        'tile owners 177 0 177' 'product owners 1143 0 1143'; do
        # shellcheck disable=SC2086
        set -- "$1" "$2" $row
        # shellcheck disable=SC2086
        contract "$1" "$2" $size --task "$3" --start "$4"
        [ "$(column 5 | tr '\n' ' ')" = "$5 $7 " ] ||
            fail "$3 $4: tasks of two iterations: not $5 and $7"
        [ "$(column 6 | tr '\n' ' ')" = "$6 0 " ] ||
            fail "$3 $4: null tasks of two iterations: not $6 and 0"
    done
}

# cache: what tiles of other nodes are got again comes from a cache, which
# means fewer bytes; nothing travels within a node.
check_cache() {
    size='--check dense --tile 3 --blocks i=6,6,6,6 a=6,6,6,6'
    size="$size --iterations 1 --policy static --expression"
    EVENKEEL_RANKS_PER_NODE=1
    export EVENKEEL_RANKS_PER_NODE
    # shellcheck disable=SC2086
    contract 2 1 $size "$permuted" --cache 0
    without=$(column 9)
    [ "$(column 10)" = 0.0% ] || fail "hits without a cache"
    # shellcheck disable=SC2086
    contract 2 1 $size "$permuted" --cache 1 --prefetch 0
    awk -v with="$(column 9)" -v without="$without" -v hits="$(column 10)" \
        'BEGIN { exit !(with > 0 && with < without / 2 && hits + 0 > 50) }' ||
        fail "a cache: $(column 9) MB instead of $without"
    unset EVENKEEL_RANKS_PER_NODE
    # shellcheck disable=SC2086
    contract 2 1 $size "$permuted" --prefetch 7
    [ "$(column 9)" = 0.0 ] || fail "bytes within a node"
}

# memory: what does not fit is refused with the number of ranks that would, and
# fits there.
check_memory() {
    expect ' 23 ranks with as much memory' --preset paper --cache 0 --memory 24G
    size='--cache 0 --tile 3 --blocks i=6,6,6,6 a=6,6,6,6 --check none'
    # shellcheck disable=SC2086
    expect ' 3 ranks with as much memory' $size --memory 1000K
    # shellcheck disable=SC2086
    run 3 1 $size --memory 1000K --iterations 1 || fail "refused on 3 ranks"
    # shellcheck disable=SC2086
    expect 'no number of ranks is enough' $size --memory 1K
}

# peers: rows below the modes, with the rate of as many operations.
check_peers() {
    # shellcheck disable=SC2086
    contract 2 1 $small --modes static,auto --peers --repeat 2 --iterations 2
    awk '$1 ~ /^(static|auto|plain|dgemm)$/ {
             split($4, spread, "-"); rows++
             rate = $6 * $3
             if ($3 < spread[1] || $3 > spread[2]) bad = 1
             if ($1 ~ /plain|dgemm/ && ($2 != "-" || NF != 6)) bad = 1 }
         END { exit bad || rows != 4 }' "$folder/out" || fail "other rows"
}

check_bad_input() {
    expect "column 17: index 'x' is in one tensor only" \
        --expression 'C[i,j] += A[i,a,x] * B[a,j]'
    expect "index 'a' has no blocks" --blocks i=4
    expect "'i=4' is no option" i=4
    expect "blocks 'i=4;5', column 4: " --blocks 'i=4;5'
    expect '--preset and --blocks do not go together' --preset fifth --blocks a=4
    expect "--check is 'some'; allowed: vector, dense, none" --check some
    expect '--peers needs --compare' --peers
    expect "--memory is '5X'; allowed: a number" --memory 5X
}

"check_$what" "$@"
cat "$folder/out"
