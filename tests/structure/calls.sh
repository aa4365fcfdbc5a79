#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI is called in src/fabric, OpenMP in src/team, atomics name their order, and
# no libm decides what is simulated.
set -u
cd "$(dirname "$0")/../.." || exit 1

bad=$(mktemp)
code=$(mktemp)
trap 'rm -f "$bad" "$code"' EXIT
awk -f tests/structure/code.awk src/*/*.[ch] include/*.h >"$code"

# nowhere WHAT PATTERN [EXCEPT]: no code matches, but for places that match
# EXCEPT (of FILE:LINE: CODE).
nowhere() {
    grep -E "$2" "$code" | grep -vE "${3:-^$}" | sed "s|\$|   <- $1|" >>"$bad"
}

# Names of MPI that are left when the types of what the user passes are taken
# away where they may be: in the header and in collection, which pass it on.
sed -E '\#^(include|src/collection)/#s/\bMPI_(Comm|Fint|Datatype|Op)\b//g' "$code" |
    grep -vE '^src/fabric/' | grep -E '\bP?MPI_[A-Za-z_]+|<mpi\.h>' |
    grep -vE '^include/evenkeel_compiler\.h:[0-9]+: #include <mpi\.h>' |
    sed 's/$/   <- MPI outside of src\/fabric/' >>"$bad"
nowhere "the caller's communicator is used" '\bMPI_COMM_(WORLD|SELF)\b' \
    '\bMPI_(Abort|Comm_set_attr)\(|== MPI_COMM_'

nowhere 'OpenMP outside of src/team' \
    '# *pragma +omp|_Pragma|\bomp_[a-z]|<omp\.h>' '^src/team/'
awk '/\\$/ { sub(/\\$/, ""); line = line $0; next } { print line $0; line = "" }' \
    "$code" | grep -E '# *pragma +omp +parallel' | grep -v 'default(none)' |
    sed 's/$/   <- default(none) is missing/' >>"$bad"

# deque, too, must not give an order away.
nowhere 'an atomic without _explicit' \
    '\batomic_(load|store|exchange|compare_exchange_(weak|strong)|fetch_[a-z]+|flag_(test_and_set|clear)) *\('
# By name, those that are easily read as other fields are.
nowhere 'an atomic without a call' \
    '\b(batch(\.|->)current|piece(\.|->)index|words->(phase|idle|created|executed)|(worker|absent)->(inbox|answers|presence))\b' \
    '&[a-z_]*((->|\.)[a-z_]+)*(->|\.)(current|index|phase|idle|created|executed|inbox|answers|presence)\b'
# evenkeel_inline.h, which C++ reads, too, orders nothing.
nowhere 'an atomic of the compiler' '\b__(atomic|sync)_[a-z]' \
    '^include/evenkeel_inline\.h:[0-9]+: .*__atomic_store_n\('
nowhere 'volatile or assembly' '\bvolatile\b|\b(__)?asm(__)?\b'
nowhere 'random numbers come from the seed' '\b(s?rand|random|drand48) *\('

# Simulated runs and counted durations are the same on every machine.
hf_be=examples/hf_be
tensor=examples/tensor_contraction
awk -f tests/structure/code.awk src/*/*.[ch] tools/common/*.[ch] \
    tools/ek-sim/*.[ch] $hf_be/chain.c $hf_be/count.c $hf_be/integrals.c \
    $hf_be/tally.c $hf_be/tiles.c examples/common/count.c $tensor/contraction.c \
    $tensor/count.c $tensor/space.c $tensor/tensor.c |
    grep -E '\b(a?(sin|cos|tan)h?|atan2|exp(2|m1)?|log(2|10|1p|b)?|pow|cbrt|hypot|erfc?|[tl]gamma|fma)[fl]?\(|\blong double\b' |
    sed 's/$/   <- not the same in every libm: base\/exact.h/' >>"$bad"

# The engine is stepped: whoever steps it has the clock and the threads.
grep -E '^src/(count|task|deque|steal|engine)/' "$code" |
    grep -E '\bpthread_|\beki_clock_(ns|system_ns|start)\b|\bclock_gettime\b|\beki_fabric_mpi_' |
    sed 's/$/   <- a thread, a clock or MPI where all is stepped/' >>"$bad"

if [ -s "$bad" ]; then
    cat "$bad"
    exit 1
fi
echo "$(wc -l <"$code") lines of code call MPI, OpenMP and atomics as they should"
