#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nulls.sh EK_SIM EK_RECORD: null tasks in virtual time, which ek-sim counts and
# sums itself: of StealAll, and of the first iteration of other modes.
set -u
mpirun='' tool=$1 ek_record=$(realpath "$2")
. "$(dirname "$0")/common.sh"

# between LEAST MOST: every makespan.
between() {
    column makespan_s | awk -v least="$1" -v most="$2" '
        $1 < least || $1 > most { exit 1 }
        END { if (NR == 0) exit 1 }' ||
        fail "not between $1 and $2 s: $(column makespan_s)"
}

# One worker runs them one after the other.
run 0 --synthetic constant:n=10,mean=0.01 --nulls 1000000 --null-ns 1000 \
    --cores 1 --modes StealAll --iterations 2 --csv
between 1.1 1.101

# Of 46 workers none is idle while there is something to take, so the last one
# ends no later than the mean and the longest task.
for job in '1000 0.871 1' '1000000 0.936 1.05' '1000000000 66.08 66.3'; do
    set -- $job
    run 0 --synthetic lognormal:n=4000,mean=0.01,longest=0.1,nulls=7 \
        --machine hopper --cores 48 --nulls "$1" --null-ns 3000 \
        --modes Steal,StealAll --iterations 2 --csv
    [ "$(column mode | tr '\n' ' ')" = 'Steal Steal StealAll StealAll ' ] ||
        fail "modes: $(column mode)"
    sed -i '/,Steal,/d' out
    between "$2" "$3"
done

# Where tasks are: two at the front belong to one worker, and the other one has
# all null tasks behind it before it steals the second; evenly spread, each has
# one and half of the null tasks.
cat >two.txt <<'END'
EKRECORD 1
name two
rank 0 workers 1
function 0 task
iteration 0 wall_ns 2000000000 status 0 restore none steal random order longest on_failure stop
worker 0 executed 100000 nulls 99998 failed 0 cancelled 0 work_ns 2000000000 null_ns 0
task 0 0 1000000000 -
task 1 0 1000000000 -
end 1
END
"$ek_record" binary two.txt two.ekr || fail 'no record'
two='--record two.ekr --null-ns 1000 --node-cores 2 --cores 2 --modes StealAll
    --iterations 1 --csv'
run 0 $two
between 1.09 1.11
run 0 $two --nulls 99999
between 1.04 1.06

# Discarded in the first iteration, they never come again.
for how in '--policy retain' '--modes StealRet' '--modes original+counter' \
    '--modes centralized'; do
    run 0 --synthetic constant:n=10,mean=0.01 --nulls 10000 --null-ns 10000 \
        --cores 1 $how --iterations 3 --csv
    column makespan_s | tr '\n' ' ' |
        grep -qE '^0\.20[0-9]* 0\.10?[0-9]* 0\.10?[0-9]* $' ||
        fail "$how: $(column makespan_s)"
done

# loads_of ITERATION start|ran: of how many workers, on one line.
loads_of() {
    sed -n "s/.*,$1,$2,//p" loads | tr '\n' ' '
}

# The second iteration starts where the first one ran, wherever that is: with
# null tasks that take no time its loads are those that the first one left.  The
# same arguments are the same run.
some="--synthetic lognormal:n=2000,mean=0.01 --nulls 100000 --machine hopper
    --cores 48 --iterations 3 --steal random@0,none@1- --csv"
for how in '--mode exact' '--mode sampled --seeds 2 --order executed' \
    '--mode exact --start uneven:4:8'; do
    run 0 $some $how --null-ns 0 --loads loads
    [ "$(loads_of 1 start)" != "$(loads_of 1 ran)" ] || fail "$how: no steals"
    for what in '2 start' '2 ran' '3 start' '3 ran'; do
        [ "$(loads_of $what)" = "$(loads_of 1 ran)" ] ||
            fail "$how: $what, not as 1 ran: $(cat loads)"
    done
    run 0 $some $how --noise 5
    mv out first
    run 0 $some $how --noise 5
    cmp first out || fail "$how: two runs differ"
done

# Home is where the ranges began; shares of 1 and 3.
run 0 --synthetic constant:n=80,mean=0.01 --nulls 8000 --null-ns 0 --cores 4 \
    --machine tcp --node-cores 2 --start uneven:2:3 --policy original --csv \
    --iterations 2 --loads loads
for what in '1 start' '2 start'; do
    [ "$(loads_of $what)" = '0.50,2 1.50,2 ' ] || fail "home: $(cat loads)"
done
run 0 --synthetic lognormal:n=4000,mean=0.01 --nulls 100000 --cores 48 \
    --machine hopper --policy hierarchical --steal none --iterations 2 --csv
column efficiency_bound | awk '
    NR == 1 && $1 > 0.9 || NR == 2 && $1 < 0.99 { exit 1 }
    END { if (NR != 2) exit 1 }' || fail "rebalanced: $(cat out)"

few='--synthetic constant:n=10,mean=0.01 --nulls 10'
run 2 $few --start dealt
says "--start is 'dealt'; allowed with --nulls, with which all tasks begin as ranges: block, uneven:N:M"
run 2 $few --pinned 10
says '--pinned does not go with --nulls'
run 2 $few --bytes input=1 --policy retain
says '--nulls needs tasks without data: --bytes none'
run 2 $few --nulls 1000000000001
says "--nulls is '1000000000001'; allowed: an integer from 0 to 1000000000000"
exit $status
