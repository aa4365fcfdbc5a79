#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# machine.sh MPIRUN EK_BENCH: ek-bench machine prints a file that it reads.
# Nothing here is a time.
set -u
mpirun=$1 tool=$2
. "$(dirname "$0")/common.sh"

# keys FILE: its lines but comments, without the comments at their ends.
keys() {
    sed 's/ *#.*//; /^$/d' "$1"
}

for ranks in 1 2; do
    run 0 $ranks machine --repetitions 3
    mv out mine.machine
    [ "$(keys mine.machine | wc -l)" -eq 23 ] ||
        fail "$ranks ranks: $(cat mine.machine)"
    run 0 1 machine --check mine.machine
    keys mine.machine >first
    keys out >second
    diff first second || fail "$ranks ranks: read otherwise than written"
done
grep -q '^# Messages went ' mine.machine || fail "2 ranks: $(cat mine.machine)"

# One rank keeps what another machine has for messages, and says so.
run 0 1 machine --repetitions 1 --like titan
grep -q '^# Not measured, or not possibly so, but as on titan: rma_ns, .*, latency, .*, poll_period' out ||
    fail "like: $(cat out)"
grep -q '^latency *1.6 us ' out || fail "like: $(cat out)"

# What is not said comes from the preset.
printf 'like hopper\nnode_cores 12\n' >half.machine
run 0 1 machine --check half.machine
grep -q '^# A rank has 11 workers and a server' out || fail "half: $(cat out)"
grep -q '^handle *10 us ' out || fail "half: $(cat out)"

echo 'speed 3 us' >bad.machine
run 2 1 machine --check bad.machine
says "ek-bench: 'bad.machine', line 1: unknown key 'speed'; allowed: like, name"
[ ! -s out ] || fail "bad: $(cat out)"
run 2 1 machine --check nowhere.machine
says "cannot read 'nowhere.machine'"
run 2 1 machine --check
says '--check needs a value: machine: only read this file'
run 2 1 machine --like atlantis
says "--like is 'atlantis'; allowed: this, hopper"
run 2 1 machine tasks
says 'go alone'
run 2 1 tasks --check half.machine
says '--check needs machine'

# One-sided operations, which take two ranks.
run 0 2 machine --rma --repetitions 2
for key in rma_ns rma_byte_ns atomic_ns; do
    grep -qE "^$key [0-9.]+ ns$" out || fail "rma, $key: $(cat out)"
done
[ "$(grep -c '^# \(get\|put\) ' out)" -eq 14 ] || fail "rma: $(cat out)"
grep -q '^# passive targets are ' out || fail "rma: $(cat out)"
mv out rma.machine
run 0 1 machine --check rma.machine
keys out | grep -q "^atomic_ns  *[0-9]" || fail "rma, read: $(cat rma.machine out)"
run 2 1 machine --rma
says '--rma needs two ranks or more: mpirun'
run 2 1 tasks --rma
says '--rma needs machine'

# What cannot be is refused, on a machine as in a file.
for line in 'latency 1 ns' 'task 0 ns' 'bandwidth 90000 GB/s' 'poll 1 s'; do
    printf 'like this\n%s\n' "$line" >strange.machine
    case $line in
    poll*) run 0 1 machine --check strange.machine ;;
    *)
        run 2 1 machine --check strange.machine
        says "'strange.machine': ${line%% *} of "
        says 'cannot be; possible: '
        ;;
    esac
done

# Without a case it says in words what matters, once.
run 0 2 --tasks 1000 --repetitions 1
[ "$(grep -c 'lose less than 1 %' out)" -eq 1 ] || fail "summary: $(cat out)"
[ "$(grep -c '^  .* [0-9.]* [nu]s$' out)" -ge 5 ] || fail "summary: $(cat out)"

# Wrong use.
run 2 1 --json
says '--json needs a case; allowed: tasks, steal, process, service, '
run 2 1 task
says "'task' is no case; allowed: tasks, steal"
run 2 1 --fast tasks
says "unknown option '--fast'"
run 2 1 --repetitions 0 tasks
says "--repetitions is '0'; allowed: an integer from 1 to 1000"
run 2 1 --tasks 99999999999999999999 tasks
says "--tasks is '99999999999999999999'; allowed: an integer from 1000 to"
run 2 1 --deque open tasks
says "--deque is 'open'; allowed: atomic, locked"
run 0 2 --help
[ "$(grep -c '^usage: ek-bench' out)" -eq 1 ] || fail "help: $(cat out)"
answers
exit $status
