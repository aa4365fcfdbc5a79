# SPDX-License-Identifier: BSD-3-Clause
"""hpdc12_page.py TOOLS: the page of the whole study, from rows that are made
up: every value of the paper stands there, and is judged as its words say."""
import sys

sys.path.insert(0, sys.argv[1])
from hpdc12 import page, printed, runner, study  # noqa: E402

STUDY = study.WHOLE


def row(seed, iteration, **values):
    columns = dict(seed=str(seed), iteration=iteration, makespan_s="10",
                   ideal_s="5", bound_s="5", efficiency="0.5", tries="6000",
                   tries_deviation="70", steals="0.3",
                   steals_deviation="0.2", worker_tasks="164",
                   worker_tasks_deviation="35", restore_s="1")
    columns.update(values)
    return columns


def made_up(**values):
    results = runner.Results()
    for job in STUDY.jobs:
        results.counts[job.workload] = {"tasks": 10, "real": 5, "work": (7, 8),
                                        "seconds": 3.0, "longest": 1.0}
        for way in job.ways:
            results.rows[job, way.name] = [
                row(seed, i, **values)
                for seed in range(way.seeds or job.seeds)
                for i in range(1 - way.nulls, way.iterations + 1)]
    for dealt in STUDY.dealt:
        results.dealt[dealt] = [row(1, 1), row(1, 2)]
    return results


def judged(what, **values):
    """The row of a value of the paper."""
    text = page.write(STUDY, made_up(**values), "plots", set())
    rows = [line for line in text.split("\n") if "| %s |" % what in line]
    assert len(rows) == 1, (what, rows)
    return rows[0]


text = page.write(STUDY, made_up(), "plots", set())
for claim in printed.CLAIMS:
    assert "| %s | %s | %s |" % (claim.where, claim.what, claim.value) in text, \
        claim
assert "{" not in text, "a figure is missing in a sentence"

first = "attempts, Be512, Hopper 9,600, iteration 1"
assert judged(first).endswith("| agrees |  |")
assert "| lower | With 30 µs" in judged(first, tries="4000")
assert "| higher | With 30 µs" in judged(first, tries="8000")
last = "successes, Be512, Hopper 9,600, iteration 5"
assert judged(last).endswith("| agrees |  |")
assert "| higher | With noise of 5 % 2.00. |" in judged(last, steals="2")
# All ways are the same here, and take as many core-seconds on 9,600 cores.
least = "StealRet, Be512, Hopper 76,800, best iteration"
assert "| 12.5 % | 12.5 % | lower |" in judged(least)
gain = "first rebalance, TCE, Hopper 76,800"
assert "| +7 % | +0 (3 to 3) | +0 (3 to 3) | lower | From blocks" in judged(gain)
assert "| TCE | product | 10 | 5 | 7 | 8 | 3 | 1.000 |" in text
assert "| TCE tiles | tile | 10 | 5 | 7 | 8 | 3 | 1.000 |" in text
assert "| HF-Be256 | 40 | 10 | 5 | 7 | 3 | 1.000 |" in text
assert "| TCE tiles, Hopper 76,800 | as printed |" in text
assert "| HF-Be512, Hopper 9,600 | " + \
    " | ".join(["6,000 ± 70"] * 3 + ["0.30 ± 0.20"] * 3) + " |" in text
# Of Be512 on Titan only the largest has iteration 0.
assert "| HF-Be512, Titan 64,000 |  |  | 6,000 ± 70 |" in text
assert "| HF-Be512, Titan 128,000 | 6,000 ± 70 |" in text
seconds = "Steal, Be256, Hopper 2,400"
assert judged(seconds, makespan_s="51").endswith("| agrees |  |")
assert "| higher |" in judged(seconds, makespan_s="53")
assert "off by 50.7 % on average, ours by 50.7 %" in text
# Initial loads of 200 % of the mean, 100 % over ideal afterwards, 1 s.
assert "| 200 % |" in judged("largest load before, n = m = 4, 2,400")
assert "| 100.00 | 100.00 | higher |" in judged(
    "centralized, % over ideal, 2,400")
assert judged("hierarchical, seconds, 9,600").endswith("| agrees |  |")
assert "| 1.0 | 1.0 | lower |" in judged(
    "centralized / hierarchical, seconds, 38,400")
# What is asked for at least is judged on both sides.
assert [printed.judge([x], 81, 86) for x in (80, 84, 96)] == [
    "lower", "agrees", "higher"]
assert printed.judge([1, 9], 2, 8) == "lower and higher"
