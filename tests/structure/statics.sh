#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A debugger and a profile show a static function by its name alone: no two
# files of src have one of the same name.
set -u
cd "$(dirname "$0")/../.." || exit 1

# "NAME FILE" of each; the type may stand on a line of its own.
statics() {
    awk -f tests/structure/code.awk src/*/*.c | awk '
        { file = $1; sub(/:.*/, "", file); sub(/^[^ ]* /, "") }
        /^static / { text = $0 }
        !/^static / && text != "" { text = text " " $0 }
        text ~ /[(=;{]/ {
            if (match(text, /^[^(=;{]*\(/)) {
                name = substr(text, 1, RLENGTH - 1)
                sub(/.*[ *]/, "", name)
                if (name ~ /^[a-z_0-9]+$/)
                    print name, file
            }
            text = ""
        }' | sort -u
}

list=$(statics)
[ "$(echo "$list" | wc -l)" -gt 1000 ] || {
    echo 'statics.sh sees no static functions'
    exit 1
}
bad=$(echo "$list" | cut -d ' ' -f 1 | uniq -d | while read -r name; do
    echo "$name:" $(echo "$list" | sed -n "s/^$name //p")
done)
[ -z "$bad" ] && exit
echo "static functions of one name:
$bad"
exit 1
