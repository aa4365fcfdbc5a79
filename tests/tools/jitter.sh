#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# jitter.sh EK_SIM: pauses of workers in virtual time.
set -u
mpirun='' tool=$1
. "$(dirname "$0")/common.sh"

# loses LEAST MOST: of the time, in every row but the first.
loses() {
    column efficiency | awk -v least="$1" -v most="$2" '
        NR > 1 && (1 - $1 < least || 1 - $1 > most) { exit 1 }
        END { if (NR < 2) exit 1 }' ||
        fail "$1 to $2: $(column efficiency)"
}

# One worker loses as much as is said, in pauses short and long.
one='--synthetic constant:n=50000,mean=0.001 --cores 1 --steal none --iterations 4 --csv'
for pause in 0.01 1 10; do
    run 0 $one --jitter "25:$pause"
    loses 0.22 0.28
done
run 0 $one --jitter 0
loses 0 0.001

# A machine file says so, too, and the option replaces it.
printf 'like hopper\npause_share 25 %%\npause 1 ms\n' >noisy.machine
noisy='--synthetic constant:n=48000,mean=0.001 --machine noisy.machine --cores 24
    --steal none --iterations 2 --csv'
run 0 $noisy
loses 0.22 0.35
run 0 $noisy --jitter 0
loses 0 0.01

# Of tasks that are all equal the pauses alone are to be balanced: those without
# stealing wait for the worker that pauses most.
few='--synthetic constant:n=4600,mean=0.01 --machine hopper --cores 48 --iterations 3
    --jitter 10:10 --modes static,Steal,StealRet,centralized --csv'
run 0 $few
awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "mode") mode = i
                                          if ($i == "makespan_s") at = i } }
    NR > 1 { mean[$mode] += $at / 3 }
    END { for (mode in mean) if (mean[mode] < 1.11) exit 1
          exit !(mean["static"] > 1.05 * mean["Steal"] &&
                 mean["centralized"] > 1.05 * mean["StealRet"]) }' out ||
    fail "pauses are not balanced: $(cat out)"

# The same seed is the same run, another is another.
column makespan_s >first
run 0 $few
column makespan_s | cmp -s - first || fail 'a run differs from itself'
run 0 $few --seed 2
column makespan_s | cmp -s - first && fail 'seeds make no difference'

for jitter in x 91 -1 5: 5:0 5:1x; do
    run 2 $few --jitter=$jitter
    says "--jitter is '$jitter'; allowed: P[:MS]"
done
exit $status
