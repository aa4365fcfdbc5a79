# SPDX-License-Identifier: BSD-3-Clause
# Completion of the command lines of ek-bench, ek-emulate, ek-record, ek-report and ek-sim:
# the words that begin a line of their --help, and files.
_evenkeel() {
    local words
    words=$("$1" --help 2>/dev/null |
        sed -n 's/^  \(-h, \)\{0,1\}\(-\{0,2\}[a-z][a-z-]*\)\( .*\)\{0,1\}$/\2/p')
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2")
}
complete -o default -F _evenkeel ek-bench ek-emulate ek-record ek-report ek-sim
