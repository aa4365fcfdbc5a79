#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# migrate.sh BEFORE AFTER: BEFORE on 3 ranks and AFTER on 1, 2 and 4 print the
# same, but for "seconds: ...".  The 4 are nodes of one rank each.  Programs in
# Python are run by $PYTHON.  An AFTER that is called wrong prints something else,
# and is told why, but gets no error.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMP_NUM_THREADS=2
unset EVENKEEL_WORKERS

# run RANKS PROGRAM: what it prints must be what the first run has printed.
run() {
    python=
    case $2 in *.py) python=$PYTHON ;; esac
    # shellcheck disable=SC2086
    "$root/tools/mpirun" --timeout 60 -n "$1" $python "$2" >"$folder/out"
    status=$?
    sed -i '/^seconds: /d' "$folder/out"
    [ -f "$folder/first" ] || cp "$folder/out" "$folder/first"
    [ $status -eq 0 ] && [ -s "$folder/out" ] &&
        diff "$folder/first" "$folder/out" && return
    echo "FAIL: $2 on $1 ranks: exit status $status"
    cat "$folder/first"
    exit 1
}

run 3 "$1"
case $2 in
*_wrong)
    for ranks in 1 2; do
        "$root/tools/mpirun" --timeout 60 -n $ranks "$2" >"$folder/out" \
            2>"$folder/told" && ! diff "$folder/first" "$folder/out" &&
            grep 'came in descending order.*misses tasks' "$folder/told" && continue
        echo "FAIL: $2 on $ranks ranks is right, fails, or is not told"
        exit 1
    done
    exit 0
    ;;
esac
run 1 "$2"
run 2 "$2"
EVENKEEL_RANKS_PER_NODE=1 run 4 "$2"
cat "$folder/first"
