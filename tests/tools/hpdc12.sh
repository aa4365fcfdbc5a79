#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpdc12.sh REPRODUCE BUILD: tools/reproduce-hpdc12 writes its page, and what
# that is to show holds.  Times are virtual: every run comes to the same.
set -u
reproduce=$1 BUILD=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
status=0

fail() {
    echo "FAIL: $*"
    status=1
}

python3 "$(dirname "$0")/hpdc12_page.py" "$(dirname "$reproduce")" ||
    fail 'the page of the whole study'

# go NAME: all of the small study.
go() {
    "$reproduce" --quick --build "$BUILD" --runs "$out/runs" --jobs 2 \
        >"$out/$1.log" 2>&1 || fail "$1: exit status $?: $(cat "$out/$1.log")"
    stat -c '%n %y' "$out"/runs/*.csv >"$out/$1.csv"
    cp "$out/runs/page.md" "$out/$1.md"
}

# What was stopped goes on, and what is there is not made again.
go first
rm "$out/runs/be64-40-hopper-240-steal.args"
go second
diff "$out/first.md" "$out/second.md" || fail 'another page'
[ "$(diff "$out/first.csv" "$out/second.csv" | grep -c '^>')" -eq 1 ] ||
    fail "runs made again: $(diff "$out/first.csv" "$out/second.csv")"
for plot in "$out"/runs/page/*.svg; do
    python3 -c 'import sys, xml.dom.minidom
xml.dom.minidom.parse(sys.argv[1])' "$plot" || fail "$plot is no picture"
done

# value NAME ITERATION COLUMN: mean over seeds of a run.
value() {
    awk -F, -v iteration="$2" -v column="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["statistic"] == "run" && $at["iteration"] == iteration {
            sum += $at[column]; n++ }
        END { print sum / n }' "$out/runs/$1.csv"
}
# holds CONDITION: in awk.
holds() {
    awk "BEGIN { exit !($1) }" || fail "not so: $1"
}

# Null tasks cost; retention and rebalancing gain, and most in our order.  The
# first row of what begins with iteration 0 is that iteration.
at=be64-40-hopper-240
holds "$(value $at-stealret-12 1 makespan_s) > $(value $at-stealret-12 6 makespan_s)"
holds "$(value $at-static 1 makespan_s) > 2 * $(value $at-steal-12 1 makespan_s)"
holds "$(value $at-stealret 5 makespan_s) < $(value $at-stealret-12 6 makespan_s)"
# Figure 6: iteration 2 runs what iteration 1 left, and nobody steals.
holds "$(value $at-plb-12 2 tries) > 0 && $(value $at-plb-12 3 tries) == 0"
holds "$(value $at-plb-12 4 efficiency) > $(value $at-plb-12 3 efficiency) + 0.05 &&
       $(value $at-plb-12 4 efficiency) > 0.9"
grep -q '^| HF-Be64, Hopper 240 | as printed | 83\.[0-9 .±]* | 8[78]\.' \
    "$out/first.md" || fail 'iteration 0'

grep -q 'HF-Be64, Hopper 960 (23\.1 tasks a core): 77\..* / 99\..* %\.$' \
    "$out/first.md" || fail 'few tasks'

# The rise: as printed, retention gains with each of four iterations, to the
# last digit, and thieves ask less; with our deque it is there at once.  Slow
# servers halve attempts.
at=be64-40-hopper-960
rise=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["statistic"] == "run" { print $at["makespan_s"], $at["tries"] }' \
    "$out/runs/$at-blocks-12.csv")
[ "$rise" = "11.9611 12553.9
10.8865 9348.66
10.2564 7865.94
9.22425 5697.62
9.2241 5695.66" ] || fail "the rise: $rise"
# Who writes the digits anew must still see a rise.
echo "$rise" | awk 'NR > 1 && NR < 5 && $1 >= last { exit 1 } { last = $1 }' ||
    fail "no rise: $rise"
holds "$(value $at-shown-12 1 efficiency) > $(value $at-blocks-12 1 efficiency) + 0.1"
holds "$(value $at-shown-12 3 efficiency) < $(value $at-shown-12 2 efficiency) + 0.001"
holds "$(value $at-slow-12 1 tries) < $(value $at-blocks-12 1 tries) / 2"
# TCE: its tasks are nearly even, so what is gained is less.
at=tce-third-product-hopper-960
holds "$(value $at-static 1 efficiency) < $(value $at-steal-12 1 efficiency)"
holds "$(value $at-stealret 5 makespan_s) < $(value $at-steal-12 1 makespan_s)"
holds "$(value $at-plb-12 4 efficiency) >= $(value $at-plb-12 3 efficiency)"
holds "$(value $at-stealret-12 1 makespan_s) < 1.2 * $(value $at-steal-12 1 makespan_s)"
grep -q '^| TCE | product | 714,025 | 44,991 | 3,087,563,053,792 |' \
    "$out/first.md" || fail 'the tasks of TCE'
# Table 3: Algorithm 1 comes closer to ideal, Algorithm 2 is faster.
# All cores are workers: with a server per node ideal would be 24/23 of that.
at=table3-be64-40-table3-480-4-4
holds "$(value $at-alg1-core 2 makespan_s) < $(value $at-alg2 2 makespan_s)"
holds "$(value $at-alg2 1 ideal_s) * 480 < 6953"
holds "$(value $at-alg1-core 1 restore_s) > $(value $at-alg1-node 1 restore_s)"
holds "$(value $at-alg1-core 1 restore_s) > $(value $at-alg2 1 restore_s)"
exit $status
