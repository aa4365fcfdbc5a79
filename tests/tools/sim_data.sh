#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sim_data.sh EK_SIM EK_RECORD: tasks whose data has a home, in virtual time.
set -u
mpirun='' tool=$1
record=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
. "$(dirname "$0")/common.sh"

job='--synthetic lognormal:n=1200,mean=0.01 --machine ib-ndr --node-cores 8
    --ranks-per-node 2 --cores 64 --start block --iterations 3'

# figure NAME: of the last iteration.
figure() {
    column "$1" | tail -1
}

# is EXPRESSION WHAT
is() {
    awk "BEGIN { exit !($1) }" || fail "$2: $1"
}

# Without data nothing of it is said, and --bytes none is no data.
run 0 $job --csv
[ "$(figure travelled) $(figure data_bytes) $(figure data_task_bytes)" = '0 0 0' ] ||
    fail "data that nobody has: $(cat out)"
plain=$(figure makespan_s)
run 0 $job --csv --bytes none
[ "$(figure makespan_s)" = "$plain" ] || fail 'none is data'

# At home nothing travels; what travels is an input and a result for each task.
run 0 $job --csv --bytes input=30000,result=10000 --policy original --steal none
[ "$(figure data_bytes)" = 0 ] || fail "data of tasks at home: $(figure data_bytes)"
run 0 $job --csv --bytes input=30000,result=10000
is "$(figure travelled) > 100" 'tasks away'
is "$(figure data_bytes) == $(figure travelled) * 40000" 'bytes of a task'
is "$(figure data_task_bytes) == 40000" 'bytes of all tasks'
is "$(figure data_held_bytes) > 0.03e6" 'bytes held'
is "$(figure makespan_s) < 1.02 * $plain" 'small data holds nobody up'
mv out first
run 0 $job --csv --bytes input=30000,result=10000
cut -d, -f1-26,28- out >again
cut -d, -f1-26,28- first | cmp -s - again || fail 'a run differs from itself'
run 0 $job --csv --bytes input=30000,result=10000 --data-bytes 600000
is "$(figure data_held_bytes) <= 0.6e6" 'more than the budget'
run 0 $job --csv --bytes input=1000000,cv=2
is "$(figure data_task_bytes) > 1000000 && $(figure data_task_bytes) < 3000000" 'drawn bytes'
is "$(figure data_wait_s) > 0" 'nobody waits for a megabyte'

# A long message keeps its place until its receiver, which may be busy, has it: who sends many waits
# for places, and short ones do not.
waits() {
    run 0 --synthetic lognormal:n=640,mean=0.015 --machine this --node-cores 1 --ranks-per-node 1 \
        --cores 32 --start uneven:32:1000 --iterations 2 --csv --policy centralized --steal none \
        --bytes "input=$1"
    figure data_wait_s
}
short=$(waits 3000)
is "$(waits 6000) > 1.5 * $short" 'busy ranks hold nothing up'

# Whoever places tasks weighs their bytes: however long these are, stealing and auto lose nothing
# to what moves no data, or one that does.
while read -r bytes default auto; do
    run 0 --machine ib-edr --cores 192 --synthetic lognormal:n=8460,mean=2e-3,cv=1 --iterations 6 \
        --bytes "input=$bytes" --modes retain+random,auto --csv
    is "$(column efficiency_bound | sed -n 6p) > $default" "$bytes bytes, retained"
    is "$(column efficiency_bound | sed -n 12p) > $auto" "$bytes bytes, auto"
done <<'SIZES'
1000 0.98 0.98
300000 0.94 0.95
1000000 0.90 0.94
1000000,cv=2 0.84 0.80
40000000 0.93 0.93
SIZES

# Data that follows is at home in the next iteration.
run 0 $job --csv --bytes input=30000 --data follow --steal random@0,none@1-
[ "$(column travelled | sed -n 3p)" = 0 ] || fail 'what has followed travels'
is "$(column moved_bytes | sed -n 1p) > 1e6" 'nothing follows'
# Where all is at home already, no rank waits for the simulator's next look.
run 0 --synthetic constant:n=40,mean=0.01 --machine ib-ndr --node-cores 4 --ranks-per-node 1 \
    --cores 8 --start block --iterations 2 --bytes input=9 --data follow --modes static --csv
is "$(figure restore_s) < 0.01" 'a restore without data to move'
# It pays while it is small, and says until when.
run 0 $job --bytes input=1000 --bytes-scale 1,1000,1000000 --modes original+none,original+random
# Who waits for a place is woken when there is one: nobody looks for a second.
awk '/ events in / && $1 > 6e6 { exit 1 }' out || fail "servers sleep: $(grep events out)"
tr '\n' ' ' <out >line
grep -q 'Moving data pays with 2 kB for a task: original+random moves' line &&
    grep -q 'On 64 cores moving data pays up to 2 MB for a task, and no longer pays at 2 GB' line ||
    fail "what pays: $(cat out)"
run 0 $job --bytes input=1000 --modes original+random
tr '\n' ' ' <out | grep -q 'Every mode moves data' || fail 'all modes move data'
run 0 $job --bytes input=1000 --modes original+none
grep -q 'No mode moves data' out || fail 'no mode moves data'

# Of a record: what travelled, the mean of it where a task did not, the most
# where none did, and nothing of functions without data.
cat >text <<'TEXT'
EKRECORD 2
name sized
rank 0 workers 1
rank 1 workers 1
function 0 columns
data 0 bytes_max 9000
function 1 plain
function 2 boxes
data 2 bytes_max 500
iteration 0 wall_ns 1000 status 0 restore none steal random order longest on_failure stop
worker 0 executed 3 nulls 0 failed 0 cancelled 0 work_ns 3000000 null_ns 0
task 0 0 1000000 b 1000 200
task 1 0 1000000 -
task 2 1 1000000 -
worker 1 executed 2 nulls 0 failed 0 cancelled 0 work_ns 2000000 null_ns 0
task 1099511627776 2 1000000 -
task 1099511627777 0 1000000 b 3000 400
end 1
TEXT
"$record" binary text sized.ekr || fail 'no record'
run 0 --record sized.ekr --machine ib-ndr --node-cores 2 --ranks-per-node 1 --cores 4 --csv
is "$(figure data_task_bytes) == (1200 + 2300 + 0 + 1000 + 3400) / 5" 'bytes of a record'
run 0 --record sized.ekr --machine ib-ndr --node-cores 2 --ranks-per-node 1 --cores 4 --csv --bytes none
[ "$(figure data_task_bytes)" = 0 ] || fail 'a record without its bytes'

run 2 $job --bytes result=5
says "--bytes is 'result=5'; allowed: none, or input=0...1073741824"
for spec in '' input= input=-1 input=1,cv=101 input=1, bytes=4 input=2e9 cv=1; do
    run 2 $job --bytes "$spec"
    says "--bytes is '$spec'"
done
run 2 $job --bytes input=1 --bytes-scale 4,2
says '--bytes-scale is '
run 2 $job --bytes input=1000000 --data-bytes 1000
says 'data_bytes allows 1000'
run 2 $job --bytes input=1 --modes StealAll --nulls 10
says '--nulls needs tasks without data: --bytes none'
exit $status
