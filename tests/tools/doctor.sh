#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# doctor.sh MPIRUN EK_BENCH: ek-bench doctor says what a job has, and what to
# change.  Nothing here is a time.
set -u
mpirun=$1 tool=$2
. "$(dirname "$0")/common.sh"

has() {
    grep -qE -- "$1" out || fail "no '$1' in: $(cat out)"
}

# Nothing of another job that runs this test.
for variable in $(env | sed -n 's/^\(SLURM_[A-Z_]*\|PMI_[A-Z]*\)=.*/\1/p'); do
    unset "$variable"
done
export OMP_NUM_THREADS=1
unset EVENKEEL_WORKERS

for ranks in 1 2; do
    run 0 $ranks doctor
    [ "$(grep -c '^What to change$' out)" -eq 1 ] || fail "$(cat out)"
    [ "$(grep -cE '^ +[0-9]+ +1 +[0-9]+ +[0-9]+ +[0-9]+ ' out)" -eq $ranks ] ||
        fail "ranks: $(cat out)"
    for field in MPI 'thread level' launcher clock 'shared memory' \
        'a message' progress memory; do
        has "^  $field +[^ ]"
    done
    [ "$(grep -c 'the CPUs are busy$' out)" -eq \
        "$(grep -c 'other programs use the CPUs' out)" ] ||
        grep -q 'share CPUs' out || fail "busy: $(cat out)"
done

# Workers of one thread have no others that wait.
cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
mpirun_here=$mpirun mpirun=$folder/narrow
printf '#!/bin/sh\nexec taskset -c %s %s "$@"\n' "$cpu" "$mpirun_here" >"$mpirun"
chmod +x "$mpirun"
run 0 2 doctor
has '^  1\. .* \(2 workers on 1 of [0-9]+ CPUs of .*\): start fewer ranks on a host$'
mpirun=$mpirun_here

# Too many workers for the CPUs, which ranks share.
export EVENKEEL_WORKERS=64
run 0 2 doctor
has '^  [1-9]\. 2 of 2 ranks share CPUs with more workers than CPUs \(128 workers'
unset EVENKEEL_WORKERS

# Two nodes.
export EVENKEEL_RANKS_PER_NODE=1
run 0 2 doctor
has '^What to change'
unset EVENKEEL_RANKS_PER_NODE

# Ranks that MPI takes for a job each: the first speaks.
mpirun=
export SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 SLURM_JOB_ID=17
run 0 doctor
has '^  launcher +srun, Slurm job 17$'
has '^  1\. srun has started 4 ranks, of which MPI knows 1: try srun --mpi=pmix'
SLURM_PROCID=1
run 0 doctor
[ ! -s out ] || fail "the second rank: $(cat out)"
unset SLURM_STEP_NUM_TASKS SLURM_PROCID SLURM_JOB_ID

# A collection that cannot be made.
EVENKEEL_BUFFER_SLOTS=9 EVENKEEL_STEAL=nobody run 0 doctor
has '^  1\. no collection can be made: EK_ERR_ARG'
says "EVENKEEL_STEAL"

run 2 doctor machine
says 'machine and doctor go alone'
run 2 doctor --check x.machine
says '--check needs machine'
exit $status
