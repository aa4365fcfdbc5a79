#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# unfold.sh EK_SIM HAS_UTS: trees that unfold as their tasks run, which ek-sim
# checks itself: what was spawned has run.  The counts are those of the
# literature.
set -u
mpirun='' tool=$1 has_uts=$2
. "$(dirname "$0")/common.sh"

on='--machine ib-edr --cores 96'

# counts EXPECTED ARGUMENT...: "NODES FOUND DEPTH TASKS", as people are told.
counts() {
    known=$1
    shift
    run 0 $on "$@"
    found=$(sed -n 's/^\([0-9]*\) [a-z]*, \([0-9]*\) [a-z]*, depth \([0-9]*\), in \([0-9]*\) tasks;.*/\1 \2 \3 \4/p' out)
    [ "$found" = "$known" ] || fail "$*: '$found', not '$known'"
}

counts '856189 14200 12 856189' --workload nqueens:12
counts '856189 14200 4 4959' --workload nqueens:12,cutoff=4
counts '856189 14200 0 1' --workload nqueens:12,cutoff=0
counts '2057 92 8 2057' --workload nqueens:8 --ahead-ns 0
counts '3250 3200 50 3250' --workload bpc:n=64,depth=50
counts '57313 17711 21 57313' --workload fib:22
counts '57313 17711 4 31' --workload fib:22,cutoff=4
counts '1 0 0 1' --workload fib:0
counts '2047 1024 10 2047' --workload stress:1000,20,2
counts '2 1 1 2' --workload bpc:n=1,depth=1,produce=1us,consume=2s
if [ "$has_uts" = true ]; then
    counts '4130071 3305118 10 4130071' --workload uts:T1
    counts '4112897 3599034 1572 4112897' --workload uts:T3
    counts '4112897 3599034 1572 4112897' --steal near \
        --workload uts:bin,b=2000,q=0.124875,m=8,r=42
    counts '4130071 3305118 10 3987' --workload uts:T1,cutoff=5
fi

# The same seed is the same run, another is another; so are exact and sampled.
queens='--workload nqueens:10 --node-ns 1000'
for mode in exact sampled; do
    run 0 $on $queens --mode $mode --csv
    column makespan_s >first
    for seed in 1 2; do
        run 0 $on $queens --mode $mode --seed $seed --csv
        column makespan_s >"$seed"
    done
    cmp -s 1 first && [ "$(wc -l <first)" -eq 1 ] || fail "$mode: $(cat 1)"
    cmp -s 1 2 && fail "$mode: seeds make no difference"
done

# The ideal time is that of all nodes, the bound at least that of a path; and
# --node-ns is what a node takes.
run 0 $on $queens --csv
column ideal_s | grep -qx "$(awk 'BEGIN { printf "%.6g", 35539e-6 / 94 }')" ||
    fail "ideal: $(column ideal_s)"
run 0 --machine this --node-cores 24 --workload bpc:n=2,depth=9 --csv
[ "$(column data_task_bytes)" = 0 ] || fail "data: $(column data_task_bytes)"
column bound_s | grep -qx 0.014 || fail "bound: $(column bound_s)"

# All workers but the one with the root wait for a first steal.
run 0 --machine this --node-cores 24 $queens --csv
[ "$(column first_steals)" = 23 ] || fail "first: $(column first_steals)"
echo "$(column first_steal_s) $(column first_steal_most_s) $(column makespan_s)" |
    awk '!(0 < $1 && $1 < $2 && $2 < $3) { exit 1 }' || fail "late: $(cat out)"
run 0 --machine this --node-cores 1 $queens --csv
[ "$(column first_steal_most_s)" = nan ] || fail "alone: $(cat out)"

# Sweeps, modes, and machines whose workers take messages themselves.
run 0 --machine hopper --cores 24,48 --workload bpc:n=30,depth=9 --csv \
    --modes original+random,original+near,retain+random --iterations 2
