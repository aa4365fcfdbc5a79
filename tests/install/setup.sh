#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# setup.sh: what tools/setup says where it may not install, on a system that is
# made of a few names.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "FAIL: $*: $(cat "$folder/out")"
    exit 1
}

# program NAME TEXT: one of that name.
program() {
    printf '#!/bin/sh\n%s\n' "$2" >"$folder/bin/$1"
    chmod +x "$folder/bin/$1"
}

# setup STATUS ARGUMENT...: exit status; both outputs go to out.
setup() {
    expected=$1
    shift
    PATH=$folder/bin /bin/sh "$root/tools/setup" "$@" >"$folder/out" 2>&1
    status=$?
    [ $status -eq "$expected" ] || fail "$*: exit status $status"
}

mkdir "$folder/bin"
ln -s "$(command -v grep)" "$folder/bin/grep"
setup 3
grep -q 'no apt-get; it needs the equivalents of: .*meson' "$folder/out" ||
    fail 'without apt-get'

program apt-get 'exit 1'
program id 'echo 1000'
program dpkg-query 'case $* in *spin) ;; *) echo installed ;; esac'
setup 1
grep -qx ' *apt-get update' "$folder/out" || fail 'no apt-get update'
grep -qx ' *apt-get install --no-install-recommends spin' "$folder/out" ||
    fail 'not what is missing'
# Whoever does not test does not need it.
setup 0 library examples
setup 2 everything
grep -q 'allowed: library, examples, tests, fortran, python, mpich' "$folder/out" ||
    fail 'everything'

program id 'echo 0'
setup 1
grep -q 'apt-get update failed' "$folder/out" || fail 'no network'
