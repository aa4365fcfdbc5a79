#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# emulate.sh MPIRUN EK_EMULATE DATA: the command line of ek-emulate, which checks
# itself that every task runs once.  DATA has records.  Nothing here is a time.
set -u
mpirun=$1 tool=$2 record=$3/be032_half.ekr
unset OMP_WAIT_POLICY
# In a debug build it says what tasks may not do.
export EVENKEEL_CHECK=0
. "$(dirname "$0")/common.sh"

# quiet: no warning, of threads that spin above all.
quiet() {
    [ ! -s err ] || fail "a warning: $(cat err)"
}

small=lognormal:n=200,mean_us=300,cv=1.5

# What --help calls modes is what --compare runs.
run 0 2 --help
[ "$(grep -c '^  ek-emulate --record' out)" -eq 1 ] || fail "help: $(cat out)"
sed -n '/^Modes of --compare/,/^$/p' out | awk '/^  / { print $1 }' >modes
[ "$(wc -l <modes)" -ge 7 ] || fail "modes: $(cat modes)"
grep -qE '^  auto +auto, random$' out || fail 'help: auto without stealing'
answers
full --synthetic "$small" --workers 2

# compared: each mode a row of as many columns as the first, none empty.
compared() {
    quiet
    awk 'NR == FNR { if ($1 != "") want[++n] = $1; next }
         titles && at < n && $1 == want[at + 1] { at++; if (NF != 17) bad = 1 }
         $1 == "mode" { titles = 1 }
         END { exit at != n || bad }' "$1" out ||
        fail "not a row for each mode: $(cat out)"
    tr '\n' ' ' <out | grep -q '; it comes to [0-9]* % of the best' ||
        fail "no verdict: $(cat out)"
}

run 0 1 --synthetic "$small,nulls=1000" --workers 8 --iterations 5 --compare
compared modes
run 0 2 --synthetic "$small,nulls=1000" --workers 4 --iterations 5 --compare \
    --repeat 2
compared modes
awk '$6 ~ /^[0-9.]+-[0-9.]+$/ {
         split($6, spread, "-")
         # Of two rounds, each with one that has settled.
         off = $5 - (spread[1] + spread[2]) / 2
         if (off < -0.0002 || off > 0.0002) bad = 1 }
     END { exit bad }' out || fail "no spread around the median: $(cat out)"
grep -q '^8 workers on 2 ranks and ' out || fail "head: $(cat out)"
export EVENKEEL_RESTORE=original EVENKEEL_STEAL=none EVENKEEL_WORKERS=3
printf '%s\n' retain centralized+none original+counter:16 >three
run 0 2 --synthetic "$small" --workers 4 --iterations 5 \
    --modes "$(tr '\n' , <three | sed 's/,$//')"
compared three
run 0 2 --synthetic "$small" --workers 4 --iterations 2 --compare --csv
unset EVENKEEL_RESTORE EVENKEEL_STEAL EVENKEEL_WORKERS
quiet
grep -v '^StealAll$' modes >without_nulls
column mode | uniq >ran
diff without_nulls ran || fail 'other modes without null tasks'
[ "$(wc -l <out)" -eq $((1 + 2 * $(wc -l <ran))) ] || fail "csv: $(cat out)"
run 0 1 --synthetic "$small" --workers 2 --iterations 2 --compare --csv \
    --repeat 2
[ "$(grep '^[0-9]*,static,' out | cut -d, -f1-3 | tr '\n' ' ')" = \
    '1,static,1 1,static,2 2,static,1 2,static,2 ' ] ||
    fail "csv of rounds: $(cat out)"
column mode >modes_of_rows
column tries | paste modes_of_rows - |
    awk '$1 ~ /^Steal/ && $2 > 0 { tried = 1 } END { exit !tried }' ||
    fail "no steal was tried: $(cat out)"

# As several nodes, with drift and noise.
EVENKEEL_RANKS_PER_NODE=1 run 0 2 --synthetic "$small" --workers 4 \
    --policy hierarchical --drift 10 --noise 5 --change alternate --seed 3 --json
[ "$(grep -c '^{"round": 1, "mode": "emulate", "iteration": [1-8], .*}$' out)" -eq 8 ] ||
    fail "json: $(cat out)"
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
for line in sys.stdin: json.loads(line)' <out || fail "json: $(cat out)"
fi

# Schedules, as the library's variables have them: an option, then a mode.
# stolen_until N: some steals are tried in the first N iterations, none later.
stolen_until() {
    column tries | awk -v n="$1" '(NR <= n) != ($1 > 0) { exit 1 }' ||
        fail "tried: $(column tries)"
}
schedule="--synthetic $small --workers 2 --iterations 4 --csv"
run 0 2 $schedule --steal random@0-1,none@2-
stolen_until 2
run 0 2 $schedule --modes retain@0/original@1-+random@0/none@1-
stolen_until 1
EVENKEEL_STEAL=none@1-3 run 0 2 $schedule --steal random
stolen_until 1

