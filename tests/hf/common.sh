# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the checks in this folder.  They are given, in the environment:
# HF_PROGRAM, HF_DATA (molecules and basis sets), HF_ENERGIES (the reference)
# and MPIRUN.

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

# hartree_fock RANKS WORKERS OPTION...: run it with that many workers per rank,
# even where cores are fewer; keep its output in $folder/out and what it
# complains about in $folder/err.
hartree_fock() {
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

# is_near A B LIMIT: true when both are numbers and differ by at most LIMIT.
is_near() {
    awk -v a="$1" -v b="$2" -v limit="$3" 'BEGIN {
        if (a !~ /^-?[0-9]+\.[0-9]+$/ || b !~ /^-?[0-9]+\.[0-9]+$/) exit 1
        d = a - b
        exit (d < 0 ? -d : d) > limit
    }'
}

fail() {
    echo "FAIL: $*"
    echo "--- standard output"
    cat "$folder/out"
    echo "--- standard error"
    cat "$folder/err"
    exit 1
}
