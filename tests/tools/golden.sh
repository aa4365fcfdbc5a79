#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# golden.sh EK_SIM DATA [--write]: some simulated runs, exact and sampled, give
# the figures of DATA/sim/golden.csv to the digit, on every machine.  Who changes
# what is simulated writes them anew, and says so.
set -u
mpirun='' tool=$1 data=$(cd "$2" && pwd) write=${3-}
golden=$data/sim/golden.csv
. "$(dirname "$0")/common.sh"

figures='makespan_s ideal_s tries tries_deviation steals stolen moved'
figures="$figures search end server detect_s restore_s"

# rows ARGUMENT...: figures by their names, so that columns may be added.
rows() {
    run 0 --csv --iterations 3 "$@"
    awk -F, -v names="mode iteration $figures" '
        NR == 1 { count = split(names, name, " ")
                  for (i = 1; i <= NF; i++)
                      at[$i] = i }
        { for (i = 1; i <= count; i++)
              printf "%s%s", $at[name[i]], i < count ? "," : "\n" }' out
}

{
    rows --machine hopper --cores 240 --mode exact --drift 3 --noise 5 \
        --synthetic lognormal:n=5000,mean=0.01,cv=2 \
        --modes retain,original+counter,hierarchical,auto
    rows --machine intrepid --cores 2048 --mode sampled \
        --synthetic exponential:n=20000,mean=0.05 \
        --modes retain,centralized
    rows --machine hopper --cores 480 --balance-group 64 --start uneven:2:16 \
        --synthetic lognormal:n=10000,mean=0.01,cv=0.6 \
        --modes hierarchical+none
    rows --machine ib-ndr --cores 384 --mode sampled --change hot-moves \
        --record "$data/record/be032_half.ekr" --scale 20 --start block \
        --policy retain
    rows --machine titan --cores 320 --mode exact --order executed --noise 5 \
        --synthetic lognormal:n=5000,mean=0.01,longest=0.05 --nulls 400000 \
        --modes retain@1/hierarchical@2-+random@0/none@1-,StealRet
    rows --machine hopper --cores 192 --mode exact --steal hpdc12 \
        --synthetic lognormal:n=2000,mean=0.01,longest=0.05 --start block \
        --policy retain --order executed --deque locked
    rows --machine hopper --cores 960 --mode sampled --steal hpdc12-one \
        --synthetic lognormal:n=20000,mean=0.1,longest=1 --start block \
        --policy retain --order reversed --noise 5
} >rows
[ "$write" != --write ] || cp rows "$golden"
diff "$golden" rows || fail 'other figures than those of golden.csv'
exit $status
