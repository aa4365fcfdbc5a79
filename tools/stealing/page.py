# SPDX-License-Identifier: BSD-3-Clause
"""The page: which scheme when, what the papers printed, and all figures."""
from collections import namedtuple
from statistics import fmean

from hpdc12.figures import Figure
from hpdc12.page import table
from hpdc12.printed import judge
from stealing import study

HEAD = """\
# Whom thieves ask: papers beside ours

What papers printed about victims and about the end, beside simulations by the engine of this
library ([simulation.md](../explain/simulation.md)). `tools/reproduce-stealing{quick}` writes this
page, with the same digits on any machine. [stealing.md](../explain/stealing.md) explains the
policies, [papers.md](../reference/papers.md) lists the papers.

**Commands.** Above each table stands the command that made it. A row adds the arguments of its run
and its way. Figures are means over seeds, ± half of the interval of 95 %. "% of ideal" is work /
workers / time. Attempts and steals are those of a worker.

**Verdicts.** A value agrees within {TOLERANCE} points of the printed one, or of its range.

"""

TOLERANCE = 1.5

BESIDE = """\
"Faster" compares times of the same seeds. As printed means `load:read` and `success` of the
sources: one task for each thief, and a threshold of two tasks a worker. Ours is `load`.

"""

SCALED = """\
## The paper's work: IA3 2016

512 nodes of Edison with 23 workers and a server each, as in the paper. Its trees T1WL and T3WL have
270,751,679,750 and 157,063,495,159 nodes, which nobody can unfold here. T1L and T3L stand for them.
Their nodes take as much longer as they are fewer: each worker has the paper's work at {NODE_NS} ns a
node, in tasks that are 2,650 and 1,410 times as long. NQueens 18 is the paper's, with one
seed. NQueens has 17 queens and eight seeds; its placements take as much longer as they are fewer.
`--xxl` adds trees of 4.2 and 2.8 billion nodes, whose tasks are 64 and 56 times as long. They were
never run: by the speed of the others they take two hours and nine for each way.

"""

BETWEEN = """\
## Producers and consumers between nodes

The same machine, and the tree BPC of ICPP 2021. "Half" and all without a batch give half of what
the victim shows.

"""

DVS_WORDS = """\
## On a node: DVS 2013

The allotments and inputs of the paper. Its baseline is the thief of WOOL, which is `leapfrog` here.
FFT, Sort and Strassen need joins, which this library has not. Thieves of all policies go on without
a pause. `dvs, escape` tries a random worker behind the list: what `dvs` loses against it is the
price of fixed lists.

"""

WIDE = """\
Beyond the sizes of the paper, on diamonds:

"""

ONE_SIDED = """\
## One-sided: ICPP 2021

Each process is a worker, as in the paper, and each steal is one between nodes. `sws` and `sdc` are
its two protocols; `random` asks by messages, which a worker answers between its tasks. T1L stands
for the paper's tree as above. The machine is another one than the paper's, with published figures
for its network. Steal and search times are those of a worker. Of the paper's 2,112 ranks there is
one seed; `--xxl` adds depth 500 there.

"""

END = """\
## The end

Each core has four tasks, of 0 to 0.2 s. After the last one it takes some time until the last rank
hears of the end. In sampled runs the requests that fail are drawn, and no vote waits for an answer:
what `francez` costs only exact runs tell.

"""

# What each scheme is for; its figures come from where its way ran.
SCHEMES = {
    "random": "the default between nodes: needs no state",
    "hpdc12": "to compare with HPDC 2012",
    "load": "many nodes whose tasks unfold from few",
    "load:read": "to compare with BaselineWS",
    "success": "requests that never fail",
    "success:acyclic": "the same without cycles",
    "lifeline": "few messages while there is no work",
    "sws": "where passive targets are passive",
    "sdc": "to compare with Scioto",
    "node": "one node",
    "leapfrog": "one node, to compare with WOOL",
    "dvs": "up to 35 workers of one node, to compare with DVS",
    "dvs, escape": "the same, on more workers"}

Column = namedtuple("Column", "title name digits factor", defaults=(1,))
TRIED = (Column("% of ideal", "efficiency", 1, 100),
         Column("attempts", "tries", 1), Column("steals", "steals", 1))
ACROSS = TRIED + tuple(Column(*of, 0) for of in (
    ("messages of all", "messages"), ("requests in vain", "in_vain"),
    ("loads read", "loads_read"), ("victims occupied", "occupied"),
    ("requests granted", "grants")))
FIRST = (Column("time, ms", "makespan_s", 3, 1e3),) + TRIED + (
    Column("first steal, mean, µs", "first_steal_s", 1, 1e6),
    Column("latest, µs", "first_steal_most_s", 1, 1e6))
