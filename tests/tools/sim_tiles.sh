#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sim_tiles.sh EK_SIM: tasks that get tiles, and add to some, in virtual time.
set -u
mpirun='' tool=$1
. "$(dirname "$0")/common.sh"

job='--synthetic constant:n=2000,mean=0.01 --machine ib-ndr --node-cores 8
    --ranks-per-node 2 --cores 64 --start dealt --iterations 2 --csv'

# figure NAME: of the last iteration.
figure() {
    column "$1" | tail -1
}

# above A B: A > B.
above() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }' ||
        fail "$3: $1 is not above $2"
}

run 0 $job --steal none
[ "$(figure tile_bytes) $(figure cached) $(figure tile_wait_s)" = '0 nan 0' ] ||
    fail "tiles that nobody uses: $(cat out)"
idle=$(figure makespan_s)
server=$(figure server)

# Three tiles of 12.8 kB for each task, one of eight on its own node; they keep
# servers busy, and tasks waiting.
run 0 $job --tiles gets=2,accumulates=1,bytes=12800
figure tile_bytes | awk '{ exit !($1 > 64e6 && $1 < 70e6) }' || fail "tile_bytes: $(figure tile_bytes)"
above "$(figure tile_wait_s)" 0 'no task waits'
above "$(figure server)" "$server" 'servers are idle'
above "$(figure makespan_s)" "$idle" 'tiles take no time'
waited=$(figure tile_wait_s)
grep -v decision out | cut -d, -f1-20,24-26 >first
run 0 $job --tiles gets=2,accumulates=1,bytes=12800
grep -v decision out | cut -d, -f1-20,24-26 | cmp -s - first ||
    fail 'a run differs from itself'
run 0 $job --tiles gets=4,accumulates=0
above "$(figure tile_bytes)" 85e6 'four tiles a task'

# Larger tiles take longer, in several messages; the next one can be on its way
# meanwhile; and what a cache has is not fetched.
run 0 $job --tiles bytes=1280000
above "$(figure tile_wait_s)" "$(awk "BEGIN { print 10 * $waited }")" 'large tiles'
run 0 $job --tiles gets=8,bytes=128000,accumulates=0
waited=$(figure tile_wait_s)
run 0 $job --tiles gets=8,bytes=128000,accumulates=0,overlap=yes
above "$(awk "BEGIN { print 0.5 * $waited }")" "$(figure tile_wait_s)" 'overlap=yes'
run 0 $job --tiles accumulates=0,tiles=20,cache=100
figure cached | awk '{ exit !($1 > 0.4 && $1 < 1) }' || fail "cache: $(figure cached)"
above 30e6 "$(figure tile_bytes)" 'cached tiles travel'

for tiles in 1000 1000000; do
    run 0 $job --tiles gets=4,tiles=$tiles,cache=100
    figure cached >"$tiles"
done
above "$(cat 1000)" 0.03 'gets are not drawn from all tiles'
above 0.01 "$(cat 1000000)" 'tasks get the same tiles'

# Tasks of a product that begin at a row of the result share a row of one factor.
for start in block dealt; do
    run 0 $job --start $start --tiles pattern=product,cache=100
    figure cached >"$start"
done
above "$(cat block)" 0.25 'a row is not shared'
above "$(cat block)" "$(cat dealt)" 'rows are shared anyway'

# On one node nothing travels, and where tasks begin at what they add to a third
# less.
run 0 $job --cores 8 --tiles gets=2
[ "$(figure tile_bytes) $(figure cached) $(figure tile_wait_s)" = '0 nan 0' ] ||
    fail "tiles of one node: $(cat out)"
run 0 $job --start owner --tiles bytes=12800
figure tile_bytes | awk '{ exit !($1 > 42e6 && $1 < 47e6) }' || fail "--start owner: $(figure tile_bytes)"
run 0 $job --tiles tiles=100,block=100
figure tile_bytes | awk '{ exit !($1 > 64e6 && $1 < 70e6) }' || fail "block: $(figure tile_bytes)"

# Who computes answers nobody, but the server on its core does.
long='--synthetic constant:n=8,mean=1 --machine ib-ndr --node-cores 2 --cores 8
    --ranks-per-node 1 --start dealt --steal none --iterations 1 --csv
    --tiles gets=1,accumulates=1'
run 0 $long --progress server
above 1e-3 "$(figure tile_wait_s)" 'a server thread is busy'
above "$(figure tile_wait_s)" 1e-6 'a server thread takes no time'
run 0 $long --progress polling
above "$(figure tile_wait_s)" 0.1 'tasks are interrupted'

# Workers that step the servers; stolen tasks; null tasks; drawn steals.
for how in '--progress polling --steal random' '--steal near --start block' \
    '--modes Steal,StealAll,auto --nulls 1000 --start block' \
    '--mode sampled --steal random'; do
    run 0 $job $how --tiles gets=3,accumulates=2,overlap=yes
    above "$(figure tile_bytes)" 90e6 "$how"
done

run 0 --synthetic constant:n=1000,mean=0.001 --cores 4 --node-cores 2 --compare \
    --iterations 2 --tiles gets=4,bytes=1000000
grep -q "tasks waited .* % of the time for tiles:" out || fail "no verdict: $(cat out)"

for spec in gets gets=65 gets=x accumulates=-1 bytes=4 tiles=0 block=0 cache=-1 \
    overlap=maybe overlap=ye pattern=no hits=1 gets=1, ,gets=1 gets=1,,cache=1 ''; do
    run 2 $job --tiles "$spec"
    says "--tiles is '$spec'; allowed, separated by commas: gets=0...64"
done
run 2 $job --start owner
says "--start is 'owner', but no task adds to a tile"
run 2 $job --start owner --tiles accumulates=0
says "--start is 'owner', but no task adds to a tile"
exit $status
