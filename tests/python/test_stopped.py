# SPDX-License-Identifier: BSD-3-Clause
"""Loops of evenkeel.py that somebody stops, and jobs that go on from another.

    test_stopped.py RANKS loops
    test_stopped.py RANKS sweep FILE [dies]
"""
import os
import signal
import sys
import time

import evenkeel as ek

ranks, case = int(sys.argv[1]), sys.argv[2]
n = 40 * ranks
SWEEP = 80


def expect(is_so, what):
    if not is_so:
        sys.exit(f"rank {tasks.rank}: {what}")


def nap(i):
    time.sleep(4e-3)
    return i + 1


def sums_of(loop):
    """The parts of a loop, until one is whole: [i + 1 or 0 of each index]."""
    parts = []
    while True:
        out = [0] * n
        try:
            for i in loop():
                out[i] = nap(i)
            is_over = True
        except ek.Stopped as stopped:
            expect("stopped on request" in str(stopped), stopped)
            expect(tasks.report["stopped"] == 1, tasks.report)
            is_over = False
        parts.append(tasks.allreduce(out))
        if is_over:
            return parts


def test_range():
    """Each index runs in one part, also where a rank leaves its loop."""
    for _ in range(2):
        tasks.stop_at(0.02)
        parts = sums_of(lambda: tasks.range(n))
        expect(len(parts) == 2, f"{len(parts)} parts")
        expect([max(rows) for rows in zip(*parts)] ==
               [sum(rows) for rows in zip(*parts)] ==
               list(range(1, n + 1)), parts)


def test_map():
    """Stopped has some results; the next map has all."""
    def item(i):
        if tasks.rank == 0 and not asked:
            asked.append(os.kill(os.getpid(), signal.SIGUSR1))
        return nap(i)

    asked = []
    for root in (None, 0):
        asked.clear()
        time.sleep(0.25)            # else it is the same request
        try:
            tasks.map(item, range(n), root)
            expect(False, "not stopped")
        except ek.Stopped as stopped:
            found = stopped.results
        is_here = root in (None, tasks.rank)
        expect(all(found[i] == i + 1 for i in found), found)
        expect(0 < len(found) < n if is_here else not found, len(found))
        other = 0 if root is None else None
        for many, to in (n - 1, root), (n, other):
            try:
                tasks.map(item, range(many), to)
                expect(False, "not refused")
            except ValueError as error:
                expect(f"was stopped with {n}, root {root}" in str(error), error)
        expect(tasks.map(item, range(n), root) ==
               (list(range(1, n + 1)) if is_here else None), "not all")


def test_stop():
    """A loop that stop() ends is over, whatever on_stop says."""
    with ek.Tasks(on_stop="continue") as stopping:
        for _ in stopping.range(n):
            stopping.stop()
        out = [0] * n
        for i in stopping.range(n):
            out[i] = 1
        expect(sum(stopping.allreduce(out)) == n, "the rest of the loop before")


def test_limit():
    """It counts from the Tasks, not from the first loop."""
    with ek.Tasks(time_limit="20ms") as limited:
        time.sleep(0.04)
        try:
            list(limited.range(n))
            expect(False, "not stopped")
        except ek.Stopped:
            pass
        expect(sum(limited.map(lambda _: 1, range(n))) == n, "stopped twice")


def sweep(name, dies):
    """What is computed is written every 20 ms, and not computed again."""
    out = [0] * SWEEP
    if os.path.exists(name):
        with open(name, encoding="utf-8") as file:
            out = eval(file.read())
    before, mine, is_over = SWEEP - out.count(0), [], False
    while not is_over:
        tasks.stop_at(0.02)
        try:
            for i in tasks.range(SWEEP):
                if out[i]:
                    tasks.skip()
                else:
                    out[i] = nap(i)
                    mine.append(i)
            is_over = True
        except ek.Stopped:
            pass
        tasks.allreduce(out)
        if not any(out):            # a busy machine: not one task began
            continue
        if tasks.rank == 0:
            with open(f"{name}.new", "w", encoding="utf-8") as file:
                file.write(repr(out))
            os.replace(f"{name}.new", name)
        if dies and tasks.rank == ranks - 1:
            while not os.path.exists(name):
                time.sleep(1e-3)
            os.kill(os.getpid(), signal.SIGKILL)
    tasks.stop_at(-1)
    counts = [0] * ranks
    counts[tasks.rank] = len(mine)
    ran = sum(tasks.allreduce(counts, [tasks.rank]))
    expect(out == list(range(1, SWEEP + 1)), out)
    if tasks.rank == 0:
        print(f"{before} before, {ran} now")


with ek.Tasks() as tasks:
    if case == "loops":
        test_range()
        test_map()
        test_stop()
        test_limit()
    else:
        sweep(sys.argv[3], sys.argv[4:] == ["dies"])
    print("all right")
