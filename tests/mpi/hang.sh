#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Hangs without an end say what they wait for, and so do those whom a launcher
# leaves behind that keeps the job when a rank is killed.
#
#   hang.sh MPIRUN PROGRAM RANKS [CASE...]
set -u
mpirun=$1 program=$2 ranks=$3
shift 3
if [ $# -eq 0 ]; then
    set -- swapped destroyed split
    # That of MPICH fails itself when a rank is killed.
    case $("${MPI_LAUNCHER:-mpirun}" --version 2>/dev/null) in
    *'Open MPI'* | *OpenRTE*) set -- "$@" killed ;;
    esac
    if [ "${EVENKEEL_RANKS_PER_NODE:-0}" = 0 ]; then
        set -- map "$@"
    else
        set -- lost "$@"
    fi
fi
said=0
for name; do
    keep=
    [ "$name" != killed ] || keep='--mca orte_enable_recovery 1'
    # shellcheck disable=SC2086
    text=$("$mpirun" --timeout 30 $keep -n "$ranks" "$program" "$ranks" 1 \
        "$name" 2>&1)
    # The rank that has heard it says so, and ends with 42.
    if echo "$text" | grep -q "^heard $name "; then
        echo "$text" | grep "^heard $name "
        said=$((said + 1))
    else
        echo "$name: nobody said what it waits for:"
        echo "$text"
    fi
done
[ $said -eq $# ]
