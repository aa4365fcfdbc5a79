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
# Every column has its words.
for name in $(head -n 1 out | tr ',' '\n' | sed 's/_deviation$//'); do
    sed -n '/^## CSV/,$p' "$docs/reference/file-formats.md" |
        grep -qF "\`$name\`" || fail "file-formats.md does not say what $name is"
done
run 0 ${small% --csv} --cores 24,48
[ "$(grep -c '^hopper: [12] nodes of 24 cores' out)" -eq 2 ] ||
    fail "heads: $(cat out)"
# Seeds are runs one after the other, too, also where tasks are drawn and dealt.
for given in "$small --modes static,retain" "$small --start uneven:4:4" \
    "--record $record --noise 20 --iterations 2 --csv --machine hopper"; do
    for seed in 3 4 5; do
        run 0 $given --cores 72 --seed $seed
        without decision_s
    done | awk 'NR == 1 || !/^workload,/' >each
    run 0 $given --cores 48,72 --seed 3 --seeds 3
    without decision_s | awk -F, 'NR == 1 || ($3 == 72 && $7 == "run")' |
        cmp -s each - || fail "seeds: $(cat out)"
done

# What they come to, with Student's t of 2 and of 11 degrees.
while read -r seeds t; do
    run 0 $small --cores 48 --seeds $seeds
    awk -F, -v n="$seeds" -v t="$t" '
        function differ(a, b) { return a < b * 0.9999 || a > b * 1.0001 }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { i = $at["iteration"]; value = $at["makespan_s"] }
        $at["statistic"] == "run" { runs++; sum[i] += value
                                    squares[i] += value ^ 2; next }
        $at["seed"] != "" { bad = 1 }
        { is[i, $at["statistic"]] = value; others++ }
        END { for (i = 1; i <= 2; i++) {
                  mean = sum[i] / n
                  deviation = sqrt((squares[i] - n * mean ^ 2) / (n - 1))
                  if (differ(is[i, "mean"], mean) ||
                      differ(is[i, "deviation"] * 10 + mean, deviation * 10 + mean) ||
                      differ(is[i, "ci95"], t * is[i, "deviation"] / sqrt(n)))
                      bad = 1
              }
              exit bad || runs != 2 * n || others != 6 }' out ||
        fail "$seeds seeds: $(cat out)"
done <<END
3 4.302653
12 2.200985
END
run 0 ${small% --csv} --cores 48 --seeds 3
[ "$(grep -cE '^ +[+]- +[0-9.]+ ' out)" -eq 2 ] || fail "intervals: $(cat out)"
# Of seeds that differ the verdict names what each of them has.
run 0 --cores 64 --iterations 3 --synthetic lognormal:n=300,mean_us=1000,cv=3 --seeds 3
grep -q 'behind the longest task' out || fail "verdict of seeds: $(cat out)"
grep -q 'starting and leaving' out && fail "verdict of seeds: $(cat out)"
run 0 ${small% --csv} --cores 48 --seeds 2 --json
[ "$(grep -c '"cores": 48, "mode": .*"statistic": "ci95"' out)" -eq 2 ] ||
    fail "json: $(cat out)"
run 2 $small --cores 48 --seed 2147483646 --seeds 3
says 'the last seed must be at most 2147483647'
# The area under the workers in tasks is the efficiency, however long they are,
# whatever the durations do, and on nodes of different speeds; loads are those
# of all tasks on all workers.
while read -r given; do
    run 0 --machine hopper --iterations 3 --csv --utilization curves --loads loads $given
    grep -vE ',(mean|deviation|ci95),' out >runs
    mv runs out
    awk -F, -v efficiency="$(column efficiency | tr '\n' ' ')" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { key = $1 "," $2 "," $3 "," $4 "," $5 "," $6 }
        key != last { last = key; n++; end = 0 }
        { value = $at["utilization"]; time = $at["time_s"] }
        value < 0 || value > 1.00001 { bad = 1 }
        # Bins follow each other.
        time > end * 1.00001 || time < end * 0.99999 { bad = 1 }
        { end = time + $at["width_s"]; bins[n]++
          area[n] += value * $at["width_s"]; length_s[n] = end }
        END { rows = split(efficiency, wanted, " ")
              for (i = 1; i <= n; i++) {
                  off = area[i] / length_s[i] - wanted[i]
                  if (bins[i] != 200 || off < -1e-5 || off > 1e-5) bad = 1
              }
              exit bad || n != rows || n == 0 }' curves ||
        fail "$given: areas are not $(column efficiency)"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { key = $3 "," $4 "," $5 "," $6 "," $at["tasks"]; cores[key] = $3
          workers[key] += $at["workers"]
          sum[key] += $at["load"] * $at["workers"] }
        END { for (key in sum) {
                  n++
                  mean = sum[key] / workers[key]
                  if (workers[key] != cores[key] - int((cores[key] + 23) / 24) ||
                      mean < 0.995 || mean > 1.005) bad = 1
              }
              exit bad || n == 0 }' loads || fail "$given: $(cat loads)"
