#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nulls.sh EK_SIM EK_RECORD: StealAll in virtual time, whose null tasks ek-sim
# counts and sums itself.
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
exit $status