STOLEN = (Column("time, s", "makespan_s", 4),
          Column("% of ideal", "efficiency", 2, 100),
          Column("steal time, ms", "stealing_s", 3, 1e3),
          Column("search time, ms", "search_s", 3, 1e3)) + TRIED[1:]
DETECTED = (Column("time, s", "makespan_s", 3),
            Column("until the last heard, ms", "detect_s", 2, 1e3),
            Column("messages of all", "messages", 0))


def runs(results, name, columns):
    """A table of a series, with its commands; nothing where none ran."""
    if name not in results.series:
        return ""
    of = results.series[name]
    ran = {word for key in results.found if key[0] == name for word in key[1:]}
    rows = [[point, way] + [
        results.figure(name, point, way, c.name).text(c.digits, c.factor)
        for c in columns] for point in of.points for way in of.ways
            if (name, point, way) in results.found]
    return "`ek-sim %s ...`, and of each row:\n\n" % of.fixed + "\n".join(
        "- %s: `%s`" % row for row in [*of.points.items(), *of.ways.items()]
        if row[0] in ran) + "\n\n" + table(["run", "way"] + [c.title for c in columns], rows) + "\n"


def faster(point, way, than, value):
    """By how much a way is faster than another."""
    def look(results):
        gains = [gain for key in results.found if key[1:] == (point, way)
                 for gain in [results.gain(*key, than)] if gain]
        return gains and (gains[0].text(1) + " %", judge(
            [gains[0].mean], value - TOLERANCE, value + TOLERANCE))
    return look


def slowest(way, than):
    """The least gain of all trees."""
    def look(results):
        found = [(gain.mean, point) for series, point, which in results.found
                 if which == way for gain in
                 [results.gain(series, point, way, than)] if gain]
        return found and ("%.1f %% (%s)" % min(found), judge(
            min(found)[:1], -TOLERANCE, 1e9))
    return look


def part(way, counted, of, least, most):
    """A sum of columns in a sum of others, %, of all trees."""
    def look(results):
        found = [100 * sum(Figure(results.values(*key, c)).mean for c in counted) /
                 sum(Figure(results.values(*key, c)).mean for c in of)
                 for key in results.found if key[2] == way]
        return found and ("%.2f to %.2f %%" % (min(found), max(found)),
                          judge(found, least, most))
    return look


def allotted(machine, tree, pick, value):
    """By how much dvs is faster than leapfrog in allotments, of which one figure
    is judged."""
    def look(results):
        gains = [results.gain(*key, "leapfrog").mean for key in results.found
                 if key[0].startswith("dvs " + machine) and key[2] == "dvs" and
                 key[1].startswith(tree)]
        return gains and ("%.1f %% (%.1f to %.1f)" % (
            pick(gains), min(gains), max(gains)), judge(
                [pick(gains)], value - TOLERANCE, value + TOLERANCE))
    return look


def on_ranks(results, tree, way):
    """The runs of a way on all numbers of ranks, the fewest first."""
    return [key for key in results.found if key[0] == "one-sided" and
            key[1].startswith(tree) and key[2] == way]


def times_more(tree, way, than, column, least, most):
    """How many times more seconds a way takes."""
    def look(results):
        found = [results.figure(*key, column).mean /
                 results.figure(*key[:2], than, column).mean
                 for key in on_ranks(results, tree, way)
                 if (*key[:2], than) in results.found]
        return found and ("%.2f to %.2f times" % (min(found), max(found)),
                          judge(found, least, most))
    return look


def spread(tree, way, most):
    """Range of the times of the seeds, % of their mean."""
    def look(results):
        found = [100 * (max(times) - min(times)) / fmean(times)
                 for key in on_ranks(results, tree, way)
                 for times in [results.values(*key, "makespan_s")] if times[1:]]
        return found and ("%.3f to %.3f %%" % (min(found), max(found)),
                          judge(found, 0, most))
    return look


def growth(tree, way, least, most):
    """Steal time on the most ranks, by that on the fewest."""
    def look(results):
        found = [results.figure(*key, "stealing_s").mean
                 for key in on_ranks(results, tree, way)]
        return found[1:] and ("%.1f times" % (found[-1] / found[0]), judge(
            [found[-1] / found[0]], least, most))
    return look


def farthest(gains):
    return max(gains, key=abs)


