#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# machine.sh MPIRUN EK_BENCH: ek-bench machine prints a file that it reads.
# Nothing here is a time.
set -u
mpirun=$1
tool=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
export OMPI_MCA_odls_base_sigkill_timeout=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
status=0

fail() {
    echo "FAIL: $*"
    status=1
}

# run EXPECTED RANKS ARGUMENT...: exit status; output goes to out and err.
run() {
    expected=$1
    ranks=$2
    shift 2
    "$mpirun" --timeout 100 -n "$ranks" "$tool" "$@" >out 2>err </dev/null
    code=$?
    [ $code -eq "$expected" ] || fail "$*: exit status $code: $(cat err)"
}

says() {
    grep -qF -- "$1" err || fail "no '$1' in: $(cat err)"
}

# keys FILE: its lines but comments, without the comments at their ends.
keys() {
    sed 's/ *#.*//; /^$/d' "$1"
}

for ranks in 1 2; do
    run 0 $ranks machine --repetitions 3
    mv out mine.machine
    [ "$(keys mine.machine | wc -l)" -eq 18 ] ||
        fail "$ranks ranks: $(cat mine.machine)"
    run 0 1 machine --check mine.machine
    keys mine.machine >first
    keys out >second
    diff first second || fail "$ranks ranks: read otherwise than written"
done
grep -q '^# Messages went ' mine.machine || fail "2 ranks: $(cat mine.machine)"

# One rank keeps what another machine has for messages, and says so.
run 0 1 machine --repetitions 1 --like titan
grep -q '^# Not measured, but as on titan: latency, .*, poll_period' out ||
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
says '--check needs the name of a file'
run 2 1 machine --like atlantis
says "--like 'atlantis' is not allowed; allowed: this, hopper"
run 2 1 machine tasks
says 'goes alone'
run 2 1 tasks --check half.machine
says 'goes alone'
exit $status
