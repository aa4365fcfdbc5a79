# SPDX-License-Identifier: BSD-3-Clause
"""The page: tables, plots, and what agrees with the paper."""
from hpdc12 import printed, study
from hpdc12.figures import Figures

HEAD = """\
# {title}

Lifflander, Krishnamoorthy, Kale: *Work stealing and persistence-based load balancers for iterative overdecomposed
applications*, HPDC 2012, with the engine of this library on simulated machines ([simulation.md](simulation.md)). `{command}` \
writes this page and its plots, and changes no digit of it on another machine.

Tasks are those of the paper's benchmarks. **HF**: chains of beryllium atoms 2.6 bohr apart, counted by `hf_be --count`, at 1,490 ns
an integral. **TCE**: the paper's tensor contraction on Hopper, the one machine for which its text has a figure of it, counted by
`tensor_contraction --count`. A task is a product of two tiles or, as "TCE tiles", a tile of C with all its products; it takes
{study.OPERATION_NS} ns an operation, 85 % of the peak of a core, and {study.BYTE_NS} ns a byte that it gets or accumulates, a worker's share of the 5 GB/s
of a node. Such durations know no caches: super-linear speed-up cannot show. Tasks start in contiguous blocks of their numbers, null
ones left out but for StealAll, where one takes a small get in HF and {study.NULL_NS} ns, a look at symmetry, in TCE.

**As printed** are ways with the paper's habits: restored tasks in the order in which they ran, thieves that ask again at once,
Algorithm 2 with C = D = 1.003 and branching 3. **Ours** are this library's defaults. Steals that fail are drawn
(`--mode sampled`). With several seeds figures are means, ± half of the interval of 95 %. "% of best" is the paper's efficiency:
against the best performance of any way at any number of cores for the same tasks; "% of ideal" is work / workers / time. Plots need gnuplot.
"""


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
    """Table 2."""
    rows = []
    for job in figures.jobs():
        count = figures.results.counts[job.workload]
        rows.append([name_of(job), "{:,.0f}".format(count["tasks"] / job.cores),
                     "{:,.1f}".format(count["real"] / job.cores),
                     "%.3f" % float(figures.results.rows[job, "stealret"][0]
                                    ["ideal_s"]),
                     "%.1f" % (100 * figures.bound(job))])
    return table(["job", "tasks a core", "not null", "ideal, s",
                  "% of ideal that the longest task allows"], rows)


def last_iterations(figures, value):
    """Figure 5: all ways of a machine, last iteration."""
    text = ""
    for machine, ways in figures.chosen.ways.items():
        titles = ["job"] + [way.label() for way in ways]
        rows = [[name_of(job)] + [value(job, way.name, -1).text(1, 100)
                                  for way in ways]
                for job in figures.jobs(machine)]
        text += table(titles, rows) + "\n"
    return text


def shown_iterations(most):
    return [i for i in (1, 2, 3, 4, 5, 10, 14) if i <= most]


def by_iteration(figures, ways, value, digits, factor):
    """A row for each job and way, a column for each iteration."""
    most = max(figures.chosen.iterations.values())
    columns = shown_iterations(most)
    rows = []
    for job in figures.jobs():
        for name, title in ways:
            if figures.results.has(job, name):
                rows.append([name_of(job), title] + [
                    value(job, name, i).text(digits, factor)
                    if i <= figures.iterations(job, name) else ""
                    for i in columns])
    return table(["job", ""] + ["it %d" % i for i in columns], rows)


def steals(figures, column, digits):
    def value(job, way, iteration):
        return figures.of(job, way, iteration, column)
    return by_iteration(figures, (("stealret-12", "as printed"),
                                  ("stealret", "ours")), value, digits, 1)


def seconds_of_figure10(figures):
    rows = []
    for job in figures.chosen.traced:
        for way in figures.chosen.ways[job.machine]:
            if (job, way.name) in figures.results.traces:
                rows.append([name_of(job), way.title,
                             "as printed" if way.printed else "ours",
                             figures.of(job, way.name, -1, "makespan_s").text(2),
                             figures.ideal(job, way.name, -1).text(1, 100)])
    return table(["job", "way", "", "last iteration, s", "% of ideal"], rows)