SEARCHES = ["searches_" + count for count in ("1", "2", "3", "4", "more")]
CLAIMS = [
    ("IA3 1(c)", "success faster than %s, %s" % (than, tree), "+%d %%%s" % (
        value, note), faster(tree, "success", than, value))
    for than in ("load:read", "load")
    for tree, value, note in (
        ("T1L", 3, ", T1WL"), ("T1XXL", 3, ", T1WL"), ("T3L", 7, ", T3WL"),
        ("T3XXL", 7, ", T3WL"), ("NQueens", 4, ""), ("NQueens 18", 4, ""))
] + [
    ("IA3 1(c)", "success faster than load:read, least of all trees", "0 % or more",
     slowest("success", "load:read")),
    ("IA3 1(b)", "steals of success between nodes that fail", "none",
     part("success", ["in_vain"], ["grants"], 0, 0)),
    ("IA3 1(d)", "searches of success that contact one or two victims",
     "85 % or more", part("success", SEARCHES[:2], SEARCHES, 85, 100)),
    ("IA3 1(d)", "those that contact more than four", "rare",
     part("success", SEARCHES[4:], SEARCHES, 0, 1)),
    ("IA3 1(e)", "grants of success to a node that is asked itself",
     "0.2 % or less", part("success", ["cyclic"], ["grants"], 0, 0.2))
] + [
    ("IA3 1(f)", "success:acyclic faster than success, %s" % tree, "0 %",
     faster(tree, "success:acyclic", "success", 0))
    for tree in (*study.SCALED, *study.TREES)
] + [
    ("DVS 5, 6", "dvs faster than leapfrog at best, %s, %s" % (tree, machine),
     "+%d %%" % value if value else "equal",
     allotted(machine, tree + ":", max if value else farthest, value))
    for machine, tree, value in (
        ("8 x 4", "nqueens", 51), ("8 x 6", "nqueens", 55),
        *((machine, tree, 0) for tree in ("fib", "skew", "stress")
          for machine in study.INPUTS))
] + [
    ("DVS 5, 6", "the same, mean of all programs, there seven", "+13 %",
     allotted("", "", fmean, 13))
] + [
    ("ICPP 7a", "time of sdc / that of sws, BPC", "nearly equal",
     times_more("BPC", "sdc", "sws", "makespan_s", 0.985, 1.015)),
    ("ICPP 8a", "time of sdc / that of sws, UTS", "about 1.09",
     times_more("T1L", "sdc", "sws", "makespan_s", 1.075, 1.105)),
    ("ICPP 8b", "steal time of sdc / that of sws, UTS", "3 to 4",
     times_more("T1L", "sdc", "sws", "stealing_s", 3, 4)),
    ("ICPP 7b", "steal time of sws, BPC, most ranks / fewest", "flat",
     growth("BPC, depth 300", "sws", 0.8, 1.25)),
    ("ICPP 7b", "steal time of sdc, BPC, most ranks / fewest", "rises",
     growth("BPC, depth 300", "sdc", 1.25, 1e9)),
    *(("ICPP 7d", "range of times of ten seeds, %s" % way,
       "0.2 % or less", spread("BPC, depth 300", way, 0.2))
      for way in study.WAYS)
]


def beside(results):
    rows = [[where, what, printed, *found] for where, what, printed, look in
            CLAIMS for found in [look(results)] if found]
    return table(["where", "what", "the paper", "simulated", "verdict"], rows)


def efficiencies(results, of, way):
    """% of ideal of a way in a series: of each point, or the range of many."""
    found = [(point, results.figure(of.name, point, way, "efficiency"))
             for point in of.points if (of.name, point, way) in results.found]
    if len(found) <= 6:
        return ["%s %s" % (point, figure.text(1, 100)) for point, figure in found]
    means = [100 * figure.mean for _, figure in found]
    return ["%.1f to %.1f (%s)" % (min(means), max(means), of.name)]


def schemes(results):
    """Which scheme when."""
    return table(["scheme", "when", "measured: % of ideal"], [
        ["`%s`" % way, when, "; ".join(
            text for of in results.series.values()
            for text in efficiencies(results, of, way))]
        for way, when in SCHEMES.items()
        if any(key[2] == way for key in results.found)])


def write(results, is_quick):
    of = results.series
    parts = [
        HEAD.format(quick=" --quick" * is_quick, TOLERANCE=TOLERANCE),
        "## Which scheme when\n\n", schemes(results),
        "\n## Beside the papers\n\n", BESIDE, beside(results), "\n",
        SCALED.format(NODE_NS=study.NODE_NS) * ("scaled" in of),
        runs(results, "scaled", ACROSS),
        BETWEEN * ("between" in of),
        runs(results, "between", ACROSS),
        DVS_WORDS, *(runs(results, name, FIRST)
                     for name in of if name.startswith("dvs ")),
        WIDE * ("wide" in of), runs(results, "wide", FIRST),
        ONE_SIDED * ("one-sided" in of), runs(results, "one-sided", STOLEN),
        runs(results, "one-sided, others", STOLEN),
        END, runs(results, "end", DETECTED)]
    return "".join(parts).rstrip("\n") + "\n"
