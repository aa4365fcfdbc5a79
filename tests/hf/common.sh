# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the checks in this folder and in hf_be.  They are given, in the
# environment: HF_PROGRAM, MPIRUN and, in this folder, HF_DATA (molecules and
# basis sets) and HF_ENERGIES (the reference).

# Root, a container, more ranks than cores, and threads beside ranks: all must
# work.  A run that hangs is ended before the test's own limit.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none
# A run that fails on purpose is not worth a second of waiting for its ranks.
export OMPI_MCA_odls_base_sigkill_timeout=0
export MPIEXEC_TIMEOUT="${MPIEXEC_TIMEOUT:-100}"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

# run RANKS WORKERS OPTION...: run the program with that many workers per rank,
# even where cores are fewer; keep its output in $folder/out and what it
# complains about in $folder/err.
run() {
    ranks=$1
    export OMP_NUM_THREADS="$2" EVENKEEL_WORKERS="$2"
    shift 2
    "$MPIRUN" -n "$ranks" "$HF_PROGRAM" "$@" \
        >"$folder/out" 2>"$folder/err" </dev/null
}

# molecule SYSTEM BASIS: the options that choose them.
molecule() {
    echo "--xyz $HF_DATA/$1.xyz --basis $HF_DATA/$(echo "$2" | tr '*' 's').g94"
}

# The energy that the last run printed.
energy() {
    awk '$1 == "energy" && $3 == "hartree" && NF == 3 { print $2 }' \
        "$folder/out"
}

# The bytes of matrices per rank that the last run printed, in MB.
memory() {
    sed -n 's/^matrices of tasks: \([0-9.]*\) MB per rank .*/\1/p' \
        "$folder/out"
}

# is_near A B LIMIT: true when both are numbers and differ by at most LIMIT.
is_near() {
    awk -v a="$1" -v b="$2" -v limit="$3" 'BEGIN {
        if (a !~ /^-?[0-9]+\.[0-9]+$/ || b !~ /^-?[0-9]+\.[0-9]+$/) exit 1
        d = a - b
        exit (d < 0 ? -d : d) > limit
    }'
}

# check_help ITERATIONS: --help says how many they are where nobody does.
check_help() {
    run 1 1 --help || fail "--help: exit status $?"
    grep -q -- "^  --iterations N  .* ($1)\$" "$folder/out" ||
        fail "not $1 iterations: $(grep iterations "$folder/out")"
}

# has_modes: each mode has one row of the table that the last run printed.
has_modes() {
    for mode in static counter StealAll Steal StealRet centralized \
        hierarchical central.-12 hierarch.-12 auto; do
        [ "$(grep -c "^$mode " "$folder/out")" -eq 1 ] ||
            fail "not one row for $mode"
    done
}

# messages: what the program or the library said on rank 0.
messages() {
    sed -n -e "s/^$program: //p" -e 's/^evenkeel 0\/[0-9]* error: //p' \
        "$folder/err"
}

# expect PATTERN OPTION...: the run fails on both ranks, with one message that
# matches.
expect() {
    pattern=$1
    program=$(basename "$HF_PROGRAM")
    shift
    run 2 1 "$@"
    status=$?
    [ $status -eq 2 ] || fail "'$*': status $status instead of 2"
    [ "$(messages | wc -l)" -eq 1 ] ||
        fail "'$*': not one message: $(cat "$folder/err")"
    messages | grep -q -- "$pattern" ||
        fail "'$*': no message like '$pattern'"
}

fail() {
    echo "FAIL: $*"
    echo "--- standard output"
    cat "$folder/out"
    echo "--- standard error"
    cat "$folder/err"
    exit 1
}
