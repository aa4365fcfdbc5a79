#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# readme_figure.sh README_FIGURE BUILD: tools/readme-figure draws four curves
# and the bound for either background, and refuses what it cannot draw.
set -u
figure=$1 build=$2
command -v gnuplot >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0

fail() {
    echo "FAIL: $*"
    status=1
}

"$figure" --build "$build" --folder "$folder" --rounds 1 >"$folder/out" ||
    fail "exit status $?"
[ "$(grep -cE '^[a-z]+\+[a-z]+( +[0-9.]+){10}$' "$folder/out")" -eq 4 ] ||
    fail "not four rows of ten percentages: $(cat "$folder/out")"
for theme in light dark; do
    [ "$(grep -c '<title>gnuplot_plot_' "$folder/efficiency-$theme.svg")" -eq 5 ] ||
        fail "not five curves in efficiency-$theme.svg"
done
cmp -s "$folder/efficiency-light.svg" "$folder/efficiency-dark.svg" &&
    fail "light is dark"

for bad in '--rounds 0' "--build $folder"; do
    # shellcheck disable=SC2086
    "$figure" $bad --folder "$folder" 2>"$folder/err" && fail "$bad: no failure"
    grep -q -e "${bad%% *}" "$folder/err" || fail "$bad: $(cat "$folder/err")"
done
exit $status
