#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_energy.sh SYSTEM BASIS RANKS WORKERS [OPTION...]: the energy agrees with
# that of independent programs within 1e-8 hartree.
set -u
. "$(dirname "$0")/common.sh"
system=$1 basis=$2 ranks=$3 workers=$4
shift 4

expected=$(awk -v s="$system" -v b="$basis" '$1 == s && $2 == b { print $4 }' \
    "$HF_ENERGIES")
[ -n "$expected" ] || { echo "no reference for $system in $basis"; exit 1; }

# shellcheck disable=SC2046
run "$ranks" "$workers" $(molecule "$system" "$basis") "$@" ||
    fail "exit status $?"
found=$(energy)
is_near "$found" "$expected" 1e-8 ||
    fail "$system in $basis: energy '$found', expected $expected"
echo "$system in $basis: $found, expected $expected"
