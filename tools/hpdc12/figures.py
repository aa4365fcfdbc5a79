# SPDX-License-Identifier: BSD-3-Clause
"""Figures of results: means over seeds with intervals, and efficiencies."""
import math

from hpdc12 import study

# Student's t for 95 %, by degrees of freedom.
STUDENT = (None, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


class Figure:
    """A mean over seeds, and half of its interval of 95 % (None: one seed)."""

    def __init__(self, values):
        n = len(values)
        self.mean = math.fsum(values) / n
        self.half = None
        if n > 1:
            squares = math.fsum((v - self.mean) ** 2 for v in values)
            self.half = STUDENT[n - 1] * math.sqrt(squares / (n - 1) / n)

    def text(self, digits, factor=1):
        mean = "%.*f" % (digits, self.mean * factor)
        if self.half is None or "%.*f" % (digits, self.half * factor) == \
                "%.*f" % (digits, 0):
            return mean
        return "%s ± %.*f" % (mean, digits, self.half * factor)


class Figures:
    def __init__(self, chosen, results):
        self.chosen, self.results = chosen, results
        self.best = {}  # (workload, machine): core-seconds of the best
        for job in chosen.jobs:
            key = job.workload, job.machine
            for way in job.ways:
                if way.kind == study.READING:
                    continue
                spent = self.of(job, way.name, -1, "makespan_s").mean
                self.best[key] = min(self.best.get(key, math.inf),
                                     spent * job.cores)

    def of(self, job, way, iteration, column):
        return Figure(self.results.values(job, way, iteration, column))

    def over_workers(self, job, way, iteration, column):
        """A mean, and the deviation over workers."""
        return [self.of(job, way, iteration, name).mean
                for name in (column, column + "_deviation")]

    def iterations(self, job, way):
        return sorted({row["iteration"] for row in self.results.rows[job, way]})

    def relative(self, job, way, iteration):
        """Efficiency as the paper defines it: against the best performance of
        any scheme at any number of cores."""
        best = self.best[job.workload, job.machine]
        return Figure([best / (s * job.cores) for s in self.results.values(
            job, way, iteration, "makespan_s")])

    def ideal(self, job, way, iteration):
        return self.of(job, way, iteration, "efficiency")

    def tasks(self, job):
        """Of a core, null ones left out."""
        return self.results.counts[job.workload]["real"] / job.cores

    def bound(self, job):
        """What no schedule is beyond, of ideal."""
        row = self.results.rows[job, job.ways[0].name][-1]
        return float(row["ideal_s"]) / float(row["bound_s"])

    def jobs(self, machine=None, workload=None):
        return [job for job in self.chosen.jobs
                if (not machine or job.machine == machine) and
                (not workload or job.workload == workload)]

    def columns(self, machine):
        """Title, way and iteration (-1: the last) of Figure 5: all ways of a
        machine but the readings; StealAll is an iteration 0."""
        ways = {way.name: way for job in self.jobs(machine)
                for way in job.ways if way.kind != study.READING}
        return [("StealAll, as printed", ways["stealret-12"], 0)] + [
            (way.label(), way, -1) for way in ways.values()]
