# SPDX-License-Identifier: BSD-3-Clause
"""What is simulated: trees, machines, sizes, and whom thieves ask."""
from collections import namedtuple
import re

from hpdc12.figures import Figure

# What runs together: `fixed` arguments of ek-sim, then those of a point and
# those of a way, by what they are called.
Series = namedtuple("Series", "name fixed points ways")

# IA3 2016: 512 nodes of 24 cores, of which one is the server's.
EDISON = "--machine edison --cores %d --mode exact --iterations 1"
CORES = 512 * 24
# Nodes of the paper's trees, and what a node takes in ICPP 2021, ns.
T1WL, T3WL, NODE_NS = 270751679750, 157063495159, 110


def scaled(tree, nodes, printed):
    """A tree whose nodes take as long together as those of a larger one."""
    return "--workload uts:%s --node-ns %d" % (tree,
                                               NODE_NS * printed // nodes)


T1L = scaled("T1L", 102181082, T1WL)
# Those that have the paper's work for each worker, ...
SCALED = {"T1L": T1L + " --seeds 1",
          "T3L": scaled("T3L", 111345631, T3WL) + " --seeds 1",
          "NQueens": "--workload nqueens:17,cutoff=6 --node-ns 37 --seeds 8",
          "NQueens 18": "--workload nqueens:18,cutoff=6 --seeds 1"}
XXL = {"T1XXL": scaled("geo,b=4,d=15,r=19,a=3", 4230646601, T1WL),
       "T3XXL": scaled("bin,b=2000,q=0.499995,m=2,r=316", 2793220501, T3WL)}
# ... and another.
TREES = {"BPC": "--workload bpc:n=8192,depth=300 --seeds 5"}
SMALL_TREES = {"UTS": "--workload uts:geo,b=4,d=8,r=19,a=3 --node-ns 10000 --seeds 3",
               "NQueens": "--workload nqueens:13,cutoff=5 --node-ns 100 --seeds 3",
               "BPC": "--workload bpc:n=500,depth=10 --seeds 3"}

# Between nodes.  The source of the paper has a threshold of two tasks a worker.
SOURCE = "--steal %s --load-threshold 46 --steal-batch %d"
BETWEEN = {
    "load:read": SOURCE % ("load:read", 1),
    "load:read, batch 5": SOURCE % ("load:read", 5),
    "success": SOURCE % ("success", 1),
    "success, batch 5": SOURCE % ("success", 5),
    "success:acyclic": SOURCE % ("success:acyclic", 1),
    "success, half": "--steal success",
    "load": "--steal load", "load, batch 1": "--steal load --steal-batch 1",
    **{name: "--steal " + name for name in ("lifeline", "random", "hpdc12")}}
FEW = {name: BETWEEN[name] for name in ("load:read", "success",
                                        "success:acyclic", "load", "random")}

# On one node, all without pauses.
BASE = {"node": "--steal node --backoff-ns 0", "leapfrog": "--steal leapfrog"}
DVS = "--steal dvs --dvs escape=%d"
# Machines of DVS 2013: the mesh, its allotments, and inputs.  Those of fib have
# no cut-off there; below one of 20 calls are not stolen.
INPUTS = {"8 x 4": ("columns=8,rows=4,cell=11", (5, 12, 20, 27),
                    ("fib:40,cutoff=20", "nqueens:13,cutoff=3",
                     "skew:10000,20,1,1", "stress:10000,20,1")),
          "8 x 6": ("columns=8,rows=6,cell=28", (5, 13, 24, 35),
                    ("fib:42,cutoff=20", "nqueens:14,cutoff=3",
                     "skew:10000,44,3,1", "stress:10000,44,3"))}
SMALL_INPUTS = {"8 x 4": (INPUTS["8 x 4"][0], (12, 27), (
    "fib:30,cutoff=10", "nqueens:12,cutoff=3", "skew:10000,20,3,1",
    "stress:10000,10,1"))}
ONE_NODE = "--machine this --iterations 1 --seeds 5"


def workers(tree, count):
    return "--workload %s --node-cores %d --cores %d" % (tree, count, count)


def dvs(mesh=""):
    return {**BASE, "dvs": DVS % 0 + mesh, "dvs, escape": DVS % 1 + mesh}


def allotments(inputs):
    """A series for each machine: its mesh is in the ways."""
    return [Series(
        "dvs " + machine, ONE_NODE,
        {"%s, %d workers" % (tree, count): workers(tree, count)
         for tree in trees for count in counts},
        dvs(",layout=allotted," + mesh))
            for machine, (mesh, counts, trees) in inputs.items()]


# ICPP 2021: each process is a worker, and each steal is one between nodes.
RANKS = "--machine ib-edr --node-cores 1 --progress polling --mode exact --iterations 1"
ONE_SIDED = {"BPC, depth 300": ("--workload bpc:n=8192,depth=300", 10),
             "BPC, depth 500": ("--workload bpc:n=8192,depth=500", 1),
             "T1L": (T1L, 1)}
SMALL_ONE_SIDED = {"BPC": ("--workload bpc:n=64,depth=5", 2),
                   "UTS": ("--workload uts:geo,b=4,d=7,r=19,a=3", 2)}
WAYS = {"sdc": "--steal sdc", "sws": "--steal sws"}
OTHERS = {"sws, one epoch": "--steal sws --sws epochs=1",
          "sws, never looks": "--steal sws --sws damping=0",
          "random": "--steal random"}


def one_sided(trees, ranks, wide=()):
    """Series on so many ranks, and of these WIDE trees with one seed on the
    paper's 2,112; the others on the second number, with fewer seeds."""
    def on(numbers, names, most):
        return {"%s, %s ranks" % (tree, format(count, ",d")):
                "%s --seeds %d --cores %d" % (more, min(seeds, most), count)
                for count in numbers for tree, (more, seeds) in trees.items()
                if tree in names}
    return [Series("one-sided", RANKS,
                   {**on(ranks, trees, 10), **on((2112,), wide, 1)}, WAYS),
            Series("one-sided, others", RANKS, on(ranks[1:], trees, 3), OTHERS)]


DETECTORS = {name: "--termination " + name
             for name in ("counting", "francez", "acknowledged")}


def end(*jobs):
    """How the end is found on cores of machines: four tasks for each."""
    return Series("end", "--iterations 1 --seeds 5", {
        "{:,d} cores, {:s}, {:s}".format(cores, mode, steal):
        "--machine %s --cores %d --mode %s --synthetic uniform:n=%d,mean=0.1 "
        "--steal %s" % (machine, cores, mode, 4 * cores, steal)
        for machine, cores, mode in jobs for steal in ("random", "hpdc12")},
                  DETECTORS)


def study(quick, xxl):
    if quick:
        return [Series("between", EDISON % 240, SMALL_TREES, BETWEEN),
                *allotments(SMALL_INPUTS), *one_sided(SMALL_ONE_SIDED, (4, 8)),
                end(("hopper", 240, "exact"))]
    return [Series("scaled", EDISON % CORES, {**SCALED, **XXL} if xxl else SCALED,
                   FEW),
            Series("between", EDISON % CORES, TREES, BETWEEN),
            *allotments(INPUTS),
            Series("wide", ONE_NODE,
                   {"%d workers" % count: workers("nqueens:14,cutoff=5", count)
                    for count in (64, 256, 1024)},
                   dvs()),
            *one_sided(ONE_SIDED, (48, 384),
                       ONE_SIDED if xxl else ("BPC, depth 300", "T1L")),
            end(("hopper", 2400, "exact"), ("hopper", 2400, "sampled"),
                ("hopper", 38400, "sampled"), ("intrepid", 163840, "sampled"))]


def list_runs(chosen):
    for of in chosen:
        for point, more in of.points.items():
            for way, steal in of.ways.items():
                key = of.name, point, way
                yield (key, re.sub(r"\W+", "-", " ".join(key)), " ".join(
                    ("--csv", of.fixed, more, steal)).split(), None)


class Results:
    def __init__(self, chosen, found):
        self.series = {of.name: of for of in chosen}
        self.found = found

    def values(self, series, point, way, column):
        """Of each seed."""
        return [float(row[column]) for row in self.found[series, point, way]]

    def figure(self, series, point, way, column):
        """Of all seeds; the share of a time as seconds, with its name in _s."""
        if column in ("stealing_s", "search_s"):
            return Figure([share * time for share, time in zip(*(
                self.values(series, point, way, name)
                for name in (column[:-2], "makespan_s")))])
        return Figure(self.values(series, point, way, column))

    def gain(self, series, point, way, than):
        """How much faster than another way, %, seed by seed; None: not both
        ran."""
        if not {(series, point, way), (series, point, than)} <= set(self.found):
            return None
        return Figure([100 * (b / a - 1) for a, b in zip(*(
            self.values(series, point, which, "makespan_s")
            for which in (way, than)))])
