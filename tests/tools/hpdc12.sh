#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpdc12.sh REPRODUCE BUILD: tools/reproduce-hpdc12 writes all its tables, and
# what they are to show holds on sizes of the paper.  Times are virtual: every
# run comes to the same.
set -u
reproduce=$1 BUILD=$2
export BUILD
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
status=0

fail() {
    echo "FAIL: $*"
    status=1
}

"$reproduce" --tiny "$out" >"$out/log" 2>&1 ||
    fail "exit status $?: $(cat "$out/log")"
# rows TABLE: without its titles.
rows() {
    grep -E '^(be32|48)[[:space:]]' "$out/$1.txt"
}
[ "$(rows efficiency | wc -l)" -eq 8 ] || fail "$(cat "$out/efficiency.txt")"
[ "$(rows steals | wc -l)" -eq 2 ] || fail "$(cat "$out/steals.txt")"
[ "$(rows table3 | wc -l)" -eq 4 ] || fail "$(cat "$out/table3.txt")"
rows efficiency | awk -F'\t' '
    { first[$4] = $5; last[$4] = $9 }
    END { exit !(last["StealRet l"] > 99 &&
                 last["StealRet l"] > first["StealRet l"] + 0.3 &&
                 last["StealRet l"] > last["StealRet e"] &&
                 last["StealRet l"] > last["Steal l"] && last["static l"] == "-" &&
                 last["centralized l"] > 99 && first["centralized l"] < 60) }' ||
    fail "$(cat "$out/efficiency.txt")"

# The paper's Hopper: Be256, 2.6 bohr apart, tiles of 40.
EVENKEEL_WORKERS=1 "$(dirname "$reproduce")/mpirun" -n 1 \
    "$BUILD/examples/hf_be/hf_be" --count --atoms 256 --spacing 2.6 --tile 40 \
    --integral-ns 1490 --test-ns 0 --record "$out/be256.ekr" >"$out/log" 2>&1 ||
    fail "be256: $(cat "$out/log")"

# iterations CORES COUNT POLICY STEAL: efficiency in %, attempts a worker and
# tasks stolen of each iteration.
iterations() {
    "$BUILD/tools/ek-sim/ek-sim" --record "$out/be256.ekr" --machine hopper \
        --cores "$1" --iterations "$2" --policy "$3" --steal "$4" \
        --mode sampled --csv |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
                 NR > 1 { print 100 * $at["efficiency"], $at["tried"],
                              $at["stolen"] }' >"$out/iterations"
}

# Retention gains from iteration to iteration, and steals less; FIRST and LAST
# are what the first and the last iteration reach at least.
while read -r cores first last; do
    iterations "$cores" 5 retain random
    awk -v first="$first" -v last="$last" '
        NR == 1 { first_tried = $2; good = $1 >= first }
        NR > 1 { good = good && $1 >= efficiency - 0.1 }
        NR == 2 { good = good && $1 > efficiency + 3 }
        NR > 2 { good = good && $3 < stolen && $2 < tried * 1.05 }
        { efficiency = $1; tried = $2; stolen = $3 }
        END { exit !(NR == 5 && good && $1 >= last && $2 < first_tried / 2) }' \
        "$out/iterations" ||
        fail "$cores cores, retained: $(cat "$out/iterations")"
done <<END
2400 95 99.5
9600 83 98
END

# A rebalance mends it at once.
iterations 9600 3 centralized none
awk 'NR == 1 { good = $1 < 40 }
     NR > 1 { good = good && $1 > 99 }
     END { exit !(NR == 3 && good) }' "$out/iterations" ||
    fail "centralized: $(cat "$out/iterations")"

# ... and so does the automatic choice.
iterations 9600 3 auto random
awk 'NR == 3 { exit !($1 > 99) }' "$out/iterations" ||
    fail "auto: $(cat "$out/iterations")"
exit $status
