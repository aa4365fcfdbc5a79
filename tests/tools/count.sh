#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# count.sh COUNT-INSTRUCTIONS BUILD: a case runs; one that is not there is named.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMPI_MCA_orte_tmpdir_base="$folder" # see tools/mpirun
message=$("$1" "$2" 'seed: run, log' nonsense 2>&1 >/dev/null)
status=$?
case $status:$message in
2:*"no case 'nonsense'; allowed:"*'seed: run, log'*) ;;
*)
    echo "FAIL: exit status $status: $message"
    exit 1
    ;;
esac
export ASAN_OPTIONS=detect_leaks=0 # of MPI's own
"$2/tools/ek-bench/ek-bench-count" 'seed: add' 1 | grep -q '^tasks [1-9]' || {
    echo "FAIL: ek-bench-count does not run"
    exit 1
}
