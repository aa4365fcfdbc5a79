#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# All C and C++ is laid out as .clang-format says; 77 without clang-format.
set -u
cd "$(dirname "$0")/../.." || exit 1
if ! command -v clang-format >/dev/null; then
    echo "no clang-format"
    exit 77
fi
places=$(mktemp)
trap 'rm -f "$places"' EXIT
find include src workloads cli examples tests tools -name '*.[ch]' -o -name '*.cc' -o -name '*.hpp' |
    xargs clang-format --dry-run -Werror 2>&1 |
    sed -n 's/:[0-9]*:[0-9]*: error: .*//p' | sort -u >"$places"
if [ -s "$places" ]; then
    echo 'clang-format -i would change:'
    cat "$places"
    exit 1
fi
