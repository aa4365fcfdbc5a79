#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""stealing_page.py TOOLS BUILD [--large]: the page of tools/reproduce-stealing.

Of the small study all runs are made, of the whole one rows are made up: every
value of the papers stands there.  With --large the claims about victims hold on
the size of the paper.
"""
import pathlib
import subprocess
import sys
import tempfile

TOOLS, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(TOOLS))
from hpdc12 import runner  # noqa: E402
from stealing import page, study  # noqa: E402


def judged(text, what):
    """The row of a value of a paper."""
    rows = [line for line in text.split("\n") if "| %s |" % what in line]
    assert len(rows) == 1, (what, rows)
    return rows[0]


def small(folder):
    """Times are virtual: every machine gets this page."""
    def go():
        subprocess.run([TOOLS / "reproduce-stealing", "--quick", "--jobs", "2",
                        "--build", BUILD, "--runs", folder], check=True)
        return (folder / "page.md").read_text()

    text = go()
    for chosen in study.study(True, False):
        for point in chosen.points:
            for way in chosen.ways:
                assert "| %s | %s |" % (point, way) in text, (point, way)
    for what in ("steals of success between nodes that fail",
                 "searches of success that contact one or two victims"):
        assert judged(text, what).endswith("| agrees |"), what
    assert judged(text, "dvs faster than leapfrog at best, nqueens, 8 x 4").endswith(
        "| lower |")
    made = {path: path.stat().st_mtime_ns for path in folder.glob("*.csv")}
    assert go() == text
    assert made == {path: path.stat().st_mtime_ns for path in made}


def whole():
    chosen = study.study(False, True)
    names = [c.name for c in page.ACROSS + page.FIRST + page.DETECTED]
    rows = [dict.fromkeys(names + page.SEARCHES + ["cyclic", "stealing", "search"],
                          str(value)) for value in (1, 2)]
    found = {key: rows for key, *_ in study.list_runs(chosen)}
    results = study.Results(chosen, found)
    text = page.write(results, False)
    assert "{" not in text, "a figure is missing in a sentence"
    for where, what, printed, look in page.CLAIMS:
        if look(results):
            assert "| %s | %s | %s |" % (where, what, printed) in text, what
    assert judged(text, "success faster than load:read, T1XXL").endswith(
        "| +3 %, T1WL | 0.0 % | lower |")
    found["scaled", "T3L", "success"] = [dict(row, makespan_s=str(value / 1.07))
                                         for value, row in enumerate(rows, 1)]
    assert "| 7.0 % | agrees |" in judged(
        page.write(results, False), "success faster than load:read, T3L")


def large(folder):
    """BPC on 512 nodes: requests of success never fail, and searches are short."""
    between, = [of for of in study.study(False, False) if of.name == "between"]
    chosen = between._replace(
        fixed=between.fixed + " --seeds 1",
        points={"BPC": between.points["BPC"].replace(" --seeds 5", "")},
        ways={way: between.ways[way] for way in ("success", "load:read")})
    results = study.Results([chosen], runner.Runner(
        TOOLS.parent, BUILD, folder).simulate_all(study.list_runs([chosen]), 2))
    text = page.beside(results)
    for what in ("steals of success between nodes that fail",
                 "searches of success that contact one or two victims",
                 "those that contact more than four"):
        assert judged(text, what).endswith("| agrees |"), text
    assert sum(results.values("between", "BPC", "load:read", "in_vain")) > 0


with tempfile.TemporaryDirectory() as name:
    if sys.argv[3:] == ["--large"]:
        large(pathlib.Path(name))
    else:
        whole()
        small(pathlib.Path(name))
