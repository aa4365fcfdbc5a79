# SPDX-License-Identifier: BSD-3-Clause
"""Plots, by gnuplot where it is installed."""
import csv
import shutil
import subprocess
import sys

from hpdc12 import study
from hpdc12.figures import Figures

HEAD = """\
set terminal svg size {width},{height} font "sans,12" noenhanced
set output "{output}"
set multiplot layout {rows},{columns}
set grid
set key outside right
"""


class Panel:
    """Curves over one pair of axes."""

    def __init__(self, title, x, y, settings=""):
        self.title, self.x, self.y = title, x, y
        self.settings, self.curves = settings, []

    def add(self, title, points, style):
        if points:
            self.curves.append((title, points, style))

    def commands(self):
        lines = ["unset logscale", "set xtics auto", "set autoscale",
                 self.settings, 'set title "%s"' % self.title,
                 'set xlabel "%s"' % self.x, 'set ylabel "%s"' % self.y]
        plots = []
        for i, (title, points, style) in enumerate(self.curves):
            lines.append("$data%d << END" % i)
            lines += [" ".join("%.6g" % x for x in point)
                      for point in points] + ["END"]
            plots.append('$data%d with %s title "%s"' % (i, style, title))
        return lines + ["plot " + ", ".join(plots)]


def paint(path, panels):
    panels = [panel for panel in panels if panel.curves]
    columns = 2 if len(panels) > 1 else 1
    rows = (len(panels) + columns - 1) // columns
    lines = [HEAD.format(width=640 * columns, height=320 * rows, output=path,
                         rows=rows, columns=columns)]
    for panel in panels:
        lines += panel.commands()
    subprocess.run(["gnuplot"], input="\n".join(lines) + "\n", text=True,
                   check=True)


def groups(figures):
    """Jobs of the same tasks on the same machine."""
    found = {}
    for job in figures.chosen.jobs:
        found.setdefault((job.workload, job.machine), []).append(job)
    return found.items()


def title_of(workload, machine):
    return "%s, %s" % (workload.title, machine.capitalize())


def style(line, color, kind):
    """Lines of the paper's ways are whole, ours are dashed."""
    return "%s linecolor %d dashtype %d" % (
        line, color + 1, 1 if kind == study.PRINTED else 2)


def by_cores(figures):
    panels = []
    for (workload, machine), jobs in groups(figures):
        if len(jobs) == 1:
            continue
        panel = Panel(title_of(workload, machine), "cores", "% of best",
                      "set logscale x 2; set xrange [%g:%g]; "
                      "set xtics (%s)" %
                      (0.8 * min(job.cores for job in jobs),
                       1.25 * max(job.cores for job in jobs),
                       ", ".join(str(job.cores) for job in jobs)))
        for color, (title, way, i) in enumerate(figures.columns(machine)):
            if way.name != "static":  # far below all others
                panel.add(title, [(job.cores, 100 * figures.relative(
                    job, way.name, i).mean) for job in jobs
                                  if figures.results.has(job, way.name, i)],
                          style("linespoints", color, way.kind))
        panels.append(panel)
    return panels


def by_iteration(figures, ways, y, value, line="linespoints"):
    """VALUE: a point, with the length of its error bar where LINE has some."""
    panels = []
    for (workload, machine), jobs in groups(figures):
        panel = Panel(title_of(workload, machine), "iteration", y,
                      "set xtics 1")
        for color, job in enumerate(jobs):
            for name, kind in ways:
                if figures.results.has(job, name):
                    panel.add("{:,d} {:s}".format(job.cores, kind), [
                        [i] + value(job, name, i)
                        for i in figures.iterations(job, name)],
                        style(line, color, kind))
        panels.append(panel)
    return panels


RETAINED = (("stealret-12", study.PRINTED), ("stealret", study.OURS))
BALANCED = (("plb-12", study.PRINTED), ("plb", study.OURS))


def read_trace(path, seed):
    """The last iteration of a seed."""
    with open(path, newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["seed"] == seed]
    return [(float(row["time_s"]), 100 * float(row["utilization"]))
            for row in rows if row["iteration"] == rows[-1]["iteration"]]


def over_time(figures):
    panels = []
    for job in figures.chosen.traced:
        panel = Panel(title_of(job.workload, job.machine) +
                      ", {:,d} cores".format(job.cores), "s",
                      "% of the workers that run a task",
                      "set yrange [0:105]")
        for i, way in enumerate(job.ways):
            path = figures.results.traces.get((job, way.name))
            if path:
                panel.add(way.label(), read_trace(
                    path, figures.results.rows[job, way.name][0]["seed"]),
                    style("lines", i, way.kind))
        panels.append(panel)
    return panels


def draw(chosen, results, folder):
    """Write the plots into FOLDER; returns their names."""
    if not shutil.which("gnuplot"):
        print("tools/reproduce-hpdc12: no plots without gnuplot (Debian "
              "package gnuplot-nox)", file=sys.stderr)
        return set()
    figures = Figures(chosen, results)

    def relative(job, way, i):
        return [100 * figures.relative(job, way, i).mean]

    def over_workers(words, column):
        return by_iteration(
            figures, RETAINED, words, lambda job, way, i: figures.over_workers(
                job, way, i, column), "yerrorlines")

    panels = {
        "figure5": by_cores(figures),
        "figure6": by_iteration(figures, BALANCED, "% of best", relative),
        "figure7": by_iteration(figures, RETAINED, "% of best", relative),
        "figure7-tasks": over_workers("tasks of a worker", "worker_tasks"),
        "figure8": over_workers("steals attempted", "tries"),
        "figure9": over_workers("steals that succeeded", "steals"),
        "figure10": over_time(figures)}
    for name, found in panels.items():
        paint(folder / (name + ".svg"), found)
    return set(panels)
