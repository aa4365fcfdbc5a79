#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sim.sh EK_SIM DATA SLOWDOWN: the command line of ek-sim, which checks itself
# that every task runs once; virtual times only.  DATA has records.
set -u
mpirun='' tool=$1 record=$2/be032_half.ekr slowdown=$3
. "$(dirname "$0")/common.sh"

small='--synthetic lognormal:n=2000,mean=0.01,cv=1 --cores 48 --iterations 3
    --machine hopper'

# The same seed is the same run, another is another.
for mode in exact sampled; do
    run 0 $small --mode $mode --csv
    grep -v decision out >/dev/null || fail 'no rows'
    column makespan_s >first
    run 0 $small --mode $mode --csv
    column makespan_s >second
    cmp -s first second || fail "$mode: a run differs from itself"
    run 0 $small --mode $mode --csv --seed 2
    column makespan_s >second
    cmp -s first second && fail "$mode: seeds make no difference"
    [ "$(wc -l <first)" -eq 3 ] || fail "$mode: $(cat first)"
done

# All ways to balance, on every kind of machine.
for machine in hopper titan intrepid edison frontier ib-edr ib-hdr ib-ndr tcp \
    this; do
    run 0 --record "$record" --machine $machine --iterations 2 --compare \
        --scale 5 --node-cores 8 --ranks-per-node 2 --cores 24
    [ "$(grep -c '^[a-zA-Z]' out)" -ge 9 ] || fail "$machine: $(cat out)"
done
run 0 $small --compare --progress polling --deque locked --order executed
run 0 $small --iterations 2 --csv --modes static,original+counter:16,retain,auto
[ "$(column mode | uniq | tr '\n' ' ')" = \
    'static original+counter:16 retain auto ' ] || fail "--modes: $(cat out)"
run 0 $small --iterations 2 --modes retain,centralized+none
grep -q '^retain  *1 ' out || fail "--modes: $(cat out)"
run 0 $small --json
[ "$(grep -c '^{.*"seed": 1, "mode": "retain+random", "iteration": [123], .*}$' out)" -eq 3 ] ||
    fail "json: $(cat out)"
full $small
full $small --csv
full $small --json
run 0 $small --drift 5 --noise 5 --policy auto --steal near --expected 10
run 0 $small --start dealt --policy hierarchical --balance-group 8
run 0 $small --start uneven:4:4 --policy centralized --steal none
run 0 $small --cores 5 --buffer-slots 2

# What retention and rebalancing are for.  Where tasks are retained there is less
# to steal each time, and the end comes earlier.
for policy in retain original; do
    run 0 $small --iterations 4 --start uneven:4:4 --policy $policy \
        --steal random --csv
    column stolen >stolen
    column makespan_s >makespan
    paste stolen makespan | awk -v is_kept=$([ $policy = retain ] && echo 1) '
        NR == 1 { stolen = $1; makespan = $2 }
        END { helps = $1 < stolen / 2 && $2 < makespan * 0.95
              exit helps != is_kept + 0 }' ||
        fail "$policy: stolen, makespan: $(paste stolen makespan)"
done
run 0 $small --start uneven:4:4 --policy centralized --steal none --csv
column efficiency | awk 'NR == 1 { first = $1 }
                         END { exit !($1 > 0.8 && first < 0.6) }' ||
    fail "a rebalance does not balance: $(column efficiency)"

# One node of four is half as fast: two iterations tell auto enough.  And where
# looking for work takes a third of an iteration, nobody does from the third on.
auto="--machine ib-edr --node-cores 24 --cores 96 --policy auto --csv"
run 0 $auto --synthetic lognormal:n=4700,mean=2e-3,cv=1 --slowness 1,1,1,2
column efficiency_bound | awk 'NR > 2 && $1 < 0.985 { exit 1 }' ||
    fail "slow node: $(column efficiency_bound)"
# Without stealing, rebalances know from the third iteration on how fast it is.
run 0 $auto --policy centralized --steal none --slowness 1,1,1,2 \
    --synthetic lognormal:n=4700,mean=2e-3,cv=1
column efficiency_bound | awk 'NR > 2 && $1 < 0.98 { exit 1 }' ||
    fail "slow node, no stealing: $(column efficiency_bound)"
run 0 $auto --synthetic lognormal:n=4700,mean=5e-6,cv=1
[ "$(column tries | sed 's/^0$/none/; s/^[0-9.]*$/some/' | tr '\n' ' ')" = \
    'some some none none none ' ] || fail "stealing goes on: $(column tries)"

