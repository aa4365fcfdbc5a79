#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# record.sh EK_RECORD DATA: the command line of ek-record; DATA has records.
set -u
mpirun='' tool=$1
data=$(cd "$2" && pwd)
. "$(dirname "$0")/common.sh"

# Text and back, for the records at hand.
for record in "$data"/*.ekr; do
    run 0 text "$record"
    mv out text
    run 0 binary text again.ekr
    cmp "$record" again.ekr || fail "$record: not the same from text"
    run 0 text again.ekr
    cmp text out || fail "$record: not the same text"
    "$tool" binary - piped.ekr <text && cmp again.ekr piped.ekr ||
        fail "$record: not the same through a pipe"
done

# A text with all there is.
cat >text <<'TEXT'
EKRECORD 1
name fock
rank 0 workers 1
rank 1 workers 2
function 0 a name, with spaces
function 1 back\x5cslash\x0aand line
iteration 0 wall_ns 1000 status 0 restore none steal counter order executed on_failure stop
worker 0 executed 0 nulls 0 failed 0 cancelled 0 work_ns 0 null_ns 0
worker 1 executed 12 nulls 7 failed 1 cancelled 3 work_ns 4000 null_ns 30
task 1099511627776 0 1 -
task 18446744073709551615 1 1000 dsc
task 5 0 - s
worker 2 executed 1 nulls 0 failed 0 cancelled 0 work_ns 18446744073709551615 null_ns 0
task 6 1 1028 c
iteration 7 wall_ns 18446744073709551615 status 6 restore retain steal 200 order longest on_failure continue
worker 0 executed 0 nulls 0 failed 0 cancelled 0 work_ns 0 null_ns 0
worker 1 executed 0 nulls 0 failed 0 cancelled 0 work_ns 0 null_ns 0
worker 2 executed 0 nulls 0 failed 0 cancelled 0 work_ns 0 null_ns 0
end 2
TEXT
run 0 binary text all.ekr
run 0 text all.ekr
sed 's/ 1000 dsc/ 1001 dsc/; s/ 1028 c/ 1030 c/' text >rounded
diff rounded out || diff text out || fail 'text is not the same again'
mv out first
run 0 binary first again.ekr
cmp all.ekr again.ekr || fail 'binary is not the same again'
run 0 summary all.ekr
grep -q 'function 1: back.x5cslash.x0aand line' out || fail "summary: $(cat out)"
run 0 csv all.ekr
[ "$(wc -l <out)" -eq 5 ] || fail "csv: $(cat out)"
grep -qx '0,1,1,16777215,1099511627775,18446744073709551615,back.slash and line,nan,1001,dsc,0,0,' out ||
    fail "csv: $(cat out)"
grep -qx '0,1,2,0,5,5,a name; with spaces,nan,nan,s,0,0,' out || fail "csv: $(cat out)"
cp first kept
run 2 binary first first
cmp first kept || fail 'the text was not left alone'
run 0 summary all.ekr
grep -q 'collection fock: 2 ranks, 3 workers, 2 iterations$' out ||
    fail "summary: $(cat out)"
awk '$1 == "0" { found = $2 == 13 && $4 == 2 } END { exit !found }' out ||
    fail "summary, row 0: $(cat out)"
grep -q '^ *7 .*failed$' out || fail "summary, row 7: $(cat out)"

# What the longest task allows: that of the median iteration, whatever one that
# was held up took in another.
{
    echo 'EKRECORD 1'
    echo 'name cut'
    echo 'rank 0 workers 2'
    echo 'function 0 one'
    for k in 0 1 2; do
        echo "iteration $k wall_ns 1000000 status 0 restore retain steal random order longest on_failure stop"
        echo 'worker 0 executed 20 nulls 0 failed 0 cancelled 0 work_ns 1280000 null_ns 0'
        for task in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
            echo "task $task 0 65536 -"
        done
        echo "task 20 0 $((k == 1 ? 33554432 : 262144)) -"
        echo 'worker 1 executed 0 nulls 0 failed 0 cancelled 0 work_ns 0 null_ns 0'
    done
    echo 'end 3'
} >cut
run 0 binary cut cut.ekr
run 0 summary cut.ekr
tail -n 2 out | tr '\n' ' ' | grep -qx 'On 50 workers the longest task is 8.7 x the ideal time, so no policy helps beyond 5 workers; cut the 20 tasks above 30.21 us ' ||
    fail "verdict: $(cat out)"

# Without its end it is a record that was not closed.
sed '$d' text >open
run 0 binary open open.ekr
run 0 summary open.ekr
says 'was the job killed?'
grep -q 'not complete' out || fail 'summary: not complete'
run 0 text open.ekr
tail -n 1 out | grep -q '^worker 2' || fail 'text of an open record'

# bad LINE TEXT SED: the text changed so is refused there, and leaves no file.
bad() {
    rm -f bad.ekr
    sed "$3" text >changed
    run 2 binary changed bad.ekr
    says "'changed', line $1: "
    says "$2"
    [ ! -e bad.ekr ] || fail "$3: left a file"
}
bad 1 "no line may begin with 'hello'" '1s/.*/hello/'
bad 1 'version 7; allowed: 1 ... 6' '1s/1/7/'
bad 6 'allowed from version 2 on' '5a data 0 bytes_max 10'
bad 10 'version 1 does not have all' '10s/-$/b 1 2/'
bad 2 'is not allowed as the name' '2s/fock/a b/; 2s/ b/\/b/'
bad 2 'may not come here' '2d'
bad 4 'rank 2, expected 1' '4s/rank 1/rank 2/'
bad 4 '0 workers' '4s/workers 2/workers 0/'
bad 5 'function 3, expected 0' '5s/0/3/'
bad 6 'the name of function 1 is not allowed' '6s/x5c/x5/'
bad 7 '16 words' '7s/$/ and more/'
bad 7 "steal 'best'" '7s/counter/best/'
bad 8 'is not the next' '8s/worker 0/worker 1/'
bad 9 'nulls' '9s/nulls 7/nulls 13/'
bad 10 'task' '10s/task 1/task x1/'
bad 10 "function '2' of 2" '10s/ 0 1 / 2 1 /'
bad 10 "duration '1.5'" '10s/ 1 -/ 1.5 -/'
bad 10 "flags 'x'" '10s/-/x/'
bad 13 'is not the next' '12a worker 1 executed 0 nulls 0 failed 0 cancelled 0 work_ns 0 null_ns 0'
bad 14 'more tasks' '13s/executed 1/executed 0/'
bad 15 'iteration 0 after 0' '15s/iteration 7/iteration 0/'
bad 18 'worker 2 of the iteration is missing' '18d'
bad 19 '3 iterations; there are 2' '19s/2/3/'
bad 20 'may not come here' '19a end 2'

