#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# binding.sh MPIRUN TEST_AFFINITY: the program where OpenMP binds its threads, in
# each of the ways that job scripts do it; with the OpenMP it was built with, and
# with LLVM's in its place where that is.  One job: a rank per setting.
set -u
mpirun=$1 program=$2
settings='OMP_PROC_BIND=true
OMP_PROC_BIND=close
OMP_PROC_BIND=spread
OMP_PROC_BIND=close OMP_PLACES=cores
OMP_PROC_BIND=spread OMP_PLACES=threads
GOMP_CPU_AFFINITY=0-'$(($(nproc --all) - 1))
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Under the name of GCC's, whose entry points it has, too.
libomp=$(clang -print-file-name=libomp.so.5 2>/dev/null)
ranks=6 places=/nowhere
if [ -e "$libomp" ] && ldd "$program" | grep -q libgomp; then
    ln -s "$libomp" "$folder/libgomp.so.1"
    ranks=12 places="/nowhere $folder"
fi
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive OMPI_MCA_mpi_yield_when_idle=1

set --
while read -r setting; do
    for place in $places; do
        # A setting is one or two variables.
        # shellcheck disable=SC2086
        set -- "$@" : -n 1 env $setting \
            "LD_LIBRARY_PATH=$place:${LD_LIBRARY_PATH:-}" \
            "$program" $ranks 2 bound
    done
done <<EOF
$settings
EOF
shift
"$mpirun" --timeout 50 "$@"