def table3(figures):
    """Initial imbalance, then what each rebalancer leaves and takes."""
    titles = ["cores", "n, m", "largest load before, % of mean"]
    balancers = [study.BALANCERS[name] for name in study.ALWAYS]
    titles += ["%s: %% over ideal, s" % b.title for b in balancers]
    jobs = {}
    for dealt, rows in figures.results.dealt.items():
        jobs.setdefault((dealt.job.cores, dealt.every, dealt.more),
                        {})[dealt.balancer] = rows
    lines = []
    for (cores, every, more), found in sorted(jobs.items()):
        before = found["alg2"][0]
        load = 100 * float(before["makespan_s"]) / float(before["ideal_s"])
        cells = [printed.quality_and_cost(found[b.name]) for b in balancers]
        lines.append(["{:,d}".format(cores), "%d, %d" % (every, more),
                      "%.0f" % load] + ["%.2f, %.3f" % cell for cell in cells])
    return table(titles, lines)


def table3_once(figures):
    lines = []
    for dealt, rows in figures.results.dealt.items():
        if dealt.balancer in study.ONCE:
            lines.append(["{:,d}".format(dealt.job.cores),
                          study.BALANCERS[dealt.balancer].title] +
                         ["%.3f" % x for x in printed.quality_and_cost(rows)])
    return table(["cores", "n = m = 4", "% over ideal", "s"], lines)


def beside(figures):
    """The printed values beside ours."""
    rows = []
    for claim in printed.CLAIMS:
        ours = claim.find(figures)
        if ours is not None:
            rows.append([claim.where, claim.what, claim.value, ours.printed,
                         ours.defaults, ours.sentence])
    return table(["where", "what", "the paper", "as printed, simulated", "ours",
                  ""], rows)


def write(chosen, results, folder, drawn):
    figures = Figures(chosen, results)
    quick = chosen is study.QUICK
    retained = (("stealret-12", "as printed"), ("stealret", "ours"))
    balanced = (("plb-12", "as printed"), ("plb", "ours, hierarchical"),
                ("central", "ours, centralized"))
    parts = [
        HEAD.format(title=chosen.title, command="tools/reproduce-hpdc12" +
                    (" --quick" if quick else ""), study=study),
        "## Beside the paper\n", printed.BESIDE, beside(figures),
        "## Table 1: tasks\n", all_tasks(results),
        "## Table 2: tasks for each core\n", tasks_per_core(figures),
        "## Figure 5: the last iteration of each way\n",
        "StealAll is the first iteration, with null tasks; on Titan and "
        "Intrepid Steal is the first of StealRet (Figure 7). % of best:\n",
        last_iterations(figures, figures.relative), "% of ideal:\n",
        last_iterations(figures, figures.ideal) +
        picture(drawn, folder, "figure5", "Efficiency by cores"),
        "## Figure 6: rebalanced\n",
        "Iteration 1 steals, 2 runs the same placement and nobody steals, from "
        "3 on the rebalancer comes before each. % of best:\n",
        by_iteration(figures, balanced, figures.relative, 1, 100) + "\n" +
        picture(drawn, folder, "figure6", "Efficiency by iterations"),
        "## Figure 7: retained\n", "% of best:\n",
        by_iteration(figures, retained, figures.relative, 1, 100) + "\n" +
        picture(drawn, folder, "figure7", "Efficiency by iterations"),
        "## Figure 8: steals attempted by a worker\n",
        "Where servers are slower than Hopper's (Intrepid: 25 µs a message), "
        "drawn attempts are up to two fifths too few.\n",
        steals(figures, "tried", 0) + "\n" +
        picture(drawn, folder, "figure8", "Steals attempted"),
        "## Figure 9: steals that succeeded\n",
        steals(figures, "successful", 2) + "\n" +
        picture(drawn, folder, "figure9", "Steals that succeeded"),
        "## Figure 10: who works when\n",
        seconds_of_figure10(figures) + "\n" + picture(
            drawn, folder, "figure10", "Workers that run tasks"),
        "## Table 3: the rebalancers\n", printed.TABLE3, table3(figures),
        table3_once(figures)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)
