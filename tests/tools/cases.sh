#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which policy where: the default (retain, random) and auto against the best
# fixed combination of restore and steal policies, in many cases, simulated.
#
#     tests/tools/cases.sh BUILD                            the test
#     tests/tools/cases.sh BUILD --all [--seeds N] [CASE...]   all combinations
#     tests/tools/cases.sh BUILD --modes A+B,... [...]         some: restore+steal
#
# A figure is the least time / the time of the iterations and their restores in
# percent, from the third on; with seeds 1 ... N their mean.  The least time is
# that of the mean load or of the longest task: 100 is the most there can be.
# A case is a line: its name, the best fixed combination, the arguments of ek-sim.
# Without --all or the like the large ones are left out.  With --all the last
# columns say what is best now, and "CHANGE" where the table's best is not within
# 1 % of that.
#
# Tasks of be49 and be21 are those of chains of so many atoms: 204 and 68 a
# worker, with a mean of 0.7 ms.  What `load` names is in loads.py.

# shellcheck disable=SC2046,SC2086
set -eu
cases='
base of 204 tasks    retain+random        large
2 a worker           centralized+none     few 752 0.3
4 a worker           retain+random        few 1504 1
10 a worker          retain+random        few 3760 1
alternate            retain+random        large --change alternate
new each time        hierarchical+random  large --change renew
drift 10 %           retain+near          large --drift 10
base of 68 tasks     retain+random        small
heavy tail           retain+random        heavy
noise 10 %           retain+random        small --noise 10
noise 50 %           retain+random        small --noise 50
hot spot moves       centralized+near     small --change hot-moves
hot spot comes       centralized+random   small --change hot-comes
hot spot creeps      retain+random        small --change hot-creeps
tcp                  retain+random        tcp
tcp, short tasks     retain+near          tcp --scale 0.1
tasks of 10 us       centralized+node     small --scale 0.0147
one slow node        retain+random        small --slowness 1,1,1,2
two slow nodes       retain+random        small --slowness 1,1.3
47 and 23 workers    retain+random        small --rank-workers 47,23
a million of 1 us    retain+random        million
equal tasks          retain+random        equal
one long task        retain+random        long
uneven start         retain+random        small --start uneven:4:4
four ranks a node    retain+random        ranks
compact chain        centralized+node     edr 576 --record compact.ekr
water                centralized+random   edr 240 --record records/water10.ekr --scale 10
tiles of C           centralized+none     edr 336 --record tile.ekr
products of tiles    centralized+none     edr 288 --record product.ekr
drifting hot spot    retain+random        load 192 hot_spot 8640
day and night        retain+random        load 240 day_and_night 8900
period of four       retain+random        load 144 period 8320
growing              retain+random        load 192 growing 8111
doubling             retain+random        load 240 doubling 9000
a tenth grows        retain+random        load 288 tenth_grows 8500
bimodal              retain+random        load 192 bimodal 8800
almost null          retain+random        load 192 almost_null 8460
mesh refinement      retain+random        load 192 amr 8464
phase change         retain+random        load 144 phases 8200
outliers             retain+random        load 192 outliers 8640
ramp                 centralized+none     load 288 ramp 8700
giants               retain+random        load 240 giants 9100
speeds 1 to 2        retain+random        lognormal 192 8640 --slowness 1,2,1.25,1.6
noise 5 %            retain+random        lognormal 240 8350 --noise 5
noise 20 %           retain+random        lognormal 192 8540 --noise 20
noise 20, drift 10   retain+random        lognormal 144 8640 --noise 20 --drift 10
bad restart          retain+random        lognormal 192 8777 --start uneven:47:50
slow messages        retain+node          lognormal 192 8640 --machine slow.machine
pauses               retain+random        lognormal 192 8600 --jitter 5:10
data of 1 MB         centralized+node     lognormal 192 8640 --bytes input=1000000
data of 10 MB        retain+node          lognormal 192 8640 --bytes input=10000000
frontier             retain+random        lognormal 224 9360 --machine frontier
'
large='
drift 30 %           retain+random        large --drift 30
tiles of 40          centralized+random   tiles
2 a worker of 2,350  retain+random        lognormal 2400 4700
3 a worker of 2,350  retain+random        lognormal 2400 7050
large chain          retain+random        edr 1152 --record be49.ekr --scale 10
large products       centralized+none     edr 1152 --record products.ekr
large hot spot       hierarchical+random  load 768 hot_spot 27000
large day and night  retain+random        load 672 day_and_night 25000
large period         retain+random        load 768 period 23456
large growing        retain+random        load 576 growing 26000
large refinement     retain+random        load 768 amr 28900
large outliers       retain+random        load 576 outliers 24680
data of 100 kB       centralized+node     lognormal 768 34000 --bytes input=100000
'

