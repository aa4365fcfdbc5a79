#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sim_sweeps.sh EK_SIM DATA: many runs of ek-sim and what they print.  DATA has
# records.
set -u
mpirun='' tool=$1 record=$2/be032_half.ekr
. "$(dirname "$0")/common.sh"

small='--synthetic lognormal:n=2000,mean=0.01,cv=1 --machine hopper
    --iterations 2 --csv'

# without NAME: the CSV in out without a column.
without() {
    awk -F, -v OFS=, -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        { $at = ""; print }' out
}

# A sweep is one run after the other; its rows say which.  Where they start:
# from the record only where workers fit.
while read -r sizes given; do
    given="$given --iterations 2 --node-cores 8 --csv"
    for cores in $(echo "$sizes" | tr , ' '); do
        run 0 $given --cores $cores
        without decision_s
    done | awk 'NR == 1 || !/^workload,/' >each
    run 0 $given --cores $sizes
    without decision_s | cmp -s each - || fail "a sweep: $(cat out)"
    [ "$(column cores | uniq | paste -sd ,)" = $sizes ] ||
        fail "cores: $(column cores)"
done <<END
48,16,72 --synthetic lognormal:n=2000,mean=0.01 --machine hopper --modes static,retain
48,16,72 --synthetic lognormal:n=2000,mean=0.01 --machine hopper --start uneven:4:4
48,1,16 --machine this --record $record
END
run 0 $small --cores 24,48 --seed 3
head -n 2 out | cut -d, -f1-6 | tr '\n' ' ' | grep -qxF \
    'workload,machine,cores,seed,mode,iteration lognormal:n=2000;mean=0.01;cv=1,hopper,24,3,retain+random,1 ' ||
    fail "rows: $(cat out)"
run 0 ${small% --csv} --cores 24,48
[ "$(grep -c '^hopper: [12] nodes of 24 cores' out)" -eq 2 ] ||
    fail "heads: $(cat out)"
run 2 $small --cores 24,x,48
says "--cores has 'x'; allowed are integers from 1 to 1048576"
run 2 $small --cores 24,
says "--cores has ''; allowed"
run 2 $small --cores 24,48,50
says "--cores is 50; 'hopper' has nodes of 24: the next that fit are 48 and 72"
[ ! -s out ] || fail "before a bad entry: $(cat out)"
exit $status
