#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fidelity.sh FIDELITY BUILD: a row per mode, from runs that both succeed.
set -u
out=$(EVERY=200 SEEDS=2 "$1" "$2" 1 4) || exit 1
number='-?[0-9.e+-]+'
rows=$(echo "$out" | grep -cE \
    "^\| 4 \| $number:$number \| [A-Za-z]+ \| $number ± 0.0000 \| $number ± $number \| [+-][0-9.]+ \| [+-][0-9.]+ \|$")
[ "$rows" -eq 5 ] || {
    echo "FAIL: $out"
    exit 1
}
