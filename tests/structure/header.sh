#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each C header compiles alone as C11 and C++17, every INIT macro initializes all
# fields, and every public name has a docstring.  CC and CXX may be given; a C++
# compiler that is missing is no failure.
set -u
cd "$(dirname "$0")/../.." || exit 1
headers=$(echo include/*.h)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0

# MPI's own headers do not have to be clean.
mpi=$(echo "${MPI_CFLAGS-$(pkg-config --cflags ompi-c)}" |
    sed 's/-I/-isystem /g')

# ek_options options = EK_OPTIONS_INIT; and so on.
{
    # shellcheck disable=SC2086
    printf '#include <%s>\n' $(basename -a $headers)
    echo 'int main(void);'
    echo 'int main(void)'
    echo '{'
    # shellcheck disable=SC2086
    sed -n 's/^#define \(EK_\([A-Z_]*\)_INIT\).*/\1 \2/p' $headers |
        while read -r macro name; do
            name=$(echo "$name" | tr '[:upper:]' '[:lower:]')
            echo "    ek_$name $name = $macro;"
            echo "    if ($name.struct_bytes != sizeof $name)"
            echo '        return 1;'
        done
    echo '    return 0;'
    echo '}'
} >"$folder/alone.c"
cp "$folder/alone.c" "$folder/alone.cc"
grep -q _INIT "$folder/alone.c" || { echo "no INIT macro found"; status=1; }

# compile COMPILER STANDARD FILE
compile() {
    # shellcheck disable=SC2086
    $1 "-std=$2" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I include \
        $mpi "$folder/$3" || { echo "$headers: not clean as $2"; status=1; }
}
compile "${CC:-cc}" c11 alone.c
cxx=${CXX:-c++}
if command -v "${cxx%% *}" >/dev/null; then
    compile "$cxx" c++17 alone.cc
    echo '#include <evenkeel.hpp>' >"$folder/alone.cc"
    compile "$cxx" c++17 alone.cc
else
    echo "no C++ compiler: not tried as C++17"
fi

# No call has more than six parameters.
# shellcheck disable=SC2086
awk '
    /^EK_API / { call = "" }
    { call = call $0 }
    /^EK_API /, /;/ {
        if (/;/ && gsub(/,/, ",", call) > 5) {
            print FILENAME ":" FNR ": more than six parameters: " call
            failed = 1
        }
    }
    END { exit failed }' $headers || status=1

# A declaration at the left edge follows the end of a /** comment; a #define may
# follow another one.  EK_API is not for users.
# shellcheck disable=SC2086
awk '
    /^(EK_API|typedef|struct|enum|#define EK_)/ && !/^#define EK_(API|NODISCARD|INIT)/ {
        names++
        if (!was_documented && !(/^#define/ && last ~ /^#define EK_/)) {
            print FILENAME ":" FNR ": no docstring: " $0
            failed = 1
        }
    }
    /^\/\*\*/ { in_doc = 1 }
    { was_documented = in_doc && /\*\// }
    /\*\// { in_doc = 0 }
    { last = $0 }
    END {
        print names " public names"
        exit failed || names < 40
    }' $headers || status=1
exit $status
