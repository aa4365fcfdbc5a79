#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A struct of more than 25 members says why in the comment above it, after
# "Many members:".
set -u
cd "$(dirname "$0")/../.." || exit 1

# "FILE LINE MEMBERS" of each struct; those of structs inside count.
members() {
    awk -f tests/structure/code.awk src/*/*.[ch] | awk '
        { place = $1; sub(/^[^ ]* /, "") }
        /^(typedef )?struct [a-z_]+ \{/ { where = place; depth = count = 0 }
        where != "" {
            for (i = 1; i <= length($0); i++) {
                c = substr($0, i, 1)
                depth += (c == "{") - (c == "}")
                calls += (c == "(") - (c == ")")
                count += c == ";" || (c == "," && calls == 0)
                if (c == "}" && depth == 0) {
                    split(where, part, ":")
                    print part[1], part[2], count
                    where = ""
                    break
                }
            }
        }'
}

bad=$(members | while read -r file line count; do
    [ "$count" -le 25 ] ||
        head -n "$((line - 1))" "$file" | tail -n 3 | grep -q 'Many members:' ||
        echo "$file:$line: $count members, and no reason above"
done)
if [ -n "$bad" ]; then
    echo "$bad"
    exit 1
fi
echo "structs have at most 25 members, or a reason for more"
