#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# on_stall=abort:1 ends a job of which a rank died, was stopped or stays away,
# though the launcher keeps it.
#
#   on_stall.sh MPIRUN PROGRAM RANKS CASE...
set -u
mpirun=$1 program=$2 ranks=$3
shift 3
case $("${MPI_LAUNCHER:-mpirun}" --version 2>/dev/null) in
*'Open MPI'* | *OpenRTE*) ;;
*) exit 77 ;;
esac
failed=0
for how; do
    keep=
    [ "$how" != dies ] || keep='--mca orte_enable_recovery 1'
    began=$(date +%s)
    # shellcheck disable=SC2086
    text=$(EVENKEEL_ON_STALL=abort:1 "$mpirun" --timeout 30 $keep -n "$ranks" \
        "$program" "$ranks" 1 ending "$how" 2>&1)
    status=$?
    took=$(($(date +%s) - began))
    # A launcher that keeps the job says 0.
    [ -z "$keep" ] || status=1
    if [ $status -eq 0 ] || [ $took -gt 15 ] ||
        ! echo "$text" | grep -q 'on_stall=abort:1: this rank has waited'; then
        echo "$how: status $status after $took s:"
        echo "$text"
        failed=1
    fi
done
exit $failed
