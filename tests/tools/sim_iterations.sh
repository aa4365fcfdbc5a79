#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sim_iterations.sh EK_SIM: what a run of ek-sim does in each iteration.
set -u
mpirun='' tool=$1
. "$(dirname "$0")/common.sh"

small='--synthetic lognormal:n=2000,mean=0.01,cv=1 --cores 48 --iterations 5
    --machine hopper --start uneven:4:4'

# HPDC 2012, figure 6: stealing, then the same places without it, then a
# rebalance before each iteration.
run 0 $small --csv --policy retain@0-1,hierarchical@2- --steal random@0,none@1-
[ "$(column mode | uniq)" = 'retain@0-1/hierarchical@2-+random@0/none@1-' ] ||
    fail "name: $(column mode)"
column tries >tried
column moved | paste tried - | tr '\t\n' '  ' |
    grep -qE '^[1-9][0-9.]* 0 0 [1-9][0-9]* 0 0 0 0 0 0 $' ||
    fail "tried, moved: $(column moved | paste tried -)"
column makespan_s | awk 'NR == 1 { first = $1 }
    NR == 2 && ($1 < first * 0.99 || $1 > first * 1.01) { bad = 1 }
    NR > 2 && $1 > first * 0.95 { bad = 1 }
    END { exit bad }' || fail "figure 6: $(column makespan_s)"
column makespan_s | sed -n 1p >first
run 0 $small --csv
column makespan_s | sed -n 1p | cmp -s - first || fail 'another first iteration'

# A restore counts under the number of the iteration that comes after it, and
# what no entry covers takes the default: home again before number 2, and kept.
run 0 $small --csv --policy original --steal none
column makespan_s | sed -n 1p >static
run 0 $small --csv --policy original@2 --steal random@0,none@1-
column makespan_s | sed -n '3,5p' | sort -u | cmp -s - static ||
    fail "original@2: $(column makespan_s), not $(cat static)"
column makespan_s | sed -n 2p | cmp -s - static && fail 'original@2 in number 1'
run 0 $small --csv --policy centralized@1,original@2,auto@3 --steal counter:16@1,none@3
column moved | tr '\n' ' ' | grep -qE '^[1-9][0-9]* 0 [1-9][0-9]* 0 0 $' ||
    fail "centralized, original, auto: $(column moved)"
column tries | awk '(NR == 4) != ($1 == 0) { exit 1 }' ||
    fail "steals, a counter, steals, none, steals: $(column tries)"

# As modes.
run 0 $small --csv --modes 'retain@0-1/hierarchical@2-+random@0/none@1-,retain'
column tries | sed -n '1,5p' | cmp -s - tried || fail "mode: $(cat out)"

run 2 $small --policy retain,auto@x
says "--policy: 'auto@x' is not allowed; allowed: policy[@iterations], ..., where"
run 2 $small --steal random@0,fock:near
says "--steal: 'fock:near' is not allowed; allowed: policy[@iterations]"
run 2 $small --modes static,retain+none@1/best@2
says "--modes: 'best@2' is not allowed; allowed: random, near, node, none"
run 2 $small --modes retain@0-1,hierarchical@2-
says "--modes has 'retain@0-1', which is a mode of some iterations only; allowed: /"

# Thieves that ask again at once.  Failed attempts are drawn as they come: those
# of a thief within a fifth, what they find within a tenth.
thieves='--synthetic lognormal:n=4800,mean=0.03,cv=1 --machine hopper --cores 240
    --start uneven:4:4 --iterations 1 --csv'
run 0 $thieves --mode exact
column tries >library
for backoff in 0 100000; do
    for mode in exact sampled; do
        run 0 $thieves --mode $mode --backoff-ns $backoff
        for name in tries steals makespan_s; do
            column $name
        done | paste -s - >$mode
    done
    paste library exact sampled | awk -v backoff=$backoff '
        function near(x, y, part) { return x > y * (1 - part) && x < y * (1 + part) }
        { exit !($2 > 2 * $1 && near($5, $2, 0.2) && near($6, $3, 0.1) &&
                 near($7, $4, 0.02)) }' ||
        fail "back-off $backoff: $(cat library exact sampled)"