# Data of tasks, from version 2 on.
sed '1s/1/2/; 6a data 1 bytes_max 123456
s/^task 6 .*/task 6 1 1028 cb 123456 0/; s/ 1000 dsc/ 1000 dscb 0 4294967295/' text >data
mv data text
run 0 binary text data.ekr
run 0 text data.ekr
mv out first
sed 's/ 1001 / 1000 /; s/ 1030 / 1028 /' first | diff - text ||
    fail 'text with data is not the same'
run 0 binary first again.ekr
cmp data.ekr again.ekr || fail 'binary with data is not the same again'
run 0 summary data.ekr
grep -qF ', with data of up to 123456 bytes' out &&
    awk '$1 == "0" && $NF == 4295.1 { found = 1 } END { exit !found }' out ||
    fail "summary with data: $(cat out)"
bad 7 'of function 0; allowed from version 2 on, once behind its function' '7s/1/0/'
bad 7 'data of 0 bytes' '7s/123456/0/'
bad 8 'data of 1 bytes' '7a data 1 bytes_max 1'
bad 8 'may not come here' '7d; 8a data 1 bytes_max 1'
bad 12 "bytes '0' and '-1'" '12s/4294967295/-1/'
bad 12 '5 words, expected 7' '12s/ 0 4294967295//'
bad 11 '7 words, expected 5' '11s/$/ 1 2/'
bad 12 '6 words, expected 7' '12s/ 4294967295//'

