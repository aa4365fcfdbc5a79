#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_compare.sh RANKS WORKERS: --compare prints one row per scheme and the
# energy, whatever the environment says about stealing.
set -u
. "$(dirname "$0")/common.sh"
export EVENKEEL_STEAL=none EVENKEEL_RESTORE=original

# shellcheck disable=SC2046
hartree_fock "$1" "$2" $(molecule be008_chain6 sto-3g) --tile 5 \
    --compare || fail "exit status $?"
for scheme in static counter StealAll Steal StealRet centralized hierarchical; do
    [ "$(grep -c "^$scheme " "$folder/out")" -eq 1 ] ||
        fail "not one row for $scheme"
done
is_near "$(energy)" -114.8213051800 1e-8 || fail "energy '$(energy)'"
cat "$folder/out"