# arguments WORD ARGUMENT...: what ek-sim is told.
arguments() {
    word=$1
    shift
    edr='--machine ib-edr --cores 384'
    case $word in
    large) set -- $edr --record be49.ekr "$@" ;;
    small) set -- --machine ib-edr --cores 192 --record be21.ekr "$@" ;;
    tcp) set -- --machine tcp --cores 192 --record be21.ekr "$@" ;;
    few) set -- $edr --synthetic "lognormal:n=$1,mean=0.01,cv=$2" ;;
    heavy) set -- --machine ib-edr --cores 192 \
        --synthetic lognormal:n=12784,mean=7e-4,cv=6 ;;
    million) set -- --machine ib-edr --node-cores 6 --cores 12 --iterations 6 \
        --synthetic lognormal:n=1000000,mean=1e-6,cv=1 ;;
    equal) set -- $edr --synthetic constant:n=37600,mean=7e-4 ;;
    edr)
        cores=$1
        shift
        set -- --machine ib-edr --cores "$cores" "$@"
        ;;
    lognormal) # CORES TASKS
        cores=$1 count=$2
        shift 2
        set -- --machine ib-edr --cores "$cores" \
            --synthetic "lognormal:n=$count,mean=2e-3,cv=1" "$@"
        ;;
    load) # CORES KIND TASKS
        make_loads "$2" "$3"
        set -- --machine ib-edr --cores "$1" --record "$2-$3-SEED.ekr" --iteration 0-
        ;;
    long) set -- --machine ib-edr --cores 192 \
        --synthetic constant:n=12784,mean=7e-4,longest=0.04 ;;
    tiles) set -- --machine hopper --cores 384 --scale 110 \
        --record records/gascf_be256_twentieth.ekr ;;
    ranks) set -- --machine frontier --cores 112 \
        --synthetic exponential:n=7072,mean=7e-4 ;;
    esac
    echo "--iterations 9 --csv $*"
}

# make_loads KIND TASKS: a record for each seed.
make_loads() {
    seed=0
    while [ $((seed += 1)) -le "$seeds" ]; do
        [ -f "$1-$2-$seed.ekr" ] || "$root/tests/tools/loads.py" "$1" "$2" $seed |
            "$build/tools/ek-record/ek-record" binary - "$1-$2-$seed.ekr"
    done
}

# measure MODES ARGUMENT...: the figure of each mode.
measure() {
    asked=$1
    shift
    seed=0
    while [ $((seed += 1)) -le "$seeds" ]; do
        "$sim" $(echo "$@" | sed "s/SEED/$seed/") --seed $seed \
            --modes "$(echo "$asked" | tr , '\n' | sort -u | paste -sd ,)"
    done | awk -F, -v asked="$asked" '
        function add_seed(mode) {
            for (mode in time) sum[mode] += least[mode] / time[mode]
            split("", time)
            split("", least)
            seeds++
        }
        $1 == "workload" { for (i = 1; i <= NF; i++) at[$i] = i
                           if (NR > 1) add_seed()
                           next }
        $at["iteration"] > 2 { least[$at["mode"]] += $at["bound_s"]
                               time[$at["mode"]] += $at["makespan_s"] + $at["restore_s"] }
        END { add_seed()
              split(asked, modes)
              for (i = 1; i in modes; i++)
                  printf "\t%s %.2f", modes[i], 100 * sum[modes[i]] / seeds }'
}

# make_chain NAME ATOMS BOHR: what its tasks take, counted.
make_chain() {
    count hf_be "$1" --atoms "$2" --spacing "$3" --tile 20 --integral-ns 44 \
        --test-ns 0
}