# When tasks began, from version 5 on.
sed '1s/2/5/
s/^task 1099511627776 .*/task 1099511627776 0 1 - 100/
s/^task 18446744073709551615 .*/task 18446744073709551615 1 1001 dscb 100 0 4294967295/
s/^task 5 .*/task 5 0 - s 5000000/; s/^task 6 .*/task 6 1 1030 cb 0 123456 0/' text >starts
mv starts text
run 0 binary text starts.ekr
run 0 text starts.ekr
# The first takes a nanosecond; a gap of 5 ms is as precise as a duration.
sed 's/dscb 100 /dscb 101 /; s/- s 5000000$/- s 5005413/' text >expected
diff out expected || fail 'text with starts is not the same'
mv out first
run 0 binary first again.ekr
cmp starts.ekr again.ekr || fail 'binary with starts is not the same again'
run 0 csv starts.ekr
grep -qx '0,1,0,1,0,1099511627776,a name; with spaces,0.000000100,1,-,0,0,' out ||
    fail "csv with starts: $(cat out)"
bad 11 'expected 6' '11s/ 100$//'
bad 11 "start 'soon'" '11s/100$/soon/'

# Words about the job, and payloads.
sed '4a about Evenkeel: 2 ranks\nabout restore=retain (default)
s/^task 5 0 - s 5000000$/task 5 0 - sy 5005413 00ff10/' text >told
mv told text
run 0 binary text told.ekr
run 0 text told.ekr
sed 's/dscb 100 /dscb 101 /' text | diff - out || fail 'told text is not the same'
run 0 csv told.ekr
grep -q ',nan,sy,0,0,00ff10$' out || fail "csv with a payload: $(cat out)"
bad 5 'allowed from version 5 on' '1s/5/4/'
bad 15 "payload '00ff1'; allowed: 1 ... 64 bytes" '15s/00ff10/00ff1/'
bad 15 "payload '00fF10'" '15s/00ff10/00fF10/'
bad 15 '6 words, expected 7' '15s/ 00ff10//'

# How an iteration was stopped, and where null indices ran, from version 6 on.
sed '1s/5/6/; s/^iteration .*/& stopped 11/
/^worker 2/i range 1000 count 7 place 0 function 1' text >spans
mv spans text
run 0 binary text spans.ekr
run 0 text spans.ekr
sed 's/dscb 100 /dscb 101 /' text | diff - out || fail 'text with spans is not the same'
line=$(grep -n '^range' text | head -n 1 | cut -d: -f1)
bad "$line" 'a line of a range; allowed from version 6 on' '1s/6/5/; s/ stopped 11//'
bad "$line" 'behind 9 tasks, of function 1' "${line}s/place 0/place 9/"
bad 10 'stopped and 0 ... 15' 's/stopped 11/stopped 16/'

# Ids of tasks that an earlier job had: one is the home worker 5 of that.
sed '6a earlier workers 8
s/^task 5 /task 996432412679 /' text >earlier
mv earlier text
run 0 binary text earlier.ekr
run 0 text earlier.ekr
sed 's/dscb 100 /dscb 101 /' text | diff - out || fail 'text of a later job is not the same'
run 0 csv earlier.ekr
grep -q '^0,1,2,0,7,5497558138887,a name' out || fail "csv of a later job: $(cat out)"
bad 7 'earlier workers; allowed from version 6 on' '1s/6/5/; s/ stopped 11//; /^range/d'

# Damaged, truncated and foreign files.
record=$data/be032_half.ekr
head -c 50 "$record" >short.ekr
run 2 summary short.ekr
says "'short.ekr', byte 50: the file ends within its header"
head -c 1000 "$record" >short.ekr
run 0 text short.ekr
says "'short.ekr': the record is not complete: it ends at byte 1000"
{ head -c 5000 "$record"; printf X; tail -c +5002 "$record"; } >damaged.ekr
run 2 summary damaged.ekr
says "'damaged.ekr', byte 200: the block of "
run 2 summary "$tool"
says 'byte 0: this is no record'
run 2 text nowhere.ekr
says "cannot read 'nowhere.ekr': No such file"
run 2 binary nowhere.txt x.ekr
says "cannot read 'nowhere.txt'"
run 1 binary text nowhere/x.ekr
says "cannot write 'nowhere/x.ekr': No such file"
run 1 binary text /dev/full
says 'No space left'
full text all.ekr
full summary all.ekr

