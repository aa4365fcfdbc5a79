#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# compare_uts.sh COMPARE_UTS BUILD: peers that are here count right, others are
# left out, and a wrong count ends all.  Nothing here is a time.
set -u
tool=$1 build=$2
. "$(dirname "$0")/common.sh"

# Of oneTBB because C++ takes seconds to build.
export LACE=nowhere UTS_REFERENCE= CXX=nowhere
"$tool" "$build" --problems queens:10 \
    --rounds 1 --tsv runs >out 2>err || fail "compare-uts: $(cat out err)"
says 'left out: Lace: '
says "left out: oneTBB: no compiler 'nowhere'"
says 'left out: the reference: UTS_REFERENCE names no folder'
grep -qx 'queens:10: 724, exact in every run' out || fail "$(cat out)"
for row in 'sequential | 1' 'two sequential at once: ceiling | 2'; do
    grep -qE "^[|] $(echo "$row" | sed 's/|/[|]/') [|] 1 [|] [0-9.]+ [|]" out ||
        fail "no row '$row': $(cat out)"
done
[ "$(wc -l <runs)" -eq "$(grep -c '^| .* | [12] | 1 | ' out)" ] ||
    fail "runs: $(cat runs out)"

# A compiler whose programs cannot count.
cat >liar <<'END'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\necho count 725 seconds 0.001\n' >"$2"
chmod +x "$2"
END
chmod +x liar
CLANG=./liar "$tool" "$build" --problems queens:10 --rounds 1 >out 2>err &&
    fail 'a wrong count passes'
says "queens:10 by 'OpenMP tasks, ./liar', 1 workers: 725, not 724"

"$tool" "$build" --problems T1,T9 >out 2>err && fail 'not refused'
says "--problems has 'T9'; allowed: T1 "
"$tool" "$build" --rounds 0 >out 2>err && fail 'not refused'
says '--rounds is 0; allowed: 1 and more'
exit $status