done
run 2 $thieves --steal hpdc12 --backoff-ns 0
says "--backoff-ns has no effect where --steal is 'hpdc12', whose thieves do not pause"
run 2 $thieves --backoff-ns -1
says "--backoff-ns is '-1'; allowed: an integer from 0 to 1000000000"

# The end is found in each iteration by its own detector.
ends="--synthetic constant:n=40,mean=1e-3 --node-cores 4 --cores 8 --iterations 2
    --steal success@0"
run 0 $ends --termination acknowledged@0,francez@1
run 2 $ends --termination francez@0
says '--termination francez is not for --steal success@0 here'

# Data of tasks: 40 of 1 MB go to another node at 5 GB/s, to another rank of the
# node at 2 GB/s, to workers of the rank at once.
data='--synthetic constant:n=100,mean=0.01 --machine hopper --cores 4 --csv
    --start uneven:2:9 --iterations 2'
moves='--policy centralized --steal none'
# first NAME: of the first iteration.
first() {
    column "$1" | sed -n 1p
}
for job in '2 1 40 0.008' '4 2 40 0.02' '4 1 0 0'; do
    set -- $job
    nodes="--node-cores $1 --ranks-per-node $2"
    run 0 $data $nodes $moves
    before=$(first restore_s)
    run 0 $data $nodes $moves --task-bytes 1000000
    echo "$before $(first restore_s) $(first moved_bytes) $(first stolen_bytes)" |
        awk -v mb="$3" -v s="$4" '{ more = $2 - $1
            exit !($3 == mb * 1e6 && $4 == 0 && more >= s * 0.99 && more <= s * 1.1) }' ||
        fail "$job: $before, $(first restore_s), $(first moved_bytes)"
    run 0 $data $nodes --policy retain
    before=$(first makespan_s)
    run 0 $data $nodes --policy retain --task-bytes 1000000
    echo "$before $(first makespan_s) $(first stolen_bytes) $(first moved_bytes)" |
        awk -v mb="$3" -v s="$4" '{ exit !($3 >= mb * 0.9e6 && ($3 == 0) == (mb == 0) &&
            $4 == 0 && (mb == 0 || $2 - $1 > s / 10) && (mb > 0 || $1 == $2)) }' ||
        fail "$job: $before, $(first makespan_s), $(first stolen_bytes)"
done
# What is pinned is not stolen, nor moved; nor does anybody leave a node.
for what in '--pinned 100 --policy centralized' '--steal node --policy retain'; do
    run 0 $data --node-cores 2 --ranks-per-node 1 $what
    echo "$(first stolen) $(first moved)" | awk '{ exit !($1 == 0 && $2 == 0) }' ||
        fail "$what: $(first stolen) stolen, $(first moved) moved"
done
run 0 $data --node-cores 2 --ranks-per-node 1 --pinned 30
[ "$(first stolen)" -gt 0 ] || fail "none of the others is stolen"
run 2 $data --pinned 101
says "--pinned is '101'; allowed: an integer from 0 to 100"
run 2 $data --task-bytes -1
says "--task-bytes is '-1'; allowed: an integer from 0 to 1000000000"

# With the durations of an earlier run the first iteration is as good as the
# second, which has measured them.
{
    printf '%s\n' 'EKRECORD 4' 'name ramp' 'rank 0 workers 1' 'function 0 f' \
        'iteration 0 wall_ns 1 status 0 restore none steal none order longest on_failure stop' \
        'worker 0 executed 64 nulls 0 failed 0 cancelled 0 work_ns 0 null_ns 0'
    awk 'BEGIN { for (i = 0; i < 64; i++) print "task " i " 0 " (i + 1) * 1000000 " -" }'
} >ramp.txt
"$(dirname "$tool")/../ek-record/ek-record" binary ramp.txt ramp.ekr 2>err ||
    fail "ramp.txt: $(cat err)"
ramp='--record ramp.ekr --machine hopper --cores 8 --node-cores 4 --iterations 2
    --start block --csv'
