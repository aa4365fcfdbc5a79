# SPDX-License-Identifier: BSD-3-Clause
"""What is simulated: tasks, machines, sizes, and ways to balance."""
from collections import namedtuple

# Tasks, which `program` --count makes a record of; `cut`: how they are cut;
# `more`: arguments of ek-sim, by which they are drawn where no program is.
Workload = namedtuple("Workload", "name title cut program arguments more")

# For an integral, ns.  Figures 5 to 10: 48 s x 2,300 workers, so that Steal
# takes the paper's 50 s on 2,400 cores.  Table 3: 48 s x 2,400 cores, all of
# which are workers there, and its longest task.
INTEGRAL_NS, INTEGRAL_TABLE3_NS = "1428", "1490"


def chain(atoms, tile, integral_ns=INTEGRAL_NS):
    """Beryllium atoms, 2.6 bohr apart, in tiles of so many functions."""
    name = "be%d-%d" % (atoms, tile)
    return Workload(name if integral_ns == INTEGRAL_NS else name + "-table3",
                    "HF-Be%d" % atoms, str(tile),
                    "hf_be", ("--atoms", str(atoms), "--spacing", "2.6",
                              "--tile", str(tile), "--integral-ns", integral_ns,
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


def log_normal(tasks, mean_s, longest_s):
    """Another instance of Table 3: as much work, and a task as long."""
    return Workload("lognormal-%d" % tasks,
                    "{:,d} log-normal tasks".format(tasks), "", None, (),
                    ("--synthetic", "lognormal:n=%d,mean=%s,cv=0.87,longest=%s" %
                     (tasks, mean_s, longest_s)))


PRINTED, OURS, READING = "as printed", "ours", "reading"


# Below ten tasks a core, the paper says, efficiency deteriorates: jobs that have
# fewer than so many are listed.
FEW_TASKS = 24

# Half of what a worker has must fit into what it shows, and all of that into
# memory.  It shows up to SLOTS tasks, or MORE_SLOTS where a core has more than
# MANY_TASKS and there are fewer cores than MANY_CORES.
SLOTS, MORE_SLOTS, MANY_TASKS, MANY_CORES = 256, 1024, 200, 24000


# A way to balance; kind: of the three above, of which readings are no candidates
# for the best; iterations: the last one.  Rows of ek-sim are iterations from 1
# on or, where `nulls` is set, from 0: all tasks with the null ones.  seeds: None
# for those of the job.
class Way(namedtuple("Way", "name title kind arguments iterations nulls seeds",
                     defaults=(False, None))):
    __slots__ = ()

    def label(self):
        return self.title if self.name == "static" else "%s, %s" % (
            self.title, self.kind)


# A job: what runs on how many cores of which machine, how often, in which ways.
Job = namedtuple("Job", "workload machine cores seeds ways")

# Tasks dealt unevenly as for Table 3, and a rebalancer.
Dealt = namedtuple("Dealt", "workload cores every more balancer")

# traced: jobs of Figure 10.
Study = namedtuple("Study", "title jobs dealt traced")


def figure6(balancer, steal, first):
    """Iteration `first` steals, the next runs the same placement without, then
    the balancer comes before each."""
    return ("--policy", "retain@0-%d,%s@%d-" % (first + 1, balancer, first + 2),
            "--steal", "%s@0-%d,none@%d-" % (steal, first, first + 1))


# What a worker shows has slots of its own; half of its tasks must fit, which
# is up to the runner.  The paper finds the end so.
LOCKED = ("--deque", "locked", "--termination", "francez")
EXECUTED = ("--order", "executed") + LOCKED
RETAIN, ORIGINAL = ("--policy", "retain"), ("--policy", "original")
HPDC12 = ("--steal", "hpdc12")

STATIC = Way("static", "static", OURS, ("--modes", "static"), 1)
STEAL_12 = Way("steal-12", "Steal", PRINTED, ORIGINAL + HPDC12 + EXECUTED, 1)


def retained_12(last, nulls=True):
    return Way("stealret-12", "StealRet", PRINTED, RETAIN + HPDC12 + EXECUTED,
               last, nulls)


def balanced_12(last, nulls=True):
    return Way("plb-12", "rebalanced", PRINTED, figure6(
        "hierarchical-hpdc12", "hpdc12", int(nulls)) + EXECUTED, last, nulls)


def retained(last):
    return Way("stealret", "StealRet", OURS, ("--modes", "StealRet"), last)


def balanced(balancer):
    return Way({"hierarchical": "plb"}.get(balancer, balancer), balancer, OURS,
               figure6(balancer, "random", 0), 3)


ALL = (STATIC, STEAL_12, retained_12(5), balanced_12(4),
       Way("steal", "Steal", OURS, ("--modes", "Steal"), 1), retained(5),
       balanced("hierarchical"), balanced("centralized"),
       Way("auto", "auto", OURS, ("--modes", "auto"), 3))
FEW = (retained_12(5), retained(5), balanced("centralized"))

# Ways whose workers are watched over time, for Figure 10.
WATCHED = ("steal-12", "stealret-12", "plb-12", "steal", "stealret", "plb")


def reading(name, title, arguments, last=5):
    return Way(name, title, READING, arguments, last, False, 1)


# A server that takes longer than Hopper's 10 us for a message.
SLOW = "slow.machine", "like hopper\nhandle 30 us\n"

NOISY = reading("noisy-12", "as printed, noise of 5 %",
                RETAIN + HPDC12 + EXECUTED + ("--noise", "5"))
# Figure 6 without iteration 0.
BLOCKS6 = reading("plb-blocks", "rebalanced as printed", figure6(
    "hierarchical-hpdc12", "hpdc12", 0) + EXECUTED, 3)
# The print from blocks, and with one habit changed.
READINGS = (
    reading("blocks-12", "as printed", RETAIN + HPDC12 + EXECUTED),
    reading("one-12", "as printed, but of one task one is released",
            RETAIN + ("--steal", "hpdc12-one") + EXECUTED),
    reading("reversed-12", "as printed, but restored in reverse",
            RETAIN + HPDC12 + ("--order", "reversed") + LOCKED),
    reading("longest-12", "as printed, but the longest restored task first",
            RETAIN + HPDC12 + LOCKED),
    reading("shown-12", "as printed, but the deque and the victims are ours",
            RETAIN + ("--order", "executed", "--backoff-ns", "0")),
    NOISY,
    reading("slow-12", "as printed, 30 µs for a server to take a message",
            RETAIN + HPDC12 + EXECUTED + ("--machine", "./" + SLOW[0])))


# Rebalancers of Table 3: name, title, arguments.
Balancer = namedtuple("Balancer", "name title arguments")
ALGORITHM1 = ("--policy", "centralized-hpdc12", "--hpdc12")
BALANCERS = {b.name: b for b in (
    Balancer("alg1-core", "Algorithm 1, gathered over cores",
             ALGORITHM1 + ("gather=core",)),
    Balancer("alg1-core-fine", "Algorithm 1, C = 1.0003",
             ALGORITHM1 + ("gather=core,c=1.0003",)),
    Balancer("alg1-node", "Algorithm 1, gathered over nodes",
             ALGORITHM1 + ("gather=node",)),
    Balancer("alg2", "Algorithm 2, a tree over cores",
             ("--policy", "hierarchical-hpdc12")),
    Balancer("central", "ours, centralized", ("--policy", "centralized")),
    Balancer("hierarchy", "ours, hierarchical", ("--policy", "hierarchical")),
)}
ALWAYS = ("alg1-core", "alg2", "central", "hierarchy")
FINE = ("alg1-core-fine",)  # of n = m = 4 alone ...
ONCE = FINE + ("alg1-node",)  # ... of Be256


def dealt(workload, sizes, distributions, balancers=ALWAYS, once=ONCE):
    return [Dealt(workload, cores, n, m, b)
            for cores in sizes for n, m in distributions
            for b in balancers + (once if n == m == 4 else ())]


BE256, BE512, BE64 = chain(256, 40), chain(512, 40), chain(64, 40)
BE256_20, BE512_20 = chain(256, 20), chain(512, 20)
TCE = contraction("paper", "product")
TCE_TILES = contraction("paper", "tile")
BE256_TABLE3 = chain(256, 40, INTEGRAL_TABLE3_NS)
INSTANCES = (log_normal(4000000, 0.028806, 3.174),
             log_normal(1000000, 0.115224, 3.174))
SOME = ((2, 4), (4, 4), (16, 16))


HOPPER = (
    [Job(BE256, "hopper", c, 3, ALL + more) for c, more in (
        (2400, ()), (4800, ()), (9600, READINGS), (19200, ()),
        (38400, (BLOCKS6,)))] +
    [Job(BE256, "hopper", 76800, 1, FEW)] +
    [Job(BE512, "hopper", c, seeds, ALL + more) for c, seeds, more in (
        (9600, 1, (NOISY,)), (19200, 1, (NOISY,)), (38400, 2, READINGS),
        (76800, 1, (NOISY, BLOCKS6)))] +
    [Job(TCE, "hopper", c, 1, ALL + more) for c, more in (
        (2400, ()), (9600, ()), (38400, ()), (76800, (BLOCKS6,)))] +
    [Job(TCE_TILES, "hopper", c, 1, FEW) for c in (9600, 38400, 76800)])


def farther(machine, be256, be512, tce):
    """What takes longest is for the largest sizes: fourteen iterations of
    Be256, the rebalancer, ours, and iteration 0 of Be512, where 21.7e9 null
    tasks take minutes."""
    jobs = []
    for workload, sizes, last in ((BE256_20, be256, 14), (BE512_20, be512, 5),
                                  (TCE, tce, 5)):
        for cores in sizes:
            ways = (retained_12(3, workload != BE512_20),)
            if cores == sizes[-1]:
                ways = retained_12(last), retained(3)
                if workload != TCE:
                    ways += (balanced_12(4, workload != BE512_20),)
            jobs.append(Job(workload, machine, cores, 1, ways))
    return jobs


INTREPID = (20480, 40960, 81920, 163840)

WHOLE = Study(
    title="HPDC 2012, figure by figure",
    jobs=HOPPER +
    farther("titan", (8000, 16000, 32000, 64000), (16000, 32000, 64000, 128000),
            (8000, 16000, 32000, 64000)) +
    farther("intrepid", INTREPID, INTREPID, INTREPID),
    dealt=dealt(BE256_TABLE3, (2400, 4800, 9600, 19200, 38400),
                [(n, m) for n in (2, 4, 8, 16) for m in (4, 8, 16)]) +
    [d for w in INSTANCES for d in dealt(
        w, (2400, 4800, 9600, 19200, 38400), SOME, ("alg2",), FINE)],
    traced=[job for job in HOPPER if job.workload == BE256 and
            job.cores in (2400, 9600)])

SMALL = [Job(BE64, "hopper", 240, 3, ALL),
         Job(BE64, "hopper", 960, 2, ALL + READINGS + (BLOCKS6,))]
SMALL_TCE = Job(contraction("third", "product"), "hopper", 960, 1, ALL)
QUICK = Study(
    title="HPDC 2012, small",
    jobs=SMALL + [SMALL_TCE, Job(BE64, "titan", 320, 1, (
        retained_12(14), retained(3), balanced_12(4)))],
    dealt=dealt(chain(64, 40, INTEGRAL_TABLE3_NS), (480,), ((2, 4), (4, 4))) +
    dealt(log_normal(20000, 0.025, 0.6), (480,), ((4, 4),), ("alg2",), FINE),
    traced=SMALL)