done <<END
--synthetic lognormal:n=2000,mean=0.01,cv=1 --cores 48,72 --seeds 2 --modes static,retain
--synthetic lognormal:n=3000,mean=2e-5,cv=1 --cores 48 --noise 20 --policy centralized
--synthetic lognormal:n=500,mean=100,cv=1 --cores 72 --slowness 1,2 --policy original --steal counter
--record $record --cores 240 --mode sampled
--synthetic constant:n=10,mean=1 --cores 2
--synthetic lognormal:n=2000,mean=0.01,cv=1 --cores 48 --jitter 5
--synthetic lognormal:n=2000,mean=1e-3,nulls=30000 --cores 48 --modes StealAll
END
# What nobody balances stays: one load starts and runs; blocks of two, each of
# four tasks, and one worker of two.
run 0 --synthetic constant:n=90,mean=1 --machine hopper --cores 24 --start block \
    --steal none --policy original --iterations 2 --csv --loads loads
cut -d, -f6- loads | tr '\n' ' ' | grep -qxF \
    'iteration,tasks,load,workers 1,start,0.77,2 1,start,1.02,21 1,ran,0.77,2 1,ran,1.02,21 2,start,0.77,2 2,start,1.02,21 2,ran,0.77,2 2,ran,1.02,21 ' ||
    fail "loads: $(cat loads)"
# Pinned tasks are no worker's own until they run.
run 0 --synthetic constant:n=8,mean=1 --cores 4 --pinned 100 --loads loads
tail -n 2 loads | cut -d, -f7- | tr '\n' ' ' | grep -qxF \
    'start,0.00,4 ran,1.00,4 ' || fail "loads of pinned tasks: $(cat loads)"
# What is there stays where the input is bad.
echo before >kept
run 2 --record nowhere.ekr --cores 4 --utilization kept --loads kept
[ "$(cat kept)" = before ] || fail "kept: $(cat kept)"
run 2 $small --utilization nowhere/curves
says "cannot write 'nowhere/curves'"
run 1 $small --cores 24 --loads /dev/full
says 'could not write all of --loads'
# A timeline is a file of whole blocks for each rank, and changes no figure.
one="--synthetic lognormal:n=2000,mean_us=1000 --machine hopper --cores 72 --csv"
run 0 $one
mv out plain
run 0 $one --timeline lines
cmp -s plain out || fail "figures with --timeline: $(diff plain out)"
[ "$(cd lines && echo *)" = 'sim.000000.ekt sim.000001.ekt sim.000002.ekt' ] ||
    fail "timelines: $(ls lines)"
for file in lines/*; do
    tail -c 20 "$file" | head -c 4 | grep -qx 'END!' || fail "$file has no end"
done
run 2 $small --cores 24,48 --timeline lines
says '--timeline needs one job, one mode and one seed'
run 2 $one --timeline plain/lines
says "--timeline: cannot make the folder 'plain/lines'"

run 2 $small --cores 24,x,48
says "--cores has 'x'; allowed: integers from 1 to 1048576"
run 2 $small --modes StealAll
says 'StealAll needs null tasks: --nulls'
run 2 $small --cores 24,
says "--cores has ''; allowed"
run 2 $small --cores 24,48,50
says "--cores is 50; 'hopper' has nodes of 24 cores: the next that fit are 48 and 72"
[ ! -s out ] || fail "before a bad entry: $(cat out)"
exit $status
