# SPDX-License-Identifier: BSD-3-Clause
"""The page: tables, plots, and what agrees with the paper."""
from hpdc12 import printed, study
from hpdc12.figures import Figures

HEAD = """\
# {title}

The figures and tables of Lifflander, Krishnamoorthy, Kale: *Work stealing and persistence-based
load balancers for iterative overdecomposed applications*, HPDC 2012. The engine of this library
runs them on simulated machines ([simulation.md](../explain/simulation.md)).
`{command}` writes this page and its plots, with the same digits on any machine.

**Tasks** are those of the paper's benchmarks, counted without computing them:

- HF: chains of beryllium atoms 2.6 bohr apart (`hf_be --count`).
- TCE: the paper's tensor contraction (`tensor_contraction --count`). A task is a product of two
  tiles or, as "TCE tiles", a tile of C with all its products. An operation takes
  {study.OPERATION_NS} ns, 85 % of the peak of a core. A byte that is got or accumulated takes
  {study.BYTE_NS} ns, a worker's share of the 5 GB/s of a node.

Durations are those of Hopper on all three machines. They know no caches, which hides super-linear
speed-up.

**One figure is fitted**, the time of an integral. In Figures 5 to 10 it is {study.INTEGRAL_NS} ns,
with which our Steal takes the paper's 50 s on 2,400 cores of Hopper. In Table 3 it is
{study.INTEGRAL_TABLE3_NS} ns, as implied by its ideal of 48 s on 2,400 cores, all of which work.
One time does not fit both. At {study.INTEGRAL_TABLE3_NS} ns tasks take 115,224 core-seconds. The 2,300
cores that work in Figure 10 (one core of 24 is the server's) need at least 50.1 s for these, and the
paper measured 48.9 s.

**As printed** (`--steal hpdc12 --deque locked --order executed --termination francez`):

- A worker that shows no task releases half of its local ones. It also takes back half. It shows up
  to {study.SLOTS} tasks, or {study.MORE_SLOTS} on fewer than {study.MANY_CORES} cores with more than
  {study.MANY_TASKS} tasks each.
- A thief draws one worker of the job and takes half of the tasks that this worker shows, rounded
  up. It asks again at once.
- Ranks find the end of an iteration by the paper's algorithm. A thief waits for its answer.
- Restored tasks keep the order in which they ran.
- The rebalancer is Algorithm 2 with C = D = 1.003 and branching 3.
- Iteration 0 runs all tasks, with the null ones, which then leave. The others stay where they ran
  and are the start of iteration 1.
- A null task takes a small get in HF. In TCE it takes {study.NULL_NS} ns, a look at symmetry.
- Steal has no iteration 0. It begins each iteration from contiguous blocks of the tasks that are not
  null. To save time, runs of Be512 on Titan and Intrepid begin in the same way, except StealRet at
  the largest size.

**Ours** are this library's defaults, from the same blocks. Failed steals are drawn
(`--mode sampled`).

**Figures.** Those of several seeds are means, ± half of the interval of 95 % unless a table says
otherwise. "% of best" is the paper's efficiency: against the best performance of any way at any
number of cores for the same tasks. "% of ideal" is work / workers / time. Plots need gnuplot.
"""


RETAINED = (("stealret-12", "as printed"), ("stealret", "ours"))


def table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def name_of(job):
    return "{:s}, {:s} {:,d}".format(job.workload.title, job.machine.capitalize(),
                                     job.cores)


def picture(drawn, folder, name, words):
    return "![%s](%s/%s.svg)\n\n" % (words, folder, name) if name in drawn else ""


def tasks(results, program, titles, kinds):
    """Table 1; KINDS: how many of the two kinds of work it has."""
    rows = []
    for workload, count in results.counts.items():
        if workload.program == program:
            rows.append([workload.title, workload.cut,
                         "{:,d}".format(count["tasks"]),
                         "{:,d}".format(count["real"])] +
                        ["{:,d}".format(work) for work in count["work"][:kinds]] +
                        ["{:,.0f}".format(count["seconds"]),
                         "%.3f" % count["longest"]])
    return table(titles + ["core-seconds", "longest, s"], rows)


def all_tasks(results):
    return tasks(results, "hf_be", ["chain", "tile", "tasks", "not null",
                                    "integrals"], 1) + "\n" + \
        tasks(results, "tensor_contraction",
              ["contraction", "task", "tasks", "not null", "operations",
               "bytes"], 2)


