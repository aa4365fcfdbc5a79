#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# timeline.sh EK_REPORT EK_RECORD EK_SIM HAS_OTF2 DATA: timelines as pages, sums, trace
# events and OTF2; damaged, truncated, foreign and mixed files.
set -u
mpirun='' tool=$1
ek_record=$(realpath "$2")
ek_sim=$(realpath "$3")
has_otf2=$4
data=$(realpath "$5")
tests=$(realpath "$(dirname "$0")")
. "$(dirname "$0")/common.sh"

timeline() {
    python3 "$tests/timeline.py" "$@"
}

# exports FOLDER RANKS WORKERS STEALS: both programs for others agree.
exports() {
    run 0 "$1" --perfetto out.json
    timeline perfetto out.json "$2" "$3" "$4" || fail "$1: trace events"
    if [ "$has_otf2" = true ]; then
        run 0 "$1" --otf2 "$1.otf2"
        if command -v otf2-print >/dev/null; then
            otf2-print "$1.otf2/evenkeel.otf2" >events 2>&1
            otf2-print -G "$1.otf2/evenkeel.otf2" >>events 2>&1
            ! grep -iE 'warning|error|invalid' events ||
                fail "$1: otf2-print"
            enters=$(grep -c '^ENTER ' events) leaves=$(grep -c '^LEAVE ' events)
            slices=$(grep -v '"iteration' out.json | grep -c '"ph":"X"')
            [ "$enters,$leaves" = "$slices,$slices" ] ||
                fail "$1: $slices slices, $enters and $leaves in OTF2"
        fi
    else
        run 1 "$1" --otf2 "$1.otf2"
        says 'built without libotf2; install it'
    fi
}

# By hand: see worker_events() of timeline.py.
timeline make run 2 2 3
run 0 run --csv
is states 0 tasks 105
is states 0 late/s 0.0006
is states 3 'in tasks/s' 0.001134
is states 1 steals 0
is iterations 2 late/s 0.0002
is iterations 2 outside/s 0.0006
is iterations 2 stolen 3
awk -F, '$2 == "states" && $3 == 4 && $4 ~ "/s$" { sum += $5 }
    END { exit sum < 0.002999 || sum > 0.003001 }' out || fail 'states do not cover the time'
is timeline 0 what outside
grep -q ',in tasks$' out || fail 'no task among the longest'
run 0 run --csv --iteration 1
is states 3 outside/s 0
is states 3 late/s 0.0001
is timeline 0 'from/s' 0
exports run 2 2 9
run 0 run --text
grep -q 'agree to 1.5 us' out || fail "clock: $(cat out)"
run 0 run -o run.html
python3 "$tests/report_page.py" run.html 1 || fail run.html
grep -q 'erf &lt;i&gt; &amp; &quot;j&quot;, task 9 of worker 0 -&gt; 1: 188 us' run.html ||
    fail 'words of a task'
timeline make unnamed 2 2 1 7 fock 0 1
run 0 unnamed -o unnamed.html
grep -q 'worker 0: a function without a name; ' unnamed.html || fail 'a function without a name'
timeline make slow 2 2 3 7 fock 10000
run 0 slow --csv
is iterations 0 late/s 0.000198
is states 2 restoring/s 0.000149
says_of "has none of that number; allowed" run --iteration 7
says_of "allowed: a folder with files NAME.RANK.ekt" .
says_of "a record is missing; allowed: " run run.tsv
says_of "--perfetto or --otf2 with 0 timelines" "$data/water10.ekr" --perfetto a.json
timeline make other 2 2 3 7 tiles
{
    printf 'EKRECORD 4\nname fock\nrank 0 workers 2\nrank 1 workers 2\nfunction 0 f\n'
    echo 'iteration 0 wall_ns 9999 status 0 restore none steal random order longest on_failure stop'
    for worker in 0 1 2 3; do
        echo "worker $worker executed 1 nulls 0 failed 0 cancelled 0 work_ns 1000 null_ns 0"
        echo "task $((worker * 1099511627776)) 0 1000 -"
    done
    echo 'end 1'
} >text
"$ek_record" binary text run.ekr || fail 'no record'
run 0 run.ekr run --simulate 0 -o both.html
python3 "$tests/report_page.py" both.html 1 || fail both.html
says_of "'other/tiles.0.ekt': collection 'tiles', 2 ranks, 4 workers; the record: 'fock', 2, 4;" \
    run.ekr other/tiles.0.ekt
says_of "the record: 'fock', 1, 1; allowed: a timeline of its run" "$data/water10.ekr" run
run 1 run --perfetto /nowhere/out.json
says "cannot write '/nowhere/out.json'"

# As far as it goes: ends at each border, and between two.
size=$(wc -c <run/fock.1.ekt)
mkdir cut
cp run/fock.0.ekt cut
for at in $(timeline borders run/fock.1.ekt) 181 199 1000 $((size - 1)); do
    head -c "$at" run/fock.1.ekt >cut/fock.1.ekt
    run 0 cut --text
    grep -q "1 of the files end early: the timeline of rank 1 is not complete: it ends at byte $at," out ||
        fail "cut at $at: $(cat out)"
    [ "$at" -ne 1000 ] || exports cut 2 2 5
done
for at in 0 7 100 179; do
    head -c "$at" run/fock.1.ekt >cut/fock.1.ekt
    says_of "'cut/fock.1.ekt', byte $at: the file ends within its header" cut
done

# Damage is refused, wherever it is.
mkdir bad
cp run/fock.0.ekt bad
for at in 0 9 20 30 90 170 178 180 186 190 200 262 300 500 1000 1500 $((size - 2)); do
    cp run/fock.1.ekt bad
    byte=$(od -An -tu1 -j "$at" -N 1 run/fock.1.ekt)
    # shellcheck disable=SC2059
    printf "\\$(printf %03o $((byte ^ 4)))" |
        dd of=bad/fock.1.ekt bs=1 seek="$at" conv=notrunc 2>/dev/null
    says_of "'bad/fock.1.ekt', byte" bad
done

# Of another run, of another collection, twice, not at all.
timeline make other 2 2 3 8
mkdir mixed
cp run/fock.0.ekt other/fock.1.ekt mixed
says_of "byte 16: another run, of 2 ranks and 4 workers" mixed
says_of "byte 48: a timeline of the collection 'tiles'; the others are of 'fock'" \
    run/fock.0.ekt other/tiles.1.ekt
says_of "byte 32: rank 0, as in 'run/fock.0.ekt'" run/fock.0.ekt run
cp "$tests/timeline.sh" bad/fock.1.ekt
says_of "this is no timeline: it does not begin with EKTIMELN" bad
rm bad/fock.1.ekt
mkfifo bad/fock.1.ekt
says_of "cannot read 'bad/fock.1.ekt': it is a FIFO; allowed: a file" bad
timeline make few 4 2 2
rm few/fock.1.ekt
run 0 few --text
grep -q '1 of 4 ranks have no file: 1\.' out || fail "a rank is missing: $(cat out)"
exports few 3 2 8

# Simulated: a map of all workers, and the sums of the table.
"$ek_sim" --record "$data/water10.ekr" --cores 256 --node-cores 16 --timeline sim \
    --iterations 2 >told 2>err || fail "ek-sim: $(cat err)"
run 0 sim -o sim.html
python3 "$tests/report_page.py" sim.html 1 || fail sim.html
grep -q '2 workers share a row' sim.html || fail 'no map'
exports sim "$(find sim -name '*.ekt' | wc -l)" 1 \
    "$(run 0 sim --perfetto a.json && grep -c '"ph":"f"' a.json)"
exit $status
