#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_same.sh POLICY: the energy does not depend on how many ranks and workers
# there are, within 1e-10 hartree.
set -u
. "$(dirname "$0")/common.sh"
policy=$1

first=
for shape in 1x1 1x2 2x2 3x1 4x2; do
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
