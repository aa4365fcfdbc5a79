#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# small_memory.sh MPIRUN PROGRAM RANKS WORKERS: a mount for shared memory that
# is too small (SMALL_MEMORY, 1m) must be an error on every rank.  Exit status 77 (skipped) where
# nothing can be mounted, or MPI cannot be told to use it.
if ! "${MPI_LAUNCHER:-mpirun}" --version 2>/dev/null |
    grep -q -e 'Open MPI' -e OpenRTE; then
    exit 77
fi
export MPIRUN="$1"
shift
folder=$(mktemp -d /tmp/ek_small_XXXXXX)
as_root=
[ "$(id -u)" -eq 0 ] || as_root=-Ur
unshare $as_root -m sh -c '
    folder=$1
    shift
    mount -t tmpfs -o size="${SMALL_MEMORY:-1m}" tmpfs "$folder" 2>/dev/null || exit 77
    export OMPI_MCA_osc_sm_backing_directory="$folder"
    "$MPIRUN" --timeout 50 -n "$2" "$@" small' sh "$folder" "$@"
status=$?
rmdir "$folder"
# What unshare says where namespaces are not allowed.
[ $status -ne 1 ] || unshare $as_root -m true 2>/dev/null || status=77
exit $status
