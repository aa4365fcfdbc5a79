#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_compare.sh RANKS WORKERS: --compare prints one row per mode and the
# energy, whatever the environment says about stealing.
set -u
. "$(dirname "$0")/common.sh"
export EVENKEEL_STEAL=none EVENKEEL_RESTORE=original

# shellcheck disable=SC2046
run "$1" "$2" $(molecule be008_chain6 sto-3g) --tile 5 \
    --compare || fail "exit status $?"
has_modes
is_near "$(energy)" -114.8213051800 1e-8 || fail "energy '$(energy)'"
cat "$folder/out"
