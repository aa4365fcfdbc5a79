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
column tried >tried
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
column tried | awk '(NR == 4) != ($1 == 0) { exit 1 }' ||
    fail "steals, a counter, steals, none, steals: $(column tried)"

# As modes.
run 0 $small --csv --modes 'retain@0-1/hierarchical@2-+random@0/none@1-,retain'
column tried | sed -n '1,5p' | cmp -s - tried || fail "mode: $(cat out)"

run 2 $small --policy retain,auto@x
says "--policy: 'auto@x' is not allowed; allowed: policy[@iterations], ..., where"
run 2 $small --steal random@0,fock:near
says "--steal: 'fock:near' is not allowed; allowed: policy[@iterations]"
run 2 $small --modes static,retain+none@1/best@2
says "--modes: 'best@2' is not allowed; allowed: random, near, none"

# Thieves that ask again at once.  Failed attempts are drawn as they come: those
# of a thief within a fifth, what they find within a tenth.
thieves='--synthetic lognormal:n=4800,mean=0.03,cv=1 --machine hopper --cores 240
    --start uneven:4:4 --iterations 1 --csv'
run 0 $thieves --mode exact
column tried >library
for backoff in 0 100000; do
    for mode in exact sampled; do
        run 0 $thieves --mode $mode --backoff-ns $backoff
        for name in tried successful makespan_s; do
            column $name
        done | paste -s - >$mode
    done
    paste library exact sampled | awk -v backoff=$backoff '
        function near(x, y, part) { return x > y * (1 - part) && x < y * (1 + part) }
        { exit !($2 > 2 * $1 && near($5, $2, 0.2) && near($6, $3, 0.1) &&
                 near($7, $4, 0.02)) }' ||
        fail "back-off $backoff: $(cat library exact sampled)"
done
run 2 $thieves --backoff-ns -1
says "--backoff-ns is '-1'; allowed is an integer from 0 to 1000000000"

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
    echo "$before $(first restore_s) $(first moved_mb) $(first stolen_mb)" |
        awk -v mb="$3" -v s="$4" '{ more = $2 - $1
            exit !($3 == mb && $4 == 0 && more >= s * 0.99 && more <= s * 1.1) }' ||
        fail "$job: $before, $(first restore_s), $(first moved_mb)"
    run 0 $data $nodes --policy retain
    before=$(first makespan_s)
    run 0 $data $nodes --policy retain --task-bytes 1000000
    echo "$before $(first makespan_s) $(first stolen_mb) $(first moved_mb)" |
        awk -v mb="$3" -v s="$4" '{ exit !($3 >= mb * 0.9 && ($3 == 0) == (mb == 0) &&
            $4 == 0 && (mb == 0 || $2 - $1 > s / 10) && (mb > 0 || $1 == $2)) }' ||
        fail "$job: $before, $(first makespan_s), $(first stolen_mb)"
done
run 2 $data --task-bytes -1
says "--task-bytes is '-1'; allowed is an integer from 0 to 1000000000"

exit $status
