#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_distributed.sh RANKS WORKERS: with matrices spread over the ranks, in a
# node and with each rank a node, the energy is the same within 1e-10 hartree,
# as are tasks and null tasks; and a rank has less of them.
set -u
. "$(dirname "$0")/common.sh"
ranks=$1 workers=$2

# solve OPTION...: run the molecule.
solve() {
    # shellcheck disable=SC2046
    run "$ranks" "$workers" $(molecule he008_chain 6-31g) --tile 2 "$@" ||
        fail "'$*': exit status $?"
}

# tasks: and null tasks of each row.
tasks() {
    awk '$1 ~ /^[0-9]+$/ && NF == 9 { print $5, $6 }' "$folder/out"
}

solve
energy=$(energy) tasks=$(tasks) memory=$(memory)
for apart in 0 1; do
    export EVENKEEL_RANKS_PER_NODE=$apart
    solve --distributed --cache $apart
    is_near "$(energy)" "$energy" 1e-10 ||
        fail "'$(energy)', copied $energy"
    [ "$(tasks)" = "$tasks" ] || fail "other tasks"
    awk -v copied="$memory" -v spread="$(memory)" -v ranks="$ranks" \
        'BEGIN { exit spread * (ranks + 1) / 2 > copied }' ||
        fail "$(memory) MB per rank, $memory MB copied"
done
solve --distributed --density-screening --policy counter
is_near "$(energy)" "$energy" 1e-8 || fail "screened '$(energy)', not $energy"
echo "$energy, $memory and $(memory) MB"
