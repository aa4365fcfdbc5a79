#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each kind of bad input ends both ranks with status 2 and one message that
# names what is wrong and what is allowed.
set -u
. "$(dirname "$0")/common.sh"
export MPIEXEC_TIMEOUT=30
xyz=$HF_DATA/h2o.xyz
basis=$HF_DATA/sto-3g.g94

# text CONTENT: a file with it.
text() {
    printf "$1" >"$folder/text"
    echo "$folder/text"
}

expect 'missing.xyz: cannot be opened' --xyz missing.xyz --basis "$basis"
expect 'missing.g94: cannot be opened' --xyz "$xyz" --basis missing.g94
expect "unknown element 'Xx'; allowed: the symbols" --basis "$basis" \
    --xyz "$(text '1\nx\nXx 0 0 0\n')"
expect 'the file is empty' --basis "$basis" --xyz "$(text '')"
expect 'line 1 is .*number of atoms' --basis "$basis" --xyz "$(text 'O\n\n')"
expect 'line 1 says 3 atoms, but 2 ' --basis "$basis" \
    --xyz "$(text '3\nx\nO 0 0 0\nH 1 0 0\n')"
expect 'line 1 says 1 atoms, but 2 ' --basis "$basis" \
    --xyz "$(text '1\nx\nHe 0 0 0\nHe 1 0 0\n')"
expect 'line 3 is .*three coordinates' --basis "$basis" \
    --xyz "$(text '1\nx\nHe 0 zero 0\n')"
expect 'a coordinate is nan; allowed:' --basis "$basis" \
    --xyz "$(text '1\nx\nHe 0 nan 0\n')"
expect 'a coordinate is 1e+300; allowed:' --basis "$basis" \
    --xyz "$(text '2\nx\nHe 0 0 0\nHe 0 0 1e300\n')"
expect 'atoms 1 and 2 are 0.000 bohr apart' --basis "$basis" \
    --xyz "$(text '2\nx\nHe 1 0 0\nHe 1 0 0\n')"
expect 'no basis functions for element O' --xyz "$xyz" \
    --basis "$(text '****\nH 0\nS 1 1.0\n 1.0 1.0\n****\n')"
expect 'line 3 is .*a shell' --xyz "$xyz" \
    --basis "$(text '****\nH 0\nQ 1 1.0\n 1.0 1.0\n****\n')"
expect 'line 4 is .*positive exponent' --xyz "$xyz" \
    --basis "$(text '****\nH 0\nS 1 1.0\n -1.0 1.0\n****\n')"
expect 'line 4 is .*a smaller exponent' --xyz "$xyz" \
    --basis "$(text '****\nH 0\nS 1 1e200\n 1.0 1.0\n****\n')"
expect 'no basis functions for element' --xyz "$xyz" \
    --basis "$(text '****\nH 0\n\v\n****\n')"
expect 'the file ends inside a shell' --xyz "$xyz" \
    --basis "$(text '****\nH 0\nS 3 1.0\n 1.0 1.0\n')"
expect '9 electrons; a closed shell needs an even number' \
    --xyz "$xyz" --basis "$basis" --charge 1
expect '0 electrons; a closed shell' --xyz "$xyz" --basis "$basis" --charge 10
expect '1 independent functions for 2 electron pairs' \
    --xyz "$(text '1\nx\nBe 0 0 0\n')" --basis "$(
        printf 'Be 0\nS 1 1.0\n 1.0 1.0\n****\n' >"$folder/small"
        echo "$folder/small"
    )"
expect "unknown option '--titel'" --xyz "$xyz" --basis "$basis" --titel 5
expect '--xyz FILE is missing' --basis "$basis"
expect '--basis FILE is missing' --xyz "$xyz"
expect '--tile needs a value' --xyz "$xyz" --basis "$basis" --tile
expect "--tile is '0'; allowed: an integer from 1 to" \
    --xyz "$xyz" --basis "$basis" --tile 0
expect "--schwarz is '-1'; allowed: a number from" \
    --xyz "$xyz" --basis "$basis" --schwarz -1
expect "restore: 'best' is not allowed; allowed: original" \
    --xyz "$xyz" --basis "$basis" --policy best
expect "steal: 'best' is not allowed; allowed: random" \
    --xyz "$xyz" --basis "$basis" --steal best
expect '--compare needs at least 2' \
    --xyz "$xyz" --basis "$basis" --compare --iterations 1

export EVENKEEL_STEAL=everything
expect 'EVENKEEL_STEAL.*everything' --xyz "$xyz" --basis "$basis"
