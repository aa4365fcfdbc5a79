#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# collections.sh MPIRUN EK_BENCH: what a further collection takes, and leaves.
# Nothing here is a time.
set -u
mpirun=$1 tool=$2
. "$(dirname "$0")/common.sh"

# value NAME: of the row.
value() {
    sed -n "s/.*\"case\": \"$1\", \"value\": \([^,]*\),.*/\1/p" out
}

# exactly NAME NUMBER, at_most NAME NUMBER
exactly() {
    [ "$(value "$1")" = "$2" ] || fail "$1: '$(value "$1")', expected $2"
}
at_most() {
    value "$1" | awk -v most="$2" '{ n++ } $1 > most { bad = 1 }
                                   END { exit n != 1 || bad }' ||
        fail "$1: '$(value "$1")', expected at most $2"
}

run 0 4 --tasks 3000 --repetitions 1 --json collections
for place in node nodes; do
    exactly "$place: communicators left by 30" 0
done
exit $status