# count EXAMPLE NAME ARGUMENT...: a record of what it would run.
count() {
    example=$build/examples/$1/$1 name=$2
    shift 2
    EVENKEEL_WORKERS=1 "$root/tools/mpirun" -n 1 "$example" --count \
        --record "$name.ekr" "$@" >"$name.log" 2>&1 || cat "$name.log"
}

# rows: a line for each case that is asked for: its name, the best mode, and
# "MODE FIGURE" for each mode; separated by tabs.
rows() {
    echo "$cases" | sed -n 's/  *\([a-z]*+[a-z]*\)  */\t\1\t/p' |
        while IFS="$tab" read -r name best given; do
            [ -z "$wanted" ] || echo "$wanted" | grep -qxF "$name" || continue
            printf '%s\t%s' "$name" "$best"
            measure "$(echo "$modes" | sed "s/^best,/$best,/")" \
                $(arguments $given)
            echo
        done
}

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
sim=$build/tools/ek-sim/ek-sim
tab=$(printf '\t')
shift
modes='best,retain+random,auto' seeds=1 wanted='' is_test=1
while [ $# -gt 0 ]; do
    case $1 in
    --all)
        is_test=
        modes=auto
        for restore in original retain centralized hierarchical; do
            for steal in none random near node counter; do
                modes=$modes,$restore+$steal
            done
        done
        ;;
    --modes)
        is_test=
        modes=$2
        shift
        ;;
    --seeds)
        seeds=$2
        shift
        ;;
    *)
        is_test=
        wanted="$wanted$1
"
        ;;
    esac
    shift
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
ln -s "$root/tests/data/record" records
make_chain be49 49 4 &
make_chain be21 21 4 &
make_chain compact 27 2.6 &
count tensor_contraction tile --preset third &
count tensor_contraction product --preset fifth --task product &
if [ ! "$is_test" ]; then
    count tensor_contraction products --preset third --task product &
    cases=$cases$large
fi
wait
printf '%s\n' 'like ib-edr' 'name slow' 'latency 200 us' 'handle 100 us' >slow.machine
rows | awk -F"$tab" -v is_test="$is_test" -v first="${modes%%,*}" \
    -v cases="$(echo "$cases" | grep -c .)" '
    function print_heads(part, i, pair, words) {
        printf "%-20s", ""
        for (i = 3; i <= NF; i++) {
            split(i == 3 && first == "best" ? first : $i, pair, " ")
            split(pair[1], words, "+")
            printf " %-6s", substr(words[part], 1, 6)
        }
        print ""
    }
    # Whether a mode comes near the best; says so if not.
    function is_good(mode, name) {
        if (!(mode in value) || value[mode] >= 0.98 * best)
            return 1
        said = said "; not " name
        return 0
    }
    NR == 1 { print_heads(1); print_heads(2) }
    { best = 0
      said = ""
      split("", value)
      printf "%-20s", $1
      for (i = 3; i <= NF; i++) {
          split($i, pair, " ")
          printf " %-6.1f", pair[2]
          value[pair[1]] = pair[2]
          if (pair[1] != "auto" && pair[2] > best) { best = pair[2]; mode = pair[1] }
      }
      if (!(value[$2] >= 0.99 * best))
          said = said " CHANGE"
      if (!best) {
          print " FAILED"
          exit 1
      }
      autos += is_good("auto", "auto")
      defaults += is_good("retain+random", "default")
      possible["the best"] += best >= 95
      possible["auto"] += value["auto"] >= 95
      possible["the default"] += value["retain+random"] >= 95
      print " " mode said
      fflush() }
    END { if (("auto" in value) && ("retain+random" in value)) {
              printf "98 %% of the best: auto in %d, the default in %d of %d\n", \
                  autos, defaults, NR
              printf "95 %% of the bound: the best in %d, auto in %d, the default in %d\n", \
                  possible["the best"], possible["auto"], possible["the default"]
          }
          # Of one seed: where durations are noise, 2 % is less than the spread.
          exit is_test && !(NR == cases && autos >= 0.95 * NR &&
                            defaults >= 0.85 * NR) }'
