#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# exports.sh LIBRARY SOVERSION: the library exports the functions that headers
# declare with EK_API, all with the version of the soname, and nothing else.
set -u
library=$1 node=EVENKEEL_$2
cd "$(dirname "$0")/../.." || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

nm -D --defined-only --with-symbol-versions "$library" |
    awk -v node="$node" '$3 != node { print $3 }' | sort >"$folder/exported"
awk '
    /^EK_API / { declared = "" ; is_open = 1 }
    is_open { declared = declared " " $0 }
    is_open && /;/ {
        match(declared, /ek_[a-z0-9_]+ *\(/)
        print substr(declared, RSTART, RLENGTH - 1) "@@" node
        is_open = 0
    }' node="$node" include/*.h | sort >"$folder/declared"
[ -s "$folder/declared" ] || { echo 'no EK_API in include'; exit 1; }
if ! diff "$folder/declared" "$folder/exported" >"$folder/differ"; then
    echo "< declared in include, > exported by $library:"
    cat "$folder/differ"
    exit 1
fi
echo "$(wc -l <"$folder/exported") functions are exported, as $node"