def tasks_per_core(figures):
    rows = []
    for job in figures.jobs():
        count = figures.results.counts[job.workload]
        rows.append([name_of(job), "{:,.0f}".format(count["tasks"] / job.cores),
                     "{:,.1f}".format(figures.tasks(job)),
                     "%.3f" % float(figures.results.rows[
                         job, job.ways[0].name][0]["ideal_s"]),
                     "%.1f" % (100 * figures.bound(job))])
    return table(["job", "tasks a core", "not null", "ideal, s",
                  "% of ideal that the longest task allows"], rows)


def over_workers(figures, job, way, iteration, column, digits):
    if not figures.results.has(job, way, iteration):
        return ""
    return "{0:,.{2}f} ± {1:,.{2}f}".format(*figures.over_workers(
        job, way, iteration, column), digits)


def table2(figures):
    """Attempts and successes of the last iterations, as printed."""
    at = (("stealret-12", 0), ("steal-12", 1), ("stealret-12", None))
    columns = (("attempted", "tries", 0), ("successful", "steals", 2))
    rows = []
    for job in figures.jobs():
        last = figures.iterations(job, "stealret-12")[-1]
        rows.append([name_of(job)] + [
            over_workers(figures, job, way, last if i is None else i, column,
                         digits)
            for _, column, digits in columns for way, i in at])
    return table(["job"] + ["%s, %s" % (way, title) for title, _, _ in columns
                            for way in ("StealAll", "Steal", "StealRet")], rows)


def last_iterations(figures):
    """Figure 5: all ways of a machine, last iteration."""
    text = ""
    for machine in dict.fromkeys(job.machine for job in figures.jobs()):
        columns = figures.columns(machine)
        rows = [[name_of(job)] + [
            " / ".join((figures.of(job, way.name, i, "makespan_s").text(2),
                        figures.relative(job, way.name, i).text(1, 100)))
            if figures.results.has(job, way.name, i) else ""
            for _, way, i in columns] for job in figures.jobs(machine)]
        text += table(["job"] + [title for title, _, _ in columns], rows) + "\n"
    return text


def few_tasks(figures):
    """What becomes of jobs with few tasks a core."""
    found = ["{:s} ({:.1f} tasks a core): {:s} / {:s} %".format(
        name_of(job), figures.tasks(job), *(
            figures.relative(job, way, -1).text(1, 100)
            for way in ("stealret-12", "stealret")))
             for job in figures.jobs() if figures.tasks(job) < study.FEW_TASKS and
             figures.results.has(job, "stealret")]
    return ("The paper says that efficiency deteriorates below ten tasks a "
            "core. Jobs below {:d}, StealRet, last iteration, % of best as "
            "printed / ours: ".format(study.FEW_TASKS) + "; ".join(found) +
            ".\n\n") if found else ""


def by_iteration(figures, ways, value):
    """A row for each job and way, a column for each iteration."""
    columns = (0, 1, 2, 3, 4, 5, 10, 14)
    rows = []
    for job in figures.jobs():
        for name, title in ways:
            if figures.results.has(job, name):
                rows.append([name_of(job), title] + [
                    value(job, name, i) if figures.results.has(job, name, i)
                    else "" for i in columns])
    return table(["job", ""] + ["it %d" % i for i in columns], rows)


def retained(figures, column, digits):
    return by_iteration(figures, RETAINED, lambda job, way, i: over_workers(
        figures, job, way, i, column, digits))


def readings(figures):
    """With one habit of the print and without."""
    text = ""
    for job in figures.jobs():
        chosen = [(way.title, way.name) for way in job.ways
                  if way in study.READINGS]
        if chosen:
            chosen = [("as printed, from iteration 0", "stealret-12")] + chosen + \
                [("ours", "stealret")]
            text += table([name_of(job)] + ["it %d" % i for i in range(6)], [
                [title] + ["{:.1f} / {:,.0f} / {:.2f}".format(
                    100 * figures.ideal(job, name, i).mean, *(
                        figures.of(job, name, i, column).mean
                        for column in ("tries", "steals")))
                    if figures.results.has(job, name, i) else ""
                    for i in range(6)] for title, name in chosen]) + "\n"
    return text


