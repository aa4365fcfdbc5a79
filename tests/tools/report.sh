#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# report.sh EK_REPORT EK_RECORD EK_SIM DATA: pages, text and CSV of ek-report;
# DATA has records.
set -u
mpirun='' tool=$1
ek_record=$(realpath "$2")
ek_sim=$(realpath "$3")
data=$(realpath "$4")
page=$(realpath "$(dirname "$0")")/report_page.py
. "$(dirname "$0")/common.sh"

# iteration NUMBER RESTORE LONGEST PLACE: 12 tasks of three workers; worker PLACE
# has run that of the home 2 which takes LONGEST.
iteration() {
    echo "iteration $1 wall_ns 20480000 status 0 restore $2 steal random order longest on_failure stop"
    for worker in 0 1 2; do
        count=4 work=4194304
        [ $worker -eq 2 ] && count=3 work=3145728
        [ $worker -eq "$4" ] && count=$((count + 1)) work=$((work + $3))
        echo "worker $worker executed $((count + 2)) nulls 2 failed 0 cancelled 0 work_ns $work null_ns 0"
        for task in 0 1 2 3; do
            [ $worker -eq 2 ] && [ $task -eq 3 ] ||
                echo "task $((worker * 1099511627776 + task)) $((task == 3)) 1048576 $([ $task -eq 2 ] && echo h || echo -)"
        done
        [ $worker -ne "$4" ] || echo "task $((2 * 1099511627776 + 3)) 1 $3 -"
    done
}
{
    printf 'EKRECORD 4\nname fock\nrank 0 workers 1\nrank 1 workers 2\n'
    printf 'function 0 a <b> & "c"\nfunction 1 last\n'
    iteration 0 none 8388608 2
    iteration 1 retain 8388608 2
    iteration 2 centralized 16777216 0
    echo 'end 3'
} >text
"$ek_record" binary text run.ekr || fail 'no record'

# What ek-record says, it says, too.
for record in run.ekr "$data"/*.ekr; do
    "$ek_record" summary "$record" >summary
    run 0 --csv --simulate 0 "$record"
    awk '/^ *iteration/ { on = 1; next } on && NF > 12 && $1 ~ /^[0-9]+$/ {
        printf "%s %d %.5g %d %.5g %.1f\n", $1, $2, $8, $9, $12, $13 }' summary >told
    k=0
    while [ -n "$(value efficiency $k iteration)" ]; do
        echo "$(value efficiency $k iteration) $(value efficiency $k tasks)" \
            "$(value efficiency $k max/us) $(value efficiency $k held)" \
            "$(value efficiency $k wall/s) $(value efficiency $k imbalance/%)"
        k=$((k + 1))
    done >said
    cmp told said || fail "$record: $(diff told said)"
done

# By hand: the last iteration; bins are 0.2 % wide.
run 0 --csv --simulate 0 run.ekr
is runs 0 workers 3
is load 0 who 'worker 0'
is load 0 before:\ largest/s 0.0042025
is load 0 largest/s 0.021012
is load 2 before:\ largest/s 0.011557
is longest 0 'ran on' 0
is longest 0 home 2
is longest 0 number 3
is longest 0 took/us 16810
is longest 0 median/us 8405
is longest 0 iterations 3
is homes 0 tasks 4
is homes 1 home 'worker 1'
is homes 2 home 'worker 2'
is homes 2 'ran on' 'worker 0'
is efficiency 2 null 6
run 0 --csv --simulate 0 --iteration 1 run.ekr
is homes 2 'ran on' 'worker 2'
run 0 --text --simulate 0 run.ekr
grep -q '1 ran on another worker than the last time, by the restore (centralized)' out ||
    fail "moved: $(cat out)"
grep -q '^run.ekr: Workers were without tasks for 30 % of the time' out || fail "verdict: $(cat out)"

# What newer records tell, too: MPI, who set policies, payloads of long tasks.
awk 'NR == 1 { print "EKRECORD 5"; next }
    /^rank 1/ { print; print "about Open MPI v4 with MPI_THREAD_SINGLE; polling"
        print "about restore=retain (EVENKEEL_RESTORE), steal=random (default)"; next }
    /^task 2199023255555 / { print $1, $2, $3, $4, "y", 0, "07000000ffffffff"; next }
    /^task/ { print $0, 0; next } { print }' text >told
"$ek_record" binary told told.ekr || fail 'no record that tells more'
run 0 --csv --simulate 0 told.ekr
is longest 0 payload '7 -1'
is longest 1 payload ''
run 0 --text --simulate 0 told.ekr
for badge in 'Open MPI v4' '(EVENKEEL_RESTORE)' 'steal random (default)'; do
    grep -qF "$badge" out || fail "no $badge: $(cat out)"
done
run 0 --simulate 0 told.ekr
grep -q 'older version' out && fail 'a new record is called old'

# A task that worker 5 of an earlier job had first.
sed '1s/5/6/; s/^iteration .*/& stopped 0/; /^about restore/a earlier workers 8
s/^task 2199023255555 /task 3195455668231 /' told >later
"$ek_record" binary later later.ekr || fail 'no record of a later job'
run 0 --csv --simulate 0 later.ekr
is longest 0 id 5497558138887
is longest 0 home 2
is longest 0 number 7