# Durations that change: the same for every policy, others in each iteration.
for change in alternate renew hot-moves hot-comes hot-creeps; do
    run 0 $small --change $change --iterations 6 --policy original --steal none --csv
    column makespan_s >makespan
    column bound_s >bound
    run 0 $small --change $change --iterations 6 --csv
    column bound_s | cmp -s - bound || fail "$change: bounds differ"
    expected=6
    case $change in
    alternate) expected=2 ;;
    hot-comes) expected=2 ;;
    esac
    [ "$(sort -u makespan | wc -l)" -eq $expected ] ||
        fail "$change: $(cat makespan)"
done

# Nodes that are slow, ranks that are small: two tasks a worker take as long as
# on the slowest, and what can be reached is known.
run 0 --synthetic constant:n=48,mean=1 --machine hopper --cores 72 \
    --rank-workers 10,4 --slowness 1,4,1 --steal none --iterations 1 --csv
column ideal_s | grep -qx 2.28571 || fail "ideal: $(column ideal_s)"
column makespan_s | awk '{ exit !($1 > 8 && $1 < 8.1) }' ||
    fail "slow: $(column makespan_s)"

# Over trees 4,800 ranks learn in two milliseconds that nothing is to move; one
# rank would talk to all of them for fifty.
run 0 --synthetic constant:n=9600,mean=1e-2 --machine hopper --cores 9600 \
    --ranks-per-node 12 --policy centralized --steal none --iterations 2 --csv
column restore_s | awk '{ exit !($1 > 0 && $1 < 2e-3) }' ||
    fail "restore: $(column restore_s)"

# What a rebalance handles without a message takes its time, too: every rank
# sorts its tasks.
printf 'like hopper\nname dear\nrestore 10 us\n' >dear.machine
for policy in centralized hierarchical-hpdc12; do
    run 0 --synthetic lognormal:n=2300,mean=1e-2,cv=1 --machine dear.machine \
        --cores 24 --policy $policy --steal none --iterations 2 --csv
    column restore_s | awk 'NR == 1 { exit !($1 > 0.023) }' ||
        fail "$policy: dear tasks: $(column restore_s)"
done
printf 'like hopper\nname dear\nbalance 1 ms\n' >dear.machine
run 0 --synthetic lognormal:n=2300,mean=1e-2,cv=1 --machine dear.machine \
    --cores 24 --start uneven:4:4 --policy hierarchical-hpdc12 --steal none \
    --iterations 2 --csv
column moved | head -1 >moved
column restore_s | paste - moved |
    awk 'NR == 1 { exit !($2 > 300 && $1 > 2e-3 * $2) }' ||
    fail "dear items: $(column restore_s), $(cat moved) moved"

# Algorithm 1 decides the same for whatever messages; one of each worker takes
# its rank 10 us.  C says what is too much.
uneven='--synthetic lognormal:n=23000,mean=1e-2,cv=1 --machine hopper
    --cores 1200 --start uneven:4:4 --policy centralized-hpdc12 --steal none
    --iterations 2 --csv'
run 0 $uneven --hpdc12 gather=node
column moved >node
column restore_s | head -1 >node_s
run 0 $uneven --hpdc12 gather=core
column moved | cmp -s - node || fail "--hpdc12 gather=core: $(column moved)"
column restore_s | head -1 | paste - node_s |
    awk '{ exit !($1 > 0.0115 && $1 > $2) }' ||
    fail "--hpdc12 gather=core: $(column restore_s), node: $(cat node_s)"
run 0 $uneven --hpdc12 c=2
column moved | head -1 | paste - node |
    awk 'NR == 1 { exit !($1 > 0 && $1 < $2 / 2) }' ||
    fail "--hpdc12 c=2: $(column moved)"
for tree in '--hpdc12 k=2' '--hpdc12 d=0.5'; do
    run 0 $uneven --policy hierarchical-hpdc12
    column makespan_s >three
    run 0 $uneven --policy hierarchical-hpdc12 $tree
    column makespan_s | cmp -s - three && fail "$tree makes no difference"
done
run 2 $small --hpdc12 gather=rank
says "--hpdc12 is 'gather=rank'; allowed: a list of c=0.1"
run 2 $small --hpdc12 c=0
says "--hpdc12 is 'c=0'; allowed: a list of c=0.1 ... 10"

# A machine file.
printf 'like titan\nname mine\nhandle 5 us\n' >mine.machine
run 0 $small --machine mine.machine --cores 32
grep -q '^mine: 2 nodes of 16 cores' out || fail "mine: $(head -2 out)"