def seconds_of_figure10(figures):
    rows = []
    for job in figures.chosen.traced:
        for way in job.ways:
            if (job, way.name) in figures.results.traces:
                papers = ["%g" % value for cores, _, names, value in
                          printed.FIGURE10 if cores == job.cores and
                          way.name in names]
                rows.append([name_of(job), way.title, way.kind,
                             "".join(papers),
                             figures.of(job, way.name, -1, "makespan_s").text(2),
                             figures.ideal(job, way.name, -1).text(1, 100)])
    return table(["job", "way", "", "the paper, s", "last iteration, s",
                  "% of ideal"], rows)


def table3(figures):
    """Initial imbalance, then what each rebalancer leaves and takes."""
    names = list(study.BALANCERS)
    titles = ["tasks", "cores", "n, m", "largest load before, % of mean"]
    titles += ["%s: %% over ideal, s" % study.BALANCERS[n].title for n in names]
    found = {}
    for dealt, rows in figures.results.dealt.items():
        found.setdefault(dealt._replace(balancer=""), {})[dealt.balancer] = rows
    lines = []
    for dealt, of in found.items():
        lines.append([dealt.workload.title, "{:,d}".format(dealt.cores),
                      "%d, %d" % (dealt.every, dealt.more),
                      "%.0f" % printed.load_before(of["alg2"])] + [
            "%.2f, %.3f" % printed.quality_and_cost(of[name])
            if name in of else "" for name in names])
    return table(titles, lines)


def beside(figures):
    """The printed values beside ours."""
    rows = []
    for claim in printed.CLAIMS:
        ours = claim.find(figures)
        if ours is not None:
            rows.append([claim.where, claim.what, claim.value] + list(ours))
    return table(["where", "what", "the paper", "as printed, simulated", "ours",
                  "verdict", "with one thing changed"], rows)


def write(chosen, results, folder, drawn):
    figures = Figures(chosen, results)
    quick = chosen is study.QUICK
    balanced = (("plb-12", "as printed"), ("plb", "ours, hierarchical"),
                ("centralized", "ours, centralized"))

    def relative(job, way, iteration):
        return figures.relative(job, way, iteration).text(1, 100)
    parts = [
        HEAD.format(title=chosen.title, command="tools/reproduce-hpdc12" +
                    (" --quick" if quick else ""), study=study),
        "## Beside the paper\n", printed.BESIDE, beside(figures),
        "## Readings of the print\n", printed.READINGS, readings(figures),
        "## Table 1: tasks\n", all_tasks(results),
        tasks_per_core(figures),
        "## Table 2: steals of a worker\n",
        "As printed, last iteration of each way, mean ± deviation over "
        "workers:\n", table2(figures),
        "## Figure 5: the last iteration of each way\n",
        "Seconds / % of best. StealAll is iteration 0 of StealRet.\n",
        last_iterations(figures), few_tasks(figures) +
        picture(drawn, folder, "figure5", "Efficiency by cores"),
        "## Figure 6: rebalanced\n",
        "Iteration 1 steals. Iteration 2 runs the same placement without steals. "
        "From iteration 3 on the rebalancer comes before each. % of best:\n",
        by_iteration(figures, balanced, relative) + "\n" +
        picture(drawn, folder, "figure6", "Efficiency by iterations"),
        "## Figure 7: retained\n", "% of best:\n",
        by_iteration(figures, RETAINED, relative) + "\n" +
        picture(drawn, folder, "figure7", "Efficiency by iterations"),
        "Tasks that a worker ran, mean ± deviation over workers. Iteration 0 "
        "includes the null ones.\n",
        retained(figures, "worker_tasks", 1) + "\n" +
        picture(drawn, folder, "figure7-tasks", "Tasks by iterations"),
        "## Figure 8: steals attempted by a worker\n",
        "Mean ± deviation over workers.\n",
        retained(figures, "tries", 0) + "\n" +
        picture(drawn, folder, "figure8", "Steals attempted"),
        "## Figure 9: steals that succeeded\n",
        "Mean ± deviation over workers.\n",
        retained(figures, "steals", 2) + "\n" +
        picture(drawn, folder, "figure9", "Steals that succeeded"),
        "## Figure 10: who works when\n",
        seconds_of_figure10(figures),
        printed.off_figure10(figures) + picture(
            drawn, folder, "figure10", "Workers that run tasks"),
        "## Table 3: the rebalancers\n", printed.TABLE3, table3(figures)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)
