#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench.sh MPIRUN EK_BENCH DATA: every case of ek-bench, as small as it can be.
# Nothing here is a time.
set -u
mpirun=$1 tool=$2 record=$3/be032_half.ekr
. "$(dirname "$0")/common.sh"

# has CASE NUMBER [PATTERN]: so many rows of that case, at least.
has() {
    [ "$(grep -cE "^\{\"bench\": \"$1\", \"case\": \"${3-}.*\}$" out)" -ge "$2" ] ||
        fail "$1: fewer than $2 rows of '${3-}': $(cat out err)"
}

run 0 2 --tasks 1000 --repetitions 1 --busy-ms 10 --json \
    tasks steal process service counter loops
has tasks 5 '(seed|spawned|restore|null index)'
for way in threads processes nodes; do
    has steal 14 "$way: task to task"
    has process 4 "$way: "
done
has steal 14 'sws: operations'
for way in sws sdc; do
    has steal 15 "$way: task to task"
done
has service 3
has counter 8 '(processes|nodes): (seeds|a range) of (10|100) us'
for us in 1 10 100; do
    has loops 18 "threads, $us us: "
    has loops 18 "processes, $us us: "
done
grep -E '"value": (-|0,)' out | grep -v 'the difference' &&
    fail 'something takes no time'

# One length alone.
run 0 2 --tasks 1000 --length 7 --repetitions 1 --json loops
has loops 18 'threads, 7 us: '
has loops 18 'processes, 7 us: '
grep -E '"case": "[a-z]+, (1|10|100) us: ' out && fail '--length 7 has others'

# A plan moves next to nothing that need not move.
run 0 2 --tasks 1000 --repetitions 1 --json plan
has plan 16
awk -F '[:,}]' '/beyond the fewest/ {
    for (i = 1; i < NF; i++)
        if ($i ~ /"value"/ && $(i + 1) < 2)
            few++
} END { exit few != 4 }' out || fail "plan: $(cat out)"

# The same record is the same decision, of eight algorithms each time.
run 0 1 --json --record "$record" balance
has balance 40
sed 's/, "cpu_ms".*//' out >first
run 0 2 --json --record "$record" balance
sed 's/, "cpu_ms".*//' out >second
diff first second || fail 'balance: a decision differs from itself'
grep -F ' 8 0/0 centralized 0.03 %"' first |
    grep -qE '"before": 0\.2[0-9]*, "after": 0\.000[0-9]*, ' ||
    fail "balance: $(cat first)"
full --record "$record" balance
run 2 1 --record nowhere.ekr balance
says "nowhere.ekr"
exit $status
