#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_same.sh POLICY SHAPE...: the energy is that of one worker, however many
# RANKSxWORKERS there are, within 1e-10 hartree.
set -u
. "$(dirname "$0")/common.sh"
policy=$1
shift

first=
for shape in 1x1 "$@"; do
    ranks=${shape%x*} workers=${shape#*x}
    # shellcheck disable=SC2046
    run "$ranks" "$workers" $(molecule h2o '6-31g*') --tile 2 \
        --policy "$policy" || fail "exit status $?"
    found=$(energy)
    first=${first:-$found}
    is_near "$found" "$first" 1e-10 ||
        fail "$shape ranks x workers: '$found', before $first"
    grep -q " $((ranks * workers)) workers" "$folder/out" ||
        fail "not $shape workers"
done
echo "$policy: $first"