# The same seed draws the same tasks.
for kind in lognormal exponential uniform constant; do
    for seed in 1 1 2; do
        run 0 1 --synthetic "$kind:n=30,mean_us=50" --seed $seed --csv \
            --iterations 1 --workers 2
        column ideal_s >>ideals
    done
done
[ "$(uniq ideals | wc -l)" -eq 7 ] || fail "drawn: $(cat ideals)"

# A record, and where its tasks start.
run 0 2 --record "$record" --scale 0.01 --workers 4 --iterations 2 \
    --policy retain --steal near
quiet
grep -q '^be032_half.ekr, iteration 0, times 0.01: 8777 tasks, .* 61051 null$' \
    out || fail "record: $(cat out)"
grep -q 'start: blocks$' out || fail "start: $(cat out)"
grep -q '^cores used: [0-9.]* of [0-9]*; mean overshoot' out ||
    fail "end: $(cat out)"
for start in block dealt record; do
    run 0 2 --record "$record" --scale 0.001 --workers 2 --iterations 1 \
        --policy original --steal none --start $start
    quiet
done
run 0 1 --record "$record" --scale 0.001 --workers 1 --iterations 1 --csv
run 0 1 --record "$record" --scale 0.001 --workers 1 --iterations 1
grep -q 'start: the ranks of the record$' out || fail "start: $(cat out)"

# What the library says is not repeated.
ln -s /dev/full full.ekr
export EVENKEEL_RECORD=full.ekr
run 1 2 --synthetic "$small" --workers 1 --iterations 1
says 'No space left on device'
says 'ek-emulate: emulate: failed'
unset EVENKEEL_RECORD

# Bad input.
bad() {
    text=$1
    shift
    run 2 2 "$@"
    says "$text"
}
bad 'one of --record and --synthetic is needed' --workers 2
bad 'one of --record and --synthetic' --record "$record" --synthetic "$small"
bad "cannot read 'nowhere.ekr'" --record nowhere.ekr
bad 'this is no record' --record "$tool"
bad "--iteration is '1'; '" --record "$record" --iteration 1
bad "--workers is '65'" --synthetic "$small" --workers 65
bad "--scale is '0'" --synthetic "$small" --scale 0
bad '--csv and --json' --synthetic "$small" --csv --json
bad '--repeat needs --compare' --synthetic "$small" --repeat 2
bad "--modes has 'retain+all'; allowed behind the +: random, near" --synthetic "$small" \
    --modes retain+all
bad '--compare and --modes have policies' --synthetic "$small" --compare --policy retain
bad "--start is 'record'; allowed: block, dealt" --synthetic "$small" \
    --start record
bad "unknown option '--fast'" --synthetic "$small" --fast
bad '--record needs a value' --record
bad "--policy: 'best' is not allowed; allowed: original, retain" \
    --synthetic "$small" --policy best
bad "--steal: 'best@1' is not allowed; allowed: random, near" \
    --synthetic "$small" --steal none,best@1
for spec in '' normal:n=1,mean_us=1 lognormal lognormal: \
    lognormal:n=0,mean_us=1 lognormal:n=9 lognormal:n=9,mean_us=x \
    lognormal:n=9,mean_us=1,cv=-1 lognormal:n=9,mean_us=1,sigma=1 \
    'lognormal:n=9;mean_us=1' lognormal:n=nan,mean_us=1; do
    run 2 1 --synthetic "$spec"
    says "--synthetic is '$spec'"
done

# Real data: inputs and results of tasks that run away, each once.
data='--synthetic lognormal:n=200,mean_us=1000,cv=1 --workers 2 --start block --iterations 3 --csv'
EVENKEEL_RANKS_PER_NODE=1 run 0 2 $data --bytes input=20000,result=10000 \
    --policy hierarchical
away=$(column travelled | awk '{ sum += $1 } END { print sum }')
[ "$away" -gt 0 ] || fail 'nothing travels'
column data_bytes | awk -v away="$away" '{ sum += $1 } END { exit !(sum > 29900 * away && sum < 30100 * away) }' ||
    fail "$away tasks, and other bytes: $(column data_bytes)"
EVENKEEL_RANKS_PER_NODE=1 EVENKEEL_DATA=follow run 0 2 $data --bytes input=20000,cv=1
run 0 2 $data --bytes input=70,result=0 --policy hierarchical --steal none
run 0 2 $data --bytes input=70 --modes counter
bad "--bytes is 'input=x'" --synthetic "$small" --bytes input=x
exit $status