# A table of the report, with what a record does not know.
{
    printf 'collection\titeration\twall_s\twork_s\toverhead_s\tsearch_s\tend_s\tstart_s\tlate_s\tdata_wait_s\ttile_wait_s\trestore_s\toutside_s\tcpu_s\tstarved_s\tstarved_in_tasks_s\tstarved_idle_s\tefficiency\tspeed\tbound\timbalance\ttasks\tlargest_task_s\tcores\tslowest_rank\tlatest_rank\n'
    for k in 0 1 2; do
        printf 'fock\t%d\t0.02\t0.02\t0.001\t0.002\t0.003\t0.004\t0.03\t0.0005\t0\t0.001\t0.01\t0\t0\t0\t0\t0.3333\t0.3333\t0.8\t0.5\t12\t0.008\t3\t1\t0\n' $k
    done
} >job.tsv
run 0 --csv --simulate 0 run.ekr job.tsv
for k in 0 1 2; do
    awk -F, -v row=$k '$2 == "efficiency" && $3 == row && on { sum += $5 }
        $4 == "bound/%" { on = $3 == row }
        END { exit sum < 99.9 || sum > 100.1 }' out || fail "parts of $k do not add up"
done
is efficiency 0 late/% 47.62
# As long as the latest rank was later than others: it is late.
is efficiency 0 outside/% 0.00
is efficiency 0 'waiting for data/%' 0.79
is losses 0 cause 'ranks late'
is losses 0 share/% 55.56
run 0 --text --simulate 0 run.ekr job.tsv
grep -q '^run.ekr: Rank 0 enters 30 ms late: ' out || fail "verdict: $(cat out)"
printf 'collection\titeration\trank\tnode\tworkers\tlate_s\n' >ranks.tsv
printf 'fock\t0\t0\t0\t1\t0.03\nfock\t0\t1\t1\t2\t0\n' >>ranks.tsv
run 0 --text --simulate 0 run.ekr job.tsv ranks.tsv
grep -q '3 workers, 2 ranks, 2 nodes' out || fail "nodes: $(cat out)"

# More cores, as ek-sim has them.
run 0 --csv run.ekr --simulate 60 --machine hopper
[ "$(value cores 0 cores)" = 2 ] || fail "cores: $(cat out)"
wanted=$("$ek_sim" --record run.ekr --machine hopper --cores 16 --node-cores 16 \
    --ranks-per-node 1 --mode sampled --iterations 3 --modes StealRet --csv |
    awk -F, 'END { printf "%.5g", $8 }')
awk -F, -v wanted="$wanted" '$2 == "cores" && $4 == "cores" { at = $5 }
    $2 == "cores" && $4 == "policy" { policy = $5 }
    $2 == "cores" && $4 == "iteration/s" && at == 16 && policy == "StealRet" {
        found = $5 == wanted } END { exit !found }' out ||
    fail "16 cores: not $wanted in $(grep ,cores, out)"
run 0 --text run.ekr --machine nowhere
grep -q 'nowhere' out || fail "a machine that is not there: $(cat out)"

# Pages.
run 0 run.ekr job.tsv -o run.html --simulate 2
python3 "$page" run.html 1 || fail 'run.html'
mkdir twin
cp run.ekr twin
run 0 --compare run.ekr twin/run.ekr --text --simulate 0
grep -q '^twin/run.ekr: Workers were' out || fail "names: $(cat out)"
run 0 --compare run.ekr job.tsv "$data"/*.ekr -o all.html --simulate 0
set -- "$data"/*.ekr
python3 "$page" all.html $(($# + 1)) || fail 'all.html'
run 0 run.ekr --simulate 0
mv out direct.html
run 0 run.ekr --simulate 0 -o file.html
cmp direct.html file.html || fail 'not the same on standard output'

# What is wrong.
answers
full run.ekr --simulate 0
says_of 'a record is missing; allowed: RECORD.ekr [JOB.tsv ...]'
says_of 'the first file is no record' job.tsv run.ekr
says_of '2 records; allowed: one, or more with --compare' run.ekr run.ekr
says_of '--text and --csv; allowed: one of them' run.ekr --text --csv
says_of "--iteration is 7; 'run.ekr' has none of that number; allowed: those from 0 to 2" \
    run.ekr --iteration 7
says_of "cannot read 'none.tsv'" run.ekr none.tsv
says_of "--simulate is '-1'; allowed" run.ekr --simulate -1
says_of 'none.ekr' none.ekr
says_of 'text' text
cut -f 1-5,7- job.tsv >short.tsv
says_of "'short.tsv' has no column 'search_s'; allowed: " run.ekr short.tsv
sed '3s/0.02/x/' job.tsv >bad.tsv
says_of "'bad.tsv', line 3: 'x'; allowed: a finite number" run.ekr bad.tsv
sed 's/fock/other/' job.tsv >other.tsv
says_of "'other.tsv' has no iteration of the collection 'fock'" run.ekr other.tsv
sed '/^iteration/,$d' text >empty
"$ek_record" binary empty empty.ekr || fail 'no empty record'
says_of "'empty.ekr' has no iteration; allowed: " empty.ekr
run 1 run.ekr --simulate 0 -o /nowhere/run.html
says "cannot write '/nowhere/run.html'"
exit $status
