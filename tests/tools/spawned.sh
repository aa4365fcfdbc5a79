#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# spawned.sh MPIRUN EK_RECORD EK_SIM EK_EMULATE NQUEENS: a run that spawns, as
# it is recorded, simulated and emulated.  Nothing here is a time.
set -u
mpirun='' launch=$1 tool=$2
sim=$(cd "$(dirname "$3")" && pwd)/ek-sim
emulate=$(cd "$(dirname "$4")" && pwd)/ek-emulate
queens=$(cd "$(dirname "$5")" && pwd)/nqueens
unset OMP_WAIT_POLICY
export EVENKEEL_CHECK=0 EVENKEEL_WORKERS=1
. "$(dirname "$0")/common.sh"

# begins FILE TASKS SECONDS: the first line of FILE has these numbers; whoever
# wrote it has rounded the seconds.
begins() {
    awk -v tasks="$2" -v seconds="$3" '
        match($0, /: [0-9]+ tasks, [0-9.e+-]+ s,/) {
            split(substr($0, RSTART + 2, RLENGTH - 2), word, " ")
            off = word[3] / seconds - 1
            found = word[1] == tasks && off > -1e-3 && off < 1e-3
        }
        { exit }
        END { exit !found }' "$1" || fail "$1: $(head -n 1 "$1"); $2, $3"
}

EVENKEEL_RECORD=run.ekr "$launch" --timeout 100 -n 2 "$queens" --queens 9 \
    --cutoff 3 >out 2>&1 </dev/null || fail "nqueens: $(cat out)"
tasks=$(awk '/ tasks on 2 workers/ { print $1 }' out)
run 0 summary run.ekr
awk -v tasks="$tasks" '$1 == "0" && $2 == tasks && $4 == tasks - 1 { found = 1 }
    END { exit !found }' out || fail "$tasks tasks; summary: $(cat out)"
grep -q ", iteration 0: $((tasks - 1)) of $tasks tasks were spawned, in 3 gen" out ||
    fail "generations: $(cat out)"
run 0 text run.ekr
mv out text
run 0 binary text again.ekr
cmp run.ekr again.ekr || fail 'not the same from text'

# Who has spawned, and nothing else, is there at first.
"$sim" --record run.ekr --cores 2 --iterations 2 >simulated 2>err ||
    fail "ek-sim: $(cat err)"
"$launch" --timeout 100 -n 2 "$emulate" --record run.ekr --iterations 2 \
    >emulated 2>err </dev/null || fail "ek-emulate: $(cat err)"
sum=$(awk '/^task/ && $4 != "-" { sum += $4 } END { printf "%.6g", sum * 1e-9 }' text)
begins simulated "$tasks" "$sum"
begins emulated "$tasks" "$sum"
grep -q '^1 of them exist at first' simulated || fail "$(cat simulated)"

# A chain: as long on any number of workers, with what its parents wait for.
first=549755813888
cat >chain <<TEXT
EKRECORD 3
name chain
rank 0 workers 1
function 0 link
iteration 0 wall_ns 3000000 status 0 restore none steal random order executed on_failure stop
worker 0 executed 4 nulls 0 failed 0 cancelled 0 work_ns 3000000 null_ns 0
task 7 0 1048576 -
task $first 0 1048576 -
task $((first + 1)) 0 - s
task $((first + 2)) 0 1048576 -
spawned 7 first $first count 2
spawned $((first + 1)) first $((first + 2)) count 1
end 1
TEXT
run 0 binary chain chain.ekr
run 0 text chain.ekr
sed 's/ 1048576 / 1050624 /' chain | diff - out >differs ||
    fail "text of the chain: $(cat differs)"
run 0 summary chain.ekr
grep -q '^chain.ekr, iteration 0: 3 of 4 tasks were spawned, in 2 generations; all take 0.003152 s, the longest chain 0.002101 s: average parallelism 1.5$' out ||
    fail "chain: $(cat out)"
for iteration in 0 median; do
    "$sim" --record chain.ekr --cores 1 --iteration $iteration >out 2>err
    head -n 1 out | grep -q ' 4 tasks, 0.0031519 s' ||
        fail "iteration $iteration: $(head -n 1 out)"
done
"$sim" --record chain.ekr --cores 8 --iterations 1 --csv >out 2>err ||
    fail "ek-sim: $(cat err)"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR == 2 { ran = $at["makespan_s"] - $at["detect_s"]
              good = ran > 0.0021 && ran < 0.0023 &&
                     $at["bound_s"] > 0.0021 && $at["bound_s"] < 0.0022 }
    END { exit !good }' out || fail "the chain is not bound: $(cat out)"

# Where tasks spawn later, but not at first, the first iteration is read.
{
    sed -n '1,4p' chain
    echo 'iteration 0 wall_ns 1 status 0 restore none steal random order longest on_failure stop'
    echo 'worker 0 executed 1 nulls 0 failed 0 cancelled 0 work_ns 1 null_ns 0'
    echo 'task 7 0 2097152 -'
    sed -n '5,$s/^iteration 0/iteration 1/; 5,$s/^end 1/end 2/; 5,$p' chain
} >later
run 0 binary later later.ekr
run 0 summary later.ekr
"$sim" --record later.ekr --cores 2 --iterations 1 >out 2>err ||
    fail "ek-sim: $(cat err)"
grep -q '^later.ekr, iteration 0' out || fail "later: $(head -n 1 out)"
"$sim" --record later.ekr --cores 2 --iteration median >out 2>err &&
    fail 'a median of what is spawned'
says 'tasks of iteration 1 spawn others'

# refused LINE TEXT SED: by who reads the text.
refused() {
    sed "$3" chain >changed
    run 2 binary changed bad.ekr
    says "'changed', line $1: "
    says "$2"
}
refused 11 'a line of spawned tasks; allowed from version 3 on' '1s/3/2/'
refused 11 'of task 7; allowed: ids 549755813888' "11s/first $first/first 8/"
refused 11 '0 tasks from' '11s/count 2/count 0/'
refused 12 'allowed: ids 549755813890' "12s/first [0-9]*/first $first/"
refused 12 'a task after a line of spawned tasks' '12{h;s/.*/task 9 0 1 -/;G;}'
refused 6 'spawned tasks before the first worker' '6,10d'

# In a ring nobody comes first.
sed "11s/spawned 7/spawned $((first + 2))/" chain >ring
run 0 binary ring ring.ekr
run 2 summary ring.ekr
says 'tasks have spawned each other in a ring'
"$sim" --record ring.ekr --cores 2 >out 2>err && fail 'ek-sim runs a ring'
says 'tasks have spawned each other in a ring'
exit $status