# Both modes come to the same efficiency, within two points.
if [ "$slowdown" -eq 1 ]; then
    for job in '2400 48000 5' '9600 192000 4'; do
        set -- $job
        for mode in exact sampled; do
            run 0 --synthetic "lognormal:n=$2,mean=0.03,cv=0.4" --machine hopper \
                --cores "$1" --iterations "$3" --mode $mode --csv
            column efficiency >$mode
        done
        paste exact sampled | awk '
            { sum += 100 * ($1 - $2) }
            END { mean = sum / NR
                  exit !(NR >= 4 && mean < 2 && mean > -2) }' ||
            fail "$1 cores: exact, sampled: $(paste exact sampled)"
    done
fi

# Workers that poll share one server: it is never busier than all the time, and
# what waits for a send buffer is sent when one comes free.
printf 'like this\nnode_cores 8\nhandle 1 ms\nlatency 1 us\n' >poll.machine
run 0 --machine poll.machine --cores 64 --start uneven:64:100 --iterations 2 \
    --synthetic constant:n=640,mean=2e-3 --csv
column server | awk '{ exit !($1 <= 1) }' || fail "server: $(column server)"
# Thieves that wait long for answers do not ask more and more.
column makespan_s | awk '{ exit !($1 < 0.4) }' ||
    fail "overload: $(column makespan_s)"
run 0 --machine ib-edr --cores 240 --progress polling --policy original \
    --steal counter --synthetic lognormal:n=3,mean=1e-5,cv=10 \
    --start uneven:240:5 --seed 365 --csv
column makespan_s | awk '{ exit !($1 < 0.5) }' ||
    fail "starved: $(column makespan_s)"

# Who draws from the counter rarely waits for a seed that another rank holds.
run 0 --machine ib-edr --cores 4 --node-cores 4 --ranks-per-node 4 \
    --progress polling --policy original --steal counter --start block \
    --synthetic constant:n=5000,mean=1e-4 --iterations 1 --csv
column efficiency | awk '{ exit !($1 > 0.9) }' ||
    fail "fetches: $(column efficiency)"

# A server that is stepped between tasks takes all that has come.
run 0 --machine ib-edr --cores 32 --node-cores 8 --progress polling \
    --policy original --steal counter --start block \
    --synthetic lognormal:n=1600,mean=1e-3,cv=1 --iterations 1 --csv
column efficiency | awk '{ exit !($1 > 0.7) }' ||
    fail "polled between tasks: $(column efficiency)"

# Nothing waits for the look that everybody has once in a second.
for cores in 4 8; do
    for policy in original centralized hierarchical; do
        run 0 --machine titan --node-cores 4 --cores $cores --csv \
            --policy $policy --steal none --iterations 3 \
            --synthetic uniform:n=16,mean=0.001
        column restore_s | awk '$1 > 0.5 { exit 1 }' ||
            fail "$policy, $cores cores: $(column restore_s)"
    done
done

# Where messages are slow the requests of those who wait do not hold up the end.
run 0 --machine tcp --cores 192 --iterations 4 --csv \
    --synthetic lognormal:n=9600,mean=7e-5,cv=1
column detect_s | awk 'NR > 1 && $1 > 3.5e-3 { exit 1 }' ||
    fail "detected after: $(column detect_s)"

# Whole nanoseconds, also of the sums.
printf 'like this\ntask 0 ns\n' >free.machine
run 0 --machine free.machine --cores 2 --iterations 1 --csv \
    --synthetic constant:n=100000,mean=1.49e-9
column efficiency | awk '{ exit !($1 <= 1) }' ||
    fail "efficiency: $(column efficiency)"

# What follows: the longest task, and whether anything is better than retaining.
run 0 --synthetic constant:n=4600,mean=1e-3 --machine hopper --cores 48 \
    --iterations 4 --compare
tail -n 2 out | tr '\n' ' ' |
    grep -q '^static (original, none) is enough: .*, restoring costs it .*; it comes to [0-9]* % of the best possible $' ||
    fail "equal tasks: $(cat out)"
run 0 --synthetic constant:n=4000,mean=1e-3,longest=1 --machine hopper --cores 48 \
    --iterations 3 --compare
tr '\n' ' ' <out |
    grep -q 'the longest task is 9[0-9.]* x the ideal time, so no policy helps beyond 4 workers; cut the one task above' || fail "a long task: $(cat out)"
run 0 --synthetic constant:n=400,mean=1e-3 --cores 48 --compare --csv
grep -q enough out && fail "a verdict among the rows: $(cat out)"

# Bad input.
run 2 --synthetic constant:n=40,mean=1e-3 --node-cores 8 --cores 8 \
    --steal dvs --dvs layout=allotted,columns=2,rows=2,cell=0
