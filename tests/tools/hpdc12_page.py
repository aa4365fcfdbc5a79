# SPDX-License-Identifier: BSD-3-Clause
"""hpdc12_page.py TOOLS: the page of the whole study, from rows that are made
up: every value of the paper stands there, and is judged as its words say."""
import sys

sys.path.insert(0, sys.argv[1])
from hpdc12 import page, printed, runner, study  # noqa: E402

STUDY = study.WHOLE


def row(seed, iteration, **values):
    columns = dict(seed=str(seed), iteration=str(iteration), makespan_s="10",
                   ideal_s="5", bound_s="5", efficiency="0.5", tried="6000",
                   successful="0.3", restore_s="1")
    columns.update(values)
    return columns


def made_up(**values):
    results = runner.Results()
    for job in STUDY.jobs:
        results.counts[job.workload] = {"tasks": 10, "real": 5, "work": (7, 8),
                                        "seconds": 3.0, "longest": 1.0}
        for way in STUDY.ways[job.machine]:
            results.rows[job, way.name] = [
                row(seed, i + 1, **values) for seed in range(job.seeds)
                for i in range(way.iterations or
                               STUDY.iterations[job.machine])]
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
assert judged(first).endswith("| agrees |")
assert not judged(first, tried="4000").endswith("| agrees |")
last = "successes, Be512, Hopper 9,600, iteration 5"
assert judged(last).endswith("| agrees |")
assert "with noise of 5 % 2.00" in judged(last, successful="2")
gain = "first rebalance, TCE, Hopper 76,800"
assert "| +7 % | +0 (3 to 3) | +0 (3 to 3) |" in judged(gain)
assert not judged(gain).endswith("| agrees |")
assert "| TCE | product | 10 | 5 | 7 | 8 | 3 | 1.000 |" in text
assert "| TCE tiles | tile | 10 | 5 | 7 | 8 | 3 | 1.000 |" in text
assert "| HF-Be256 | 40 | 10 | 5 | 7 | 3 | 1.000 |" in text
assert "| TCE tiles, Hopper 76,800 | as printed |" in text
seconds = "Steal, Be256, Hopper 2,400"
assert judged(seconds, makespan_s="51").endswith("| agrees |")
assert not judged(seconds, makespan_s="53").endswith("| agrees |")
# Initial loads of 200 % of the mean, 100 % over ideal afterwards, 1 s.
assert "| 200 % |" in judged("largest load before, n = m = 4, 2,400")
assert "| 100.00 | 100.00 |" in judged("centralized, % over ideal, 2,400")
assert judged("hierarchical, seconds, 9,600").endswith("| agrees |")
assert "| 1.0 | 1.0 |" in judged(
    "centralized / hierarchical, seconds, 38,400")
