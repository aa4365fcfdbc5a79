#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# empty_iteration.sh PROGRAM MOST: an iteration without a task takes no more than
# MOST instructions inside ek_process(), by callgrind.  Without valgrind: 77.
set -eu
program=$1 most=$2 many=200

command -v valgrind >/dev/null || {
    echo "no valgrind on the path"
    exit 77
}

took=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
    --toggle-collect=ek_process "$program" $many 2>&1 |
    awk -v many=$many '/Collected : /{ printf "%.0f", $NF / many }')
echo "${took:=0} instructions, allowed: 1 ... $most"
[ "$took" -ge 1 ] && [ "$took" -le "$most" ]
