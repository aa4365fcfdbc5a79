#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tiles.sh MPIRUN EK_BENCH COMPARE_TILES BUILD: the tables of tiles and affinity,
# as small as they can be.  Nothing here is a time.
set -u
mpirun=$1 tool=$2 compare=$3 build=$4
. "$(dirname "$0")/common.sh"

"$compare" "$build" --hosts 1 --repetitions 1 --busy-ms 40 >tables 2>err ||
    fail "compare-tiles: $(cat tables err)"

# table PLACE COLUMN...: a line for each operation and size, and a cell with a
# time under each of these columns.
table() {
    place=$1
    shift
    for column in "$@"; do
        count=$(awk -F ' *[|] *' -v place="$place" -v column="$column" '
            NF == 0 { at = 0 }
            $2 == place { for (i = 3; i < NF; i++) if ($i == column) at = i }
            at && $2 ~ /^(get|put|accumulate) [0-9.]+ [kM]B$/ &&
                $at ~ /^[0-9.]+ [nmu]?s \([0-9.]+-[0-9.]+\)(, [0-9.e-]+ x)?$/ &&
                $at !~ /^0 / { count++ }
            END { print count + 0 }' tables)
        [ "$count" -eq 15 ] ||
            fail "$place, $column: $count rows: $(cat tables err)"
    done
}
table own memory Evenkeel
table node memory Evenkeel
table nodes ping-pong 'server thread' polling
table busy 'server thread' polling ek_poll 'ek_poll 0.5 ms'
[ "$(grep -cE '^[|] (in blocks|at owners), (random|near) [|] [1-9][0-9.]* ms .* MB ' tables)" \
    -eq 4 ] || fail "affinity: $(cat tables)"

# An unknown option is that of ek-bench.
"$compare" "$build" --hosts 1 --no-such >out 2>err && fail 'not refused'
says "unknown option '--no-such'"
exit $status
