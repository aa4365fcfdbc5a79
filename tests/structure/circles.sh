#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No file of a module needs another that needs it: within each module, and each
# program, what objects define and need is an order; so is, within each module,
# what files include.
#
#   circles.sh BUILD-FOLDER
#
# Of objects headers do not count: what is inline in one may have a slow path in
# a file.  Nor does program_name, which each main file says to cli.
set -u
build=$(cd "${1:?usage: circles.sh BUILD-FOLDER}" && pwd) || exit 1

# A file and the header of its name are one, but for the module's own header and
# these, whose structs several files share.
shared='engine/look.h engine/worker.h protocol/counter.h rebalance/balancer.h'
# The engine has the state of its own protocols, and of the lists of a rank, as
# members, and their files know the engine.
known='engine.h:lineup engine.h:moves engine.h:pinned engine.h:wave'

# Pairs "including included" of MODULE.
includes() {
    grep -o "^#include \"$1/[^\"]*\"" src/"$1"/*.[ch] |
        sed "s,^src/$1/,,; s,:#include \"$1/, ,; s,\"\$,," |
        awk -v module="$1" -v shared=" $1/$1.h $shared " -v known=" $known " '
            function node(file) {
                if (!index(shared, " " module "/" file " "))
                    sub(/\.[ch]$/, "", file)
                return file
            }
            { one = node($1); other = node($2) }
            index(known, " " one ":" other " ") { next }
            one != other { print one, other }'
}

cd "$(dirname "$0")/../.." || exit 1
circles=0
for module in src/*/; do
    module=$(basename "$module")
    loops=$(includes "$module" | tsort 2>&1 >/dev/null) && continue
    circles=$((circles + 1))
    echo "src/$module: files that include each other:"
    echo "$loops" | sed -n 's/^tsort: \([a-z_.]*\)$/    \1/p' | sort -u
done
for edge in $known; do
    grep -q "^#include \"engine/${edge#*:}\.h\"" "src/engine/${edge%:*}" &&
        continue
    circles=$((circles + 1))
    echo "src/engine: $edge is known, and is not there"
done

cd "$build" || exit 1

# "OBJECT T SYMBOL": defined; "OBJECT U SYMBOL": needed.
symbols() {
    nm -A "$@" 2>/dev/null |
        sed -n 's/^\([^:]*\): *[0-9a-f]* *\([A-Za-z]\) \(.*\)$/\1 \2 \3/p' |
        grep -v ' program_name$'
}

# Pairs "needing defining" of symbols on standard input; the same object twice
# is an object without needs.
pairs() {
    awk '$2 == "U" { needs[$1, $3] = 1; next }
         $2 ~ /[TDBRC]/ { owner[$3] = $1; print $1, $1 }
         END {
             for (pair in needs) {
                 split(pair, part, SUBSEP)
                 if (part[2] in owner && owner[part[2]] != part[1])
                     print part[1], owner[part[2]]
             }
         }'
}

modules=0
# check NAME OBJECT...
check() {
    name=$1
    shift
    modules=$((modules + 1))
    loops=$(symbols "$@" | pairs | tsort 2>&1 >/dev/null) && return
    circles=$((circles + 1))
    echo "$name: files that need each other:"
    # tsort names a loop again for each edge that it drops; one will do.
    echo "$loops" | sed -n 's/^tsort: \(.*\.o\)$/    \1/p' | sort -u
}

objects=$(ls src/libevenkeel.so*.p/*.o src/libevenkeel-sim.a.p/*.o)
for module in $(echo "$objects" | sed -n 's,.*/\([a-z]*\)_[^/]*$,\1,p' |
    sort -u); do
    # shellcheck disable=SC2046
    check "src/$module" $(echo "$objects" | grep "/${module}_")
done
for program in $(find tools examples -name '*.p' -type d | sort); do
    # shellcheck disable=SC2046
    check "$program" $(find "$program" -name '*.o')
done
if [ $modules -lt 18 ]; then
    echo "only $modules modules and programs were found in $build"
    exit 1
fi
[ $circles -eq 0 ] || exit 1
echo "no circles of files in $modules modules and programs"
