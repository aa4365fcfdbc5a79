#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpdc12.sh REPRODUCE BUILD: tools/reproduce-hpdc12 writes all its tables.  Times
# are virtual: every run comes to the same.
set -u
reproduce=$1 BUILD=$2
export BUILD
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
status=0

fail() {
    echo "FAIL: $*"
    status=1
}

"$reproduce" --tiny "$out" >"$out/log" 2>&1 ||
    fail "exit status $?: $(cat "$out/log")"
# rows TABLE: without its titles.
rows() {
    grep -E '^(be32|48)[[:space:]]' "$out/$1.txt"
}
[ "$(rows efficiency | wc -l)" -eq 8 ] || fail "$(cat "$out/efficiency.txt")"
[ "$(rows steals | wc -l)" -eq 2 ] || fail "$(cat "$out/steals.txt")"
[ "$(rows table3 | wc -l)" -eq 4 ] || fail "$(cat "$out/table3.txt")"
rows efficiency | awk -F'\t' '
    { first[$4] = $5; last[$4] = $9 }
    END { exit !(last["StealRet l"] > 99 &&
                 last["StealRet l"] > first["StealRet l"] + 0.3 &&
                 last["StealRet l"] > last["StealRet e"] &&
                 last["StealRet l"] > last["Steal l"] && last["static l"] == "-" &&
                 last["centralized l"] > 99 && first["centralized l"] < 60) }' ||
    fail "$(cat "$out/efficiency.txt")"
exit $status