# lost: by which factor the first iteration takes longer than the second.
lost() {
    run 0 $ramp "$@"
    column makespan_s | awk 'NR == 1 { first = $1 } END { print first / $1 }'
}
for mode in centralized+none hierarchical+none; do
    echo "$(lost --modes $mode) $(lost --modes $mode --hints ramp.ekr)" |
        awk '{ exit !($1 > 1.05 && $2 < 1.02) }' ||
        fail "$mode: $(lost --modes $mode), hints: $(lost --modes $mode --hints ramp.ekr)"
done
run 2 $small --hints ramp.ekr
says "--hints 'ramp.ekr' has 64 tasks; allowed: 2000"
run 2 $ramp --hints missing.ekr
says "cannot read 'missing.ekr'"
run 2 $ramp --hints ramp.ekr --nulls 10
says '--hints does not go with --nulls'

# Iterations of a record in turn.  Tasks are told apart by their ids, and start
# where they ran first; one that is missing, or null, takes no time.
{
    printf '%s\n' 'EKRECORD 1' 'name three' 'rank 0 workers 2' 'function 0 f'
    for i in 0 1 2; do
        echo "iteration $i wall_ns 1 status 0 restore retain steal random order longest on_failure stop"
        w='executed 2 nulls 0 failed 0 cancelled 0 work_ns 0 null_ns 0'
        case $i in
        0) printf '%s\n' "worker 0 $w" 'task 0 0 1000000000 -' \
            'task 2 0 2000000000 -' "worker 1 $w" 'task 3 0 3000000000 -' \
            'task 4 0 - d' ;;
        1) printf '%s\n' "worker 0 $w" 'task 3 0 100000000 -' \
            'task 4 0 200000000 -' "worker 1 $w" 'task 2 0 400000000 -' \
            'task 0 0 500000000 -' ;;
        2) printf '%s\n' "worker 0 $w" 'task 1 0 50000000 -' "worker 1 $w" ;;
        esac
    done
} >three.txt
"$(dirname "$tool")/../ek-record/ek-record" binary three.txt three.ekr 2>err ||
    fail "three.txt: $(cat err)"
three='--record three.ekr --machine hopper --cores 3 --node-cores 3 --csv
    --policy original --steal none --iterations 4 --start record'
# took ARGUMENT...: seconds of each iteration, then of its longest worker.
took() {
    run 0 $three "$@"
    column ideal_s >ideal
    column makespan_s | paste ideal - |
        awk '{ printf "%.2f/%.1f ", 2 * $1, $2 }' | sed 's/ $//'
}
[ "$(took --iteration 0)" = '6.00/3.0 6.00/3.0 6.00/3.0 6.00/3.0' ] ||
    fail "iteration 0: $(took --iteration 0)"
# Of each task of the first iteration the median over those in which it took
# time: tasks that are added anew for each iteration add no work to one.
[ "$(took)" = '1.00/0.9 1.00/0.9 1.00/0.9 1.00/0.9' ] || fail "usual: $(took)"
[ "$(took --iteration median)" = "$(took)" ] ||
    fail "median: $(took --iteration median)"
grep -q '^three.ekr; median of 3 iterations,.*,3,run,' out ||
    fail "name: $(cat out)"
[ "$(took --iteration 0-1)" = '6.00/3.0 1.20/1.1 6.00/3.0 1.20/1.1' ] ||
    fail "0-1: $(took --iteration 0-1)"
[ "$(took --iteration 1-)" = '1.20/0.9 0.05/0.1 1.20/0.9 0.05/0.1' ] ||
    fail "1-: $(took --iteration 1-)"
[ "$(took --iteration 2,0,1-2)" = '0.05/0.1 6.00/3.0 1.20/1.1 0.05/0.1' ] ||
    fail "2,0,1-2: $(took --iteration 2,0,1-2)"
run 0 $three --iteration 0,1-2 --scale 2 --noise 1
grep -q '^three.ekr; iterations 0;1-2,.*,4,run,' out ||
    fail "names: $(cat out)"
for list in 3 0-3 1-0 , 0, 0,,1 -1 x 0-x ''; do
    run 2 $three --iteration "$list"
    says "--iteration is '$list'; 'three.ekr' has 3 iterations, numbered from 0; allowed: K, K-M, K-"
done

exit $status
