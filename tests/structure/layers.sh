#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Modules include only themselves and lower ones; programs see include/ alone.
set -u
cd "$(dirname "$0")/../.." || exit 1

# May include, beside itself.  deque can be tested by anybody: it knows nobody.
may_include() {
    case $1 in
    base) echo evenkeel.h ;;
    count | timeline) echo base ;;
    task) echo base count ;;
    deque) echo ;;
    balance) echo base task ;;
    steal) echo base ;;
    fabric) echo base ;;
    wire) echo base fabric ;;
    exchange) echo base count steal fabric wire ;;
    engine) echo base count timeline task deque steal fabric wire exchange ;;
    protocol)
        echo base count timeline task deque steal fabric exchange engine
        ;;
    rebalance) echo base timeline task balance fabric exchange engine ;;
    printed) echo base balance fabric exchange engine rebalance ;;
    data | tiles) echo base steal fabric exchange engine ;;
    team) echo base count timeline task steal fabric wire engine ;;
    sim)
        echo base count timeline task deque steal balance fabric wire exchange \
            engine protocol rebalance tiles data
        ;;
    report) echo base count task steal fabric engine ;;
    record) echo base count task steal fabric engine data ;;
    save) echo base task engine ;;
    collection)
        echo base count timeline task steal balance fabric wire exchange engine \
            protocol rebalance printed tiles data team report record save
        ;;
    *) return 1 ;;
    esac
}

bad=$(mktemp)
code=$(mktemp)
trap 'rm -f "$bad" "$code"' EXIT
awk -v strings=1 -f tests/structure/code.awk src/*/*.[ch] |
    grep -E '# *include' >"$code"

for folder in src/*/; do
    module=$(basename "$folder")
    if ! allowed=$(may_include "$module"); then
        echo "$folder: say in tests/structure/layers.sh what it may include"
        continue
    fi
    grep "^$folder" "$code" |
        sed -n 's/ *# *include *["<]\([^">]*\)[">].*/ \1/p' |
        while read -r place header; do
            case $header in
            evenkeel.h | */*.h) lower=${header%%/*} ;;
            *) continue ;;
            esac
            # <sys/...> and the like are not modules.
            [ "$lower" = evenkeel.h ] || [ -d "src/$lower" ] || continue
            case " $module $allowed " in
            *" $lower "*) ;;
            *) echo "$place $module includes $header; allowed: $allowed" ;;
            esac
        done
done >"$bad"

# Within a module, too, the folder is named.
grep -E '# *include *"[^/"]*"|# *include *"\.\.?/' "$code" >>"$bad"

# deque is for a model checker, too: freestanding C11 and its atomics.
grep '^src/deque/[a-z_]*\.h:' "$code" |
    grep -vE '<(stdatomic|stdbool|stddef|stdint|string)\.h>' >>"$bad"

# Workloads are pure: no MPI, nothing of the library.
awk -v strings=1 -f tests/structure/code.awk workloads/*.[ch] |
    grep -E '# *include *[<"](mpi\.h|evenkeel|[a-z]+/)' |
    grep -vE '[<"](workloads|nettle)/' >>"$bad"

# Programs and tests of the interface see what is installed.
awk -v strings=1 -f tests/structure/code.awk cli/*.[ch] examples/*.c \
    examples/*.cc examples/*/*.c examples/*/*/*.c examples/*/*.cc \
    tests/mpi/*.c tests/mpi/*.cc |
    grep -E "# *include *[\"<]($(ls src | tr '\n' '|')\.\.)/" >>"$bad"

if [ -s "$bad" ]; then
    cat "$bad"
    exit 1
fi
echo "$(ls -d src/*/ | wc -l) modules include lower ones only"