[ "$(column cores | uniq | tr '\n' ' ')" = '24 48 ' ] || fail "cores: $(cat out)"
[ "$(column mode | sort -u | wc -l)" -eq 3 ] || fail "modes: $(cat out)"
[ "$(wc -l <out)" -eq 13 ] || fail "rows: $(cat out)"
run 0 --machine tcp --cores 64 $queens --compare --iterations 2 --seeds 2
grep -q 35539 out || fail "compared: $(cat out)"
run 0 --machine tcp --cores 64 --ranks-per-node 2 $queens --deque locked \
    --jitter 5 --slowness 1,2 --utilization curve --loads loads --iterations 2
grep -q 'nqueens:10' curve && grep -q ',ran,' loads && ! grep -q ',start,' loads ||
    fail 'no curve, or other loads'
run 0 $on --workload bpc:n=64,depth=50 --task-bytes 1000 --csv
column stolen_bytes | grep -qE '^[1-9]' || fail "stolen: $(column stolen_bytes)"

# Nobody steals: one worker has all.
run 0 $on --workload bpc:n=10,depth=10 --steal none --csv
column makespan_s | grep -qE '^0\.510' || fail "alone: $(column makespan_s)"

# A policy that does not suit the size is said once.
run 0 --machine this --node-cores 64 --cores 32 $queens --steal dvs
grep -q 'suits nodes' err && fail "32 suit: $(cat err)"
run 0 --machine this --node-cores 64 --cores 33,64 $queens --steal dvs --seeds 2
says 'steal=dvs suits nodes of up to 32 workers, and this one has 33'

# Bad input.
bad() {
    said=$1
    shift
    run 2 "$@"
    says "$said"
}
bad "allowed: nqueens:N[,cutoff=C]" --workload nqueens
bad "allowed: nqueens:N[,cutoff=C]" --workload nqueens:19
bad "allowed: nqueens:N[,cutoff=C]" --workload nqueens:8,
bad "allowed: nqueens:N[,cutoff=C]" --workload nqueens:8,cutoff=1.5
bad "allowed: bpc:n=1...1e7" --workload bpc:n=1e8,depth=1
bad "allowed: bpc:n=1...1e7" --workload bpc:n=64
bad "allowed: bpc:n=1...1e7" --workload bpc:n=64,depth=0
bad "allowed: bpc:n=1...1e7" --workload bpc:n=64,depth=5,produce=1
bad "allowed: bpc:n=1...1e7" --workload bpc:n=64,depth=5,consume=1h
bad 'nqueens:..., bpc:..., fib:..., skew:..., stress:...' --workload sort:40
bad "allowed: fib:N[,cutoff=C]" --workload fib:61
bad "allowed: skew:LEAF,D,DEC1,DEC2" --workload skew:10000,20,1
bad "allowed: stress:LEAF,D,DEC[,cutoff=C]" --workload stress:10000,20,0
bad '--node-ns does not go with bpc' --workload bpc:n=6,depth=5 --node-ns 3
bad '--node-ns needs a tree' --synthetic constant:n=9,mean=1 \
    --node-ns 3
bad '--tiles does not go with --workload' --workload nqueens:8 --tiles gets=2
bad '--start does not go with --workload' --workload nqueens:8 --start dealt
bad 'one of --record, --synthetic and --workload' --workload nqueens:8 \
    --synthetic constant:n=9,mean=1
bad "--ahead-ns is '20000'" --workload nqueens:8 --ahead-ns 20000
if [ "$has_uts" = true ]; then
    bad 'allowed: uts:TREE' --workload uts:T9
    bad 'allowed: uts:TREE' --workload uts:geo,z=1
    bad 'q x m is at most 1.001' --workload uts:T3,q=0.13
    bad 'above 1 where a is 1' --workload uts:geo,a=1,b=1
    bad 'allowed: uts:TREE' --workload uts:T1,q=2
fi
exit $status
