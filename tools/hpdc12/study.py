# SPDX-License-Identifier: BSD-3-Clause
"""What is simulated: tasks, machines, sizes, and ways to balance."""
from collections import namedtuple

# Tasks, which `program` --count makes a record of; `cut`: how they are cut;
# `more`: arguments of ek-sim.
Workload = namedtuple("Workload", "name title cut program arguments more")


def chain(atoms, tile):
    """Beryllium atoms in tiles of so many functions.  At 2.6 bohr, and 1,490 ns
    an integral, Be256 is the 115,200 core-seconds and the longest task that
    Table 3 of the paper implies."""
    return Workload("be%d-%d" % (atoms, tile), "HF-Be%d" % atoms, str(tile),
                    "hf_be", ("--atoms", str(atoms), "--spacing", "2.6",
                              "--tile", str(tile), "--integral-ns", "1490",
                              "--test-ns", "0"), ())


# Of a core of Hopper: ns for an operation, at 85 % of 8.4 GF/s; for a byte, of
# the 5 GB/s of a node for 23 workers; and to see that a task is null, which
# takes 60 ns on a core of 2020.
OPERATION_NS, BYTE_NS, NULL_NS = "0.14", "4.6", "200"


def contraction(preset, task):
    """The tensor contraction on Hopper: tasks are products of two tiles, or
    tiles of C with all their products."""
    return Workload("tce-%s-%s" % (preset, task),
                    {"product": "TCE", "tile": "TCE tiles"}[task], task,
                    "tensor_contraction", ("--preset", preset, "--task", task,
                                           "--flop-ns", OPERATION_NS,
                                           "--byte-ns", BYTE_NS),
                    ("--null-ns", NULL_NS))


# A job: what runs on how many cores of which machine, how often.
Job = namedtuple("Job", "workload machine cores seeds")

# A way to balance; iterations: None for all of the study.  `printed` has the
# paper's habits: restored tasks in the order of their execution, and thieves
# that ask again at once.
class Way(namedtuple("Way", "name title arguments iterations printed")):
    __slots__ = ()

    def label(self):
        return self.title if self.name == "static" else "%s, %s" % (
            self.title, "as printed" if self.printed else "ours")


# Tasks dealt unevenly as for Table 3, and a rebalancer.
Dealt = namedtuple("Dealt", "job every more balancer")

Study = namedtuple("Study", "title iterations jobs ways dealt traced")

# The schedule of Figure 6: the first iteration steals, the second runs the same
# placement without, then the balancer comes before each.
FIGURE6_STEAL = ("--steal", "random@0,none@1-")


def figure6(balancer):
    return ("--policy", "retain@0-1,%s@2-" % balancer) + FIGURE6_STEAL


def ways():
    printed = ("--order", "executed", "--backoff-ns", "0")
    return [
        Way("static", "static", ("--modes", "static"), 1, False),
        Way("stealall", "StealAll", ("--modes", "StealAll") + printed, 1, True),
        Way("steal-12", "Steal", ("--modes", "Steal") + printed, 2, True),
        Way("stealret-12", "StealRet", ("--modes", "StealRet") + printed, None,
            True),
        Way("noisy-12", "StealRet, noise of 5 %", ("--modes", "StealRet",
            "--noise", "5") + printed, None, True),
        Way("plb-12", "rebalanced", figure6("hierarchical-hpdc12") + printed,
            None, True),
        Way("steal", "Steal", ("--modes", "Steal"), 2, False),
        Way("stealret", "StealRet", ("--modes", "StealRet"), None, False),
        Way("plb", "hierarchical", figure6("hierarchical"), None, False),
        Way("central", "centralized", figure6("centralized"), None, False),
        Way("auto", "auto", ("--modes", "auto"), None, False),
    ]


# Ways whose workers are watched over time, for Figure 10.
WATCHED = ("steal-12", "stealret-12", "plb-12", "stealret", "plb")



def few():
    """Ways on the machines of fourteen iterations.  Rebalanced, tasks stay
    where they are from the fourth on; Steal is the first of StealRet."""
    names = ("stealall", "stealret-12", "plb-12", "stealret", "plb")
    return [way._replace(iterations=5) if way.name.startswith("plb") else way
            for way in ways() if way.name in names]


# Rebalancers of Table 3: name, title, arguments.
Balancer = namedtuple("Balancer", "name title arguments")
BALANCERS = {b.name: b for b in (
    Balancer("alg1-core", "Algorithm 1, gathered over cores",
             ("--policy", "centralized-hpdc12", "--gather", "core")),
    Balancer("alg1-core-fine", "Algorithm 1, C = 1.0003",
             ("--policy", "centralized-hpdc12", "--gather", "core",
              "--balance-c", "1.0003")),
    Balancer("alg1-node", "Algorithm 1, gathered over nodes",
             ("--policy", "centralized-hpdc12", "--gather", "node")),
    Balancer("alg2", "Algorithm 2, a tree over cores",
             ("--policy", "hierarchical-hpdc12")),
    Balancer("central", "ours, centralized", ("--policy", "centralized")),
    Balancer("hierarchy", "ours, hierarchical", ("--policy", "hierarchical")),
)}
ALWAYS = ("alg1-core", "alg2", "central", "hierarchy")
ONCE = ("alg1-core-fine", "alg1-node")  # of n = m = 4 alone


def dealt(jobs, everies, mores):
    return [Dealt(job, n, m, b) for job in jobs for n in everies for m in mores
            for b in ALWAYS + (ONCE if n == m == 4 else ())]


BE256, BE512, BE64 = chain(256, 40), chain(512, 40), chain(64, 40)
BE256_20, BE512_20 = chain(256, 20), chain(512, 20)
TCE = contraction("paper", "product")
TCE_TILES = contraction("paper", "tile")

HOPPER = ([Job(BE256, "hopper", c, s) for c, s in
           ((2400, 5), (4800, 5), (9600, 5), (19200, 3), (38400, 3))] +
          [Job(BE512, "hopper", c, s) for c, s in
           ((9600, 3), (19200, 3), (38400, 2), (76800, 2))] +
          [Job(TCE, "hopper", c, 1) for c in (2400, 9600, 38400, 76800)] +
          [Job(TCE_TILES, "hopper", c, 2) for c in (9600, 38400, 76800)])
FARTHER = [Job(BE256_20, "titan", 8000, 1),
           Job(BE512_20, "titan", 128000, 1),
           Job(BE512_20, "intrepid", 163840, 1)]

WHOLE = Study(
    title="HPDC 2012, figure by figure",
    iterations={"hopper": 5, "titan": 14, "intrepid": 14},
    jobs=HOPPER + FARTHER,
    ways={"hopper": ways(),
          "titan": few(), "intrepid": few()},
    dealt=dealt([Job(BE256, "hopper", c, 1)
                 for c in (2400, 4800, 9600, 19200, 38400)],
                (2, 4, 8, 16), (4, 8, 16)),
    traced=[job for job in HOPPER if job.workload == BE256 and
            job.cores in (2400, 9600)])

SMALL = [Job(BE64, "hopper", c, 3) for c in (240, 480)]
SMALL_TCE = Job(contraction("third", "product"), "hopper", 960, 1)
QUICK = Study(
    title="HPDC 2012, small",
    iterations={"hopper": 5, "titan": 14},
    jobs=SMALL + [SMALL_TCE, Job(BE64, "titan", 320, 1)],
    ways={"hopper": ways(), "titan": few()},
    dealt=dealt([Job(BE64, "hopper", 480, 1)], (2, 4), (4,)),
    traced=SMALL)
