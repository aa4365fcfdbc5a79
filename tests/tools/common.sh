# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of this folder, which say first what they run:
#
#     tool      the program
#     mpirun    what starts it; empty: nothing
#
# They go on in an empty folder, and end with `exit $status`.
docs=$(cd "$(dirname "$0")/../../docs" && pwd)
tool=$(cd "$(dirname "$tool")" && pwd)/$(basename "$tool")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
# Of programs without mpirun, too: see tools/mpirun.
export OMPI_MCA_orte_tmpdir_base="$folder"
status=0

fail() {
    echo "FAIL: $*"
    status=1
}

# run EXPECTED [RANKS] ARGUMENT...: exit status; output goes to out and err.
# RANKS where there is an mpirun.
run() {
    expected=$1
    shift
    if [ -n "$mpirun" ]; then
        ranks=$1
        shift
        set -- "$mpirun" --timeout 100 -n "$ranks" "$tool" "$@"
    else
        set -- "$tool" "$@"
    fi
    "$@" >out 2>err </dev/null
    code=$?
    [ $code -eq "$expected" ] || fail "$*: exit status $code: $(cat err)"
}

# says TEXT: on stderr, once, whatever the number of ranks.
says() {
    [ "$(grep -cF -- "$1" err)" -eq 1 ] || fail "not once '$1' in: $(cat err)"
}

# says_of TEXT ARGUMENT...: that use is wrong, and TEXT says so.
says_of() {
    text=$1
    shift
    run 2 "$@"
    says "$text"
}

# value TABLE ROW COLUMN: of the CSV of ek-report in out.
value() {
    awk -F, -v table="$1" -v row="$2" -v column="$3" \
        '$2 == table && $3 == row && $4 == column { print $5 }' out
}

# is TABLE ROW COLUMN VALUE: that is so.
is() {
    found=$(value "$1" "$2" "$3")
    [ "$found" = "$4" ] || fail "$1, row $2, $3 is '$found', not '$4'"
}

# column NAME: of the rows of a CSV in out, one per line.
column() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++)
                                        if ($i == name) at = i }
                          NR > 1 { print $at }' out
}

# full ARGUMENT...: the disk is full to which its output goes.
full() {
    [ -w /dev/full ] || return
    "$tool" "$@" >/dev/full 2>err </dev/null
    code=$?
    [ $code -eq 1 ] || fail "$* >/dev/full: exit status $code"
    says 'could not write everything to standard output'
}

# answers: --help and --version, as every tool does, before and behind options.
answers() {
    name=$(basename "$tool")
    set --
    [ -z "$mpirun" ] || set -- 2
    for asked in -h --help; do
        run 0 "$@" $asked
        [ "$(grep -c '^  --version ' out)" -eq 1 ] || fail "$asked: $(cat out)"
        document=$(sed -n 's,^/.*/docs/\([a-z/-]*\.md\)$,\1,p' out)
        [ -f "$docs/$document" ] || fail "$asked sends to '$document'"
    done
    full --help
    run 0 "$@" --version
    grep -qxE "$name [0-9]+\.[0-9]+\.[0-9]+" out || fail "version: $(cat out)"
    [ "$(wc -l <out)" -eq 1 ] || fail "version: $(cat out)"
}
