#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh WHAT [ARGUMENT...]: chemistry, which HF_PROGRAM names; every run is
# compared with a serial one, to the last bit.
set -u
. "$(dirname "$0")/../hf/common.sh"
what=$1
shift

small='--columns 23 --levels 2 --iterations 4 --mechanism robertson'
modes='static counter pool Steal StealRet centralized hierarchical follow auto'

# same RANKS WORKERS OPTION...: run it; it must succeed, and be equal.
same() {
    run "$@" --check || fail "'$*': exit status $?"
    grep -q '^equal to a serial run to the last bit$' "$folder/out" ||
        fail "'$*': not compared"
}

# modes RANKS WORKERS [apart]: each computes the same bits.
check_modes() {
    [ "${3:-}" != apart ] || export EVENKEEL_RANKS_PER_NODE=1
    # shellcheck disable=SC2086
    same "$1" "$2" $small --compare
    for mode in $modes; do
        grep -q "^$mode " "$folder/out" || fail "no row for $mode"
    done
}

# hosts RANKS WORKERS: the same over TCP between two host names.
check_hosts() {
    # shellcheck disable=SC2086
    run "$1" "$2" $small --check --modes StealRet,counter,follow
    status=$?
    [ $status -ne 77 ] || exit 77
    [ $status -eq 0 ] || fail "exit status $status"
}

# A stop before the first column goes on, or ends with a save of ranges, which is
# resumed on other ranks.
check_stops() {
    export EVENKEEL_TIME_LIMIT=1ms
    # shellcheck disable=SC2086
    same 2 2 $small
    # shellcheck disable=SC2086
    EVENKEEL_CHECKPOINT="$folder/saves@every:1000" run 2 2 $small &&
        fail "it has not ended"
    grep -q "^chemistry: stopped; --resume $folder/saves goes on$" \
        "$folder/err" || fail "not stopped: $(cat "$folder/err")"
    # shellcheck disable=SC2086
    same 3 1 $small --resume "$folder/saves"
}

check_bad_input() {
    expect "--mechanism is 'ozone'; allowed: pollu, robertson" \
        --mechanism ozone
    expect "--levels is '0'; allowed:" --levels 0
}

"check_$what" "$@"
cat "$folder/out"