says "--dvs is 'layout=allotted,columns=2,rows=2,cell=0', 4 cells; allowed: as many as a node has workers, or more"
run 2 $small --lifeline radix=1
says "--lifeline is 'radix=1'; allowed: a list of graph=auto, hypercube"
run 2 $small --steal success --termination francez
says '--termination francez is not for --steal success here: requests that are never denied'
run 2 $small --load-threshold 3
says "--load-threshold has no effect where --steal is 'random'"
for steal in sws sdc; do
    run 2 $small --steal $steal --mode sampled
    says "--mode sampled draws requests, and thieves of --steal '$steal' send none"
done
run 2 $small --steal sws --sws epochs=3
says "--sws is 'epochs=3'; allowed: a list of epochs=1 or 2, damping=0"
run 2 $small --steal success --mode sampled
says '--mode sampled draws victims, and thieves of --steal'
run 2 --synthetic constant:n=40,mean=1e-3 --node-cores 8 --cores 8 \
    --steal dvs --dvs source=8
says 'and one of these as the source'
run 2
says 'one of --record, --synthetic and --workload is needed'
run 2 --synthetic lognormal:n=10
says "allowed: lognormal, exponential, uniform or constant"
run 2 --record nowhere.ekr
says 'nowhere.ekr'
run 2 $small --machine atlantis
says "--machine is 'atlantis'; allowed: this, hopper"
run 2 $small --machine nowhere.machine
says "nowhere.machine"
echo 'speed 3 us' >bad.machine
run 2 $small --machine bad.machine
says "'bad.machine', line 1: unknown key 'speed'"
run 2 $small --cores 25
says "--cores is 25; 'hopper' has nodes of 24 cores: the next that fit are 24 and 48"
run 2 $small --cores 4096
says 'the next that fit are 4080 and 4104'
run 2 $small --ranks-per-node 5
says "24 cores of a node cannot be divided among 5 ranks, each of which needs a \
core for its server; allowed: 1, 2, 3, 4, 6, 8, 12"
run 2 $small --policy best
says "--policy: 'best' is not allowed; allowed: original, retain"
run 2 $small --mode fast
says "--mode is 'fast'; allowed: exact, sampled, auto"
run 2 $small --start here
says "--start is 'here'; allowed: record, block, dealt, uneven:N:M"
run 2 $small --start uneven:2:99999999999
says 'uneven:N:M (N, M: 1 ... 999999999)'
run 2 --synthetic constant:mean=1e-3,n
says 'allowed: lognormal'
run 2 $small --node-cores 1048576 --cores 1048576
says '1048575 workers on 1 ranks; allowed: together 1048575'
run 2 $small --change often
says "--change is 'often'; allowed: alternate, renew, hot-moves"
run 2 $small --slowness 1,,2
says "--slowness is '1,,2'; allowed: numbers from 0.01 to 100, separated by commas"
run 2 $small --rank-workers 12,24
says "--rank-workers is '12,24'; allowed: numbers from 1 to 23"
run 2 $small --start record
says 'there is no record'
run 2 $small --modes retain+best
says "--modes has 'retain+best'; allowed behind the +: random, near, node, none"
run 2 $small --modes static,best+none
says "--modes has 'best+none'; allowed: static, counter, StealAll"
run 2 $small --modes ''
says "--modes has ''; allowed: static"
run 2 $small --compare --policy retain
says '--compare and --modes have policies of their own'
run 2 --synthetic constant:n=10,mean=1000 --scale 100 --cores 24 --steal none \
    --machine hopper
says 'hours that can be simulated'
printf '%s\n' 'EKRECORD 1' 'name long' 'rank 0 workers 1' 'function 0 f' \
    'iteration 0 wall_ns 1 status 0 restore none steal random order longest on_failure stop' \
    'worker 0 executed 2 nulls 0 failed 0 cancelled 0 work_ns 0 null_ns 0' \
    'task 0 0 4611686018427387904 -' 'task 1 0 4611686018427387904 -' >long.txt
"$(dirname "$tool")/../ek-record/ek-record" binary long.txt long.ekr 2>err ||
    fail "long.txt: $(cat err)"
run 2 --record long.ekr
says 'all tasks together take 9.24e+09 s; allowed: 1e+09'
[ ! -s out ] || fail "negative: $(cat out)"

# Without a machine it is that of the test.
run 0 --synthetic=constant:n=100,mean_us=100 --iterations=1
grep -q "^this: 1 nodes of $(nproc) cores" out || fail "this: $(head -2 out)"
run 2 --synthetic constant:n=9,mean_us=1 --csv=yes
says '--csv takes no value'

answers
run 0 --help
grep -q 'mean_us=MICROSECONDS' out || fail 'help: no mean_us'
grep -qE '^  auto +auto, random$' out || fail 'help: auto without stealing'
grep -q 'Machines: this, hopper' out || fail 'help names no machines'
exit $status
