#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# genmc.sh holds|fails PROGRAM.c [-DNAME...]: all executions of a program of C11
# threads under RC11.  `fails`: an assertion or a race.  77 without genmc
# (https://github.com/MPI-SWS/genmc; not in Debian).
set -u
expected=$1
program=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
shift 2
if ! command -v genmc >/dev/null; then
    echo "no genmc on the path"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

genmc -rc11 -- -std=c11 -DGENMC -I "$(dirname "$program")/../../src" "$@" \
    "$program" >"$folder/log" 2>&1
status=$?
# 42: it has found an error; anything else is trouble of its own.
case $expected-$status in
holds-0 | fails-42)
    tail -n 5 "$folder/log"
    ;;
*)
    cat "$folder/log"
    echo "$(basename "$program") $*: status $status, expected that it $expected"
    exit 1
    ;;
esac
