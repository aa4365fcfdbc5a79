#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh holds|fails safety|live MODEL.pml [-DNAME...]: check a Promela model.
#
# safety looks for failed assertions and processes that are stuck, live for
# failed assertions and runs without end, with weak fairness.  `holds`: no error,
# all states seen.  `fails`: an error.  77 without spin.  CC: compiler.
set -u
expected=$1
property=$2
model=$(cd "$(dirname "$3")" && pwd)/$(basename "$3")
shift 3
if ! command -v spin >/dev/null; then
    echo "no spin: tools/setup installs it"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$model" "$(dirname "$model")/ring.pml" "$folder" && cd "$folder" || exit 1
model=$(basename "$model")

case $property in
safety) compile='-DSAFETY -DNOCLAIM' search= ;;
live) compile='-DNFAIR=3' search='-a -f' ;;
*) exit 2 ;;
esac

if ! spin -a "$@" "$model" >log 2>&1 || grep -q Error log; then
    cat log
    exit 1
fi
# What fails is found at once: there the compiler takes longer than the search.
# Elsewhere -O2 takes 2 s longer to compile than it saves.
[ "$expected" = fails ] && optimize=-O0 || optimize=-O1
# shellcheck disable=SC2086
"${CC:-cc}" $optimize -w -DCOLLAPSE $compile -o pan pan.c || exit 1
# -m: deeper than any search here; too deep is an error.
# shellcheck disable=SC2086
./pan -b -m1000000 $search >log 2>&1

# Of the summary, which is missing when the search was not finished.
errors=$(sed -n 's/^State-vector.*errors: \([0-9]*\)$/\1/p' log)
if grep -q 'max search depth too small\|Search not completed' log &&
    [ "$expected" = holds ]; then
    errors=incomplete
fi
case $expected-$errors in
holds-0 | fails-[1-9]*)
    grep -E '^pan:1:|states, stored|elapsed' log
    if [ "$expected" = fails ] && grep -q 'search depth too small' log; then
        exit 1
    fi
    ;;
*)
    cat log
    echo "$model $*: expected that it $expected"
    # The end of the run that leads there.
    [ ! -e "$model.trail" ] || spin -t -p "$@" "$model" | tail -n 60
    exit 1
    ;;
esac