# Raw arrays: 1, 2, 3 microseconds, ids 5, 7, 12.
printf '\000\000\200\077\000\000\000\100\000\000\100\100' >raw.us.f32
printf '\005\000\000\000\007\000\000\000\014\000\000\000' >ids.u32
printf '\005\000\000\000\002\000\000\000\005\000\000\000' >gaps.u32
run 0 import --function fock --ids ids.u32 --nulls 9 raw.us.f32 a.ekr
run 0 text a.ekr
grep -qx 'function 0 fock' out || fail 'import: function'
grep -q '^worker 0 executed 12 nulls 9 .* work_ns 6000 ' out ||
    fail "import: $(cat out)"
[ "$(sed -n 's/^task \([0-9]*\) .*/\1/p' out | tr '\n' ' ')" = '5 7 12 ' ] ||
    fail "import: ids: $(cat out)"
mv out first
run 0 import --function fock --ids gaps.u32 --gaps --nulls 9 raw.us.f32 b.ekr
cmp a.ekr b.ekr || fail 'import: ids by gaps'
"$tool" import --function fock --ids ids.u32 --nulls 9 - c.ekr <raw.us.f32 &&
    cmp a.ekr c.ekr || fail 'import through a pipe'
run 0 import --type u32 --scale 1000 --every 2 ids.u32 d.ekr
run 0 text d.ekr
[ "$(grep -c '^task' out)" -eq 2 ] || fail "import: every: $(cat out)"
grep -q '^task 2 0 12[0-9]* -$' out || fail "import: u32: $(cat out)"
run 2 import --ids nowhere raw.us.f32 e.ekr
head -c 10 raw.us.f32 >part
run 2 import part e.ekr
says "'part', byte 8: the file ends within a number"
run 2 import --ids part raw.us.f32 e.ekr
head -c 8 raw.us.f32 >part
run 2 import --ids ids.u32 part e.ekr
says 'more ids than durations'
printf '\037\213\010\000' >part
run 2 import part e.ekr
says 'gunzip it first'
printf '\000\000\200\277' >part
run 2 import part e.ekr
says 'no duration'
[ ! -e e.ekr ] || fail 'a failed import left a file'

# Wrong use.
run 0 --help
grep -q '^usage: ek-record' out || fail 'no help'
run 0 -h
grep -q '^usage: ek-record' out || fail 'no help with -h'
run 0 import --help
grep -q '^  --gaps ' out || fail 'no help of import'
run 0 import --function=fock --ids=ids.u32 --nulls=9 raw.us.f32 f.ekr
cmp a.ekr f.ekr || fail 'values behind ='
answers

# wrong TEXT ARGUMENT...: refused, with this on stderr.
wrong() {
    text=$1
    shift
    run 2 "$@"
    says "$text"
}
wrong 'a command is missing; allowed: summary FILE, text FILE, csv FILE, binary TEXT FILE, '
wrong "'best' is no command; allowed: summary" best a
wrong 'summary: a file is missing; allowed: summary FILE' summary
wrong 'summary: 2 files; allowed: summary FILE' summary a b
wrong 'text: a file is missing; allowed: text FILE' text
wrong 'binary: a file is missing; allowed: binary TEXT FILE' binary a
wrong 'import: a file is missing; allowed: import [options] RAW FILE' import
wrong 'import: a file is missing; allowed: import' import a
wrong 'import: 3 files; allowed: import' import a b c
wrong "--type is 'f64'; allowed: f32, u32" import --type f64 a b
wrong "--scale is '0'; allowed: a number from" import --scale 0 a b
wrong "--scale is 'x'; allowed: a number from" import --scale x a b
wrong "--every is '0'; allowed: an integer from 1 to 4294967295" \
    import --every 0 a b
wrong "--nulls is '-1'; allowed: an integer from 0 to" import --nulls -1 a b
wrong "--nulls is '9223372036854775808'; allowed: an integer from 0 to" \
    import --nulls 9223372036854775808 a b
wrong "--function is ''; allowed: 1 to 63 characters" import --function '' a b
wrong "unknown option '--fast'" import --fast 1 a b
wrong "unknown option '--gaps'" summary --gaps a
wrong '--gaps takes no value' import --gaps=1 a b
wrong "--scale is ''; allowed: a number from" import --scale= a b
wrong '--ids needs a value' import --ids
exit $status
