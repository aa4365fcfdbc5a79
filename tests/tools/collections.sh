#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# collections.sh MPIRUN EK_BENCH [SANITIZER]: what a further collection takes,
# and leaves.  Nothing here is a time; a sanitizer has memory of its own.
set -u
mpirun=$1 tool=$2 sanitizer=${3-none}
. "$(dirname "$0")/common.sh"

# value NAME: of the row.
value() {
    sed -n "s/.*\"case\": \"$1\", \"value\": \([^,]*\),.*/\1/p" out
}

# at_most NAME NUMBER
at_most() {
    value "$1" | awk -v most="$2" '{ n++ } !($1 <= most) { bad = 1 }
                                   END { exit n != 1 || bad }' ||
        fail "$1: '$(value "$1")', expected at most $2"
}

# 64 KiB, and 33 KiB for its worker.  In a node now and then a window for many,
# which has a communicator.
run 0 4 --tasks 3000 --repetitions 1 --json collections
for place in node nodes; do
    [ "$sanitizer" != none ] || at_most "$place: bytes of a further" 99328
    at_most "$place: communicators of a further" 0.2
    at_most "$place: communicators left by 30" 0
done
exit $status
