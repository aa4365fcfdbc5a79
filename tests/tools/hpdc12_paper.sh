#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpdc12_paper.sh MPIRUN EK_SIM HF_BE: what hpdc12.sh looks for in small runs
# holds on sizes of the paper.  Times are virtual.
set -u
mpirun=$1 tool=$2 hf_be=$3
. "$(dirname "$0")/common.sh"

# The paper's Hopper: Be256, 2.6 bohr apart, tiles of 40.
EVENKEEL_WORKERS=1 "$mpirun" -n 1 "$hf_be" --count --atoms 256 --spacing 2.6 \
    --tile 40 --integral-ns 1490 --test-ns 0 --record be256.ekr >log 2>&1 ||
    fail "be256: $(cat log)"

# iterations CORES COUNT POLICY STEAL: efficiency in %, attempts a worker and
# tasks stolen of each iteration.
iterations() {
    "$tool" --record be256.ekr --machine hopper --cores "$1" --iterations "$2" \
        --policy "$3" --steal "$4" --mode sampled --csv |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
                 NR > 1 { print 100 * $at["efficiency"], $at["tries"],
                              $at["stolen"] }' >rows
}

# Retention gains from iteration to iteration, and steals less; FIRST and LAST
# are what the first and the last iteration reach at least.
while read -r cores first last; do
    iterations "$cores" 5 retain random
    awk -v first="$first" -v last="$last" '
        NR == 1 { first_tried = $2; good = $1 >= first }
        NR > 1 { good = good && $1 >= efficiency - 0.3 }
        NR == 2 { good = good && $1 > efficiency + 3 }
        NR > 2 { good = good && $3 < stolen && $2 < first_tried / 10 }
        { efficiency = $1; stolen = $3 }
        END { exit !(NR == 5 && good && $1 >= last) }' rows ||
        fail "$cores cores, retained: $(cat rows)"
done <<END
2400 95 99.5
9600 83 98
END

# A rebalance mends it at once.
iterations 9600 3 centralized none
awk 'NR == 1 { good = $1 < 40 }
     NR > 1 { good = good && $1 > 99 }
     END { exit !(NR == 3 && good) }' rows ||
    fail "centralized: $(cat rows)"

# ... and so does the automatic choice.
iterations 9600 3 auto random
awk 'NR == 3 { exit !($1 > 99) }' rows ||
    fail "auto: $(cat rows)"
exit $status
