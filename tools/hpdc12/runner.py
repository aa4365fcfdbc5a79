# SPDX-License-Identifier: BSD-3-Clause
"""Make records, run ek-sim, and read what comes of it."""
import concurrent.futures
import csv
import hashlib
import os
import pathlib
import re
import subprocess
import sys

from hpdc12 import study


class Failed(Exception):
    pass


class Results:
    """Rows of ek-sim: of a job and a way, and of Table 3."""

    def __init__(self):
        self.rows = {}   # (job, way name): rows of all seeds, iterations as ints
        self.dealt = {}  # study.Dealt: rows
        self.traces = {}  # (job, way name): path
        self.counts = {}  # workload: what --count said, a dict

    def has(self, job, way, iteration=-1):
        """Whether there is an iteration of a way; -1: any."""
        return any(iteration in (-1, row["iteration"])
                   for row in self.rows.get((job, way), ()))

    def values(self, job, way, iteration, column):
        """Of each seed; iteration -1: the last one."""
        rows = self.rows[job, way]
        if iteration < 0:
            iteration = max(row["iteration"] for row in rows)
        return [float(row[column]) for row in rows
                if row["iteration"] == iteration]


def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def there(program):
    if not program.exists():
        raise Failed("'%s' is not built" % program)
    return program


def write(path, text):
    """All of it, or nothing."""
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    os.replace(new, path)


def record_name(workload):
    return workload.name + ".ekr"


def job_arguments(workload, cores):
    tasks = ["--record", record_name(workload)] if workload.program else []
    return tasks + list(workload.more) + ["--cores", str(cores), "--csv"]


def slots(tasks, cores):
    return str(study.MORE_SLOTS if tasks > study.MANY_TASKS * cores and
               cores < study.MANY_CORES else study.SLOTS)


class Runner:
    def __init__(self, root, build, runs):
        self.runs = pathlib.Path(runs).resolve()
        self.sim = pathlib.Path(build).resolve() / "tools/ek-sim/ek-sim"
        self.examples = pathlib.Path(build).resolve() / "examples"
        self.mpirun = root / "tools/mpirun"
        self.stamp = hash_of(there(self.sim))
        self.inputs = {}  # hashes of files

    def run(self, chosen, jobs):
        """All of a study, `jobs` simulations at a time."""
        results = Results()
        write(self.runs / study.SLOW[0], study.SLOW[1])
        self.inputs[study.SLOW[0]] = hash_of(self.runs / study.SLOW[0])
        for workload in sorted({job.workload for job in
                                chosen.jobs + chosen.dealt}):
            if workload.program:
                results.counts[workload] = self.count(workload)
        for key, rows in self.simulate_all(self.list_runs(chosen, results),
                                           jobs).items():
            if isinstance(key, study.Dealt):
                results.dealt[key] = rows
            else:
                job, way = key
                for row in rows:
                    row["iteration"] = int(row["iteration"]) - way.nulls
                results.rows[job, way.name] = rows
        return results

    def simulate_all(self, todo, jobs):
        """Rows of all runs, by their keys; `todo`: key, name, arguments and
        trace of each."""
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            waiting = {key: pool.submit(self.simulate, *of) for key, *of in todo}
            try:
                for done, future in enumerate(
                        concurrent.futures.as_completed(waiting.values()), 1):
                    future.result()
                    if sys.stderr.isatty():
                        print("\r%d of %d runs " % (done, len(waiting)),
                              end="\n" * (done == len(waiting)),
                              file=sys.stderr, flush=True)
            except BaseException:
                for future in waiting.values():
                    future.cancel()
                raise
        return {key: future.result() for key, future in waiting.items()}

    def list_runs(self, chosen, results):
        """Key, name, arguments and trace of every run."""
        for job in chosen.jobs:
            count = results.counts[job.workload]
            for way in job.ways:
                name = "%s-%s-%d-%s" % (job.workload.name, job.machine,
                                        job.cores, way.name)
                arguments = job_arguments(job.workload, job.cores)
                if "--machine" not in way.arguments:
                    arguments += ["--machine", job.machine]
                arguments += ["--start", "block", "--mode", "sampled",
                              "--seeds", str(way.seeds or job.seeds),
                              "--iterations", str(way.iterations + way.nulls)]
                if way.nulls:
                    arguments += ["--nulls", str(count["tasks"] - count["real"])]
                if "locked" in way.arguments:
                    arguments += ["--buffer-slots", slots(
                        count["real"], job.cores)]
                trace = None
                if job in chosen.traced and way.name in study.WATCHED:
                    trace = self.runs / (name + ".trace")
                    results.traces[job, way.name] = trace
                yield (job, way), name, arguments + list(way.arguments), trace
        for dealt in chosen.dealt:
            name = "table3-%s-%d-%d-%d-%s" % (dealt.workload.name, dealt.cores,
                                              dealt.every, dealt.more,
                                              dealt.balancer)
            arguments = job_arguments(dealt.workload, dealt.cores) + [
                "--machine", "hopper", "--progress", "polling",
                "--start", "uneven:%d:%d" % (dealt.every, dealt.more),
                "--steal", "none", "--iterations", "2"]
            balancer = study.BALANCERS[dealt.balancer]
            yield dealt, name, arguments + list(balancer.arguments), None

    def record(self, workload):
        return self.runs / record_name(workload)

    def count(self, workload):
        """Make the record of a workload, and say what it holds."""
        record = self.record(workload)
        told = record.with_suffix(".txt")
        program = there(self.examples / workload.program / workload.program)
        arguments = ["--count"] + list(workload.arguments)
        said = "%s %s\n" % (hash_of(program), " ".join(arguments))
        if not (record.exists() and told.exists() and
                told.read_text().startswith(said)):
            environment = dict(os.environ, EVENKEEL_WORKERS="1")
            write(told, said + self.call(
                [self.mpirun, "-n", "1", program] + arguments +
                ["--record", record], None, environment))
        self.inputs[record.name] = hash_of(record)
        return counted(told.read_text().split("\n", 1)[1])

    def simulate(self, name, arguments, trace):
        """Rows of a run, which is made unless it is there."""
        stamp, rows = self.runs / (name + ".args"), self.runs / (name + ".csv")
        said = "%s %s\n" % (self.stamp, " ".join(
            "%s:%s" % (a, self.inputs[os.path.basename(a)])
            if os.path.basename(a) in self.inputs else a for a in arguments))
        if not (stamp.exists() and rows.exists() and
                stamp.read_text() == said and (not trace or trace.exists())):
            stamp.unlink(missing_ok=True)
            more = ["--utilization", str(trace)] if trace else []
            write(rows, self.call([self.sim] + arguments + more, self.runs))
            write(stamp, said)
        with rows.open(newline="") as stream:
            return [row for row in csv.DictReader(stream)
                    if row["statistic"] == "run"]

    @staticmethod
    def call(command, folder, environment=None):
        done = subprocess.run([str(word) for word in command], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=environment, check=False)
        if done.returncode != 0:
            raise Failed("%s: exit status %d: %s" % (
                " ".join(str(word) for word in command), done.returncode,
                done.stderr.strip()))
        return done.stdout


def counted(text):
    """The figures of --count; `work`: of its two kinds."""
    tasks = re.search(r"(\d+) tasks, (\d+) non-null", text)
    work = re.search(r"(\d+) \w+, (\d+) \w+: (\S+) s, "
                     r"the longest task (\S+) s", text)
    return {"tasks": int(tasks[1]), "real": int(tasks[2]),
            "work": (int(work[1]), int(work[2])),
            "seconds": float(work[3]), "longest": float(work[4])}
