#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""loads.py KIND TASKS SEED: print the text of a record whose iterations differ
as KIND says, for `ek-record binary` (tests/tools/cases.sh).

In the first iteration a task takes 1.5 ms on average.  Neighbours in the list
start on one worker."""
import math
import random
import sys

# How many times as long a task is in iteration I at X in the list, from 0 to 1.
PLACES = {
    "hot_spot": lambda x, i: 1 + 20 * math.exp(-((x - 0.1 - 0.09 * i) / 0.045) ** 2),
    "day_and_night": lambda x, i: 1 + 0.97 * math.sin(2 * math.pi * (x + i / 12)),
    "doubling": lambda x, i: 2 ** i,
    "tenth_grows": lambda x, i: 1.25 ** i if 0.4 <= x < 0.5 else 1,
    "ramp": lambda x, i: 0.02 + x,
}
STEADY = "ramp", "giants", "bimodal", "almost_null"


def lognormal(chance, count, deviation):
    """Mean 1."""
    return [chance.lognormvariate(-deviation * deviation / 2, deviation)
            for _ in range(count)]


def multiply(chance, base, part, length, factor):
    """Part of the tasks, in runs of neighbours of this length."""
    for first in range(0, len(base), length):
        if chance.random() < part:
            for k in range(first, min(first + length, len(base))):
                base[k] *= factor
    return base


def period(chance, base, i):
    """One of four groups is long in turn."""
    group = random.Random(len(base)).choices(range(4), k=len(base) // 60 + 1)
    return [t * (9 if group[k // 60] == i % 4 else 1) for k, t in enumerate(base)]


def growing(chance, base, i):
    """Some become three times as long, others each time."""
    return multiply(chance, base, 0.03 if i else 0, 10, 3)


def amr(chance, base, i):
    """A ring on a square widens: what is near it is refined twice."""
    side = math.isqrt(len(base))

    def refined(k):
        away = abs(math.hypot(k // side / side - 0.45, k % side / side - 0.55)
                   - 0.12 - 0.04 * i)
        return 4 ** ((away < 0.06) + (away < 0.02))
    return [t * refined(k) for k, t in enumerate(base)]


def phases(chance, base, i):
    """Every third time all change."""
    if i % 3 == 2:
        base[:] = lognormal(chance, len(base), 1)
    return base


def outliers(chance, base, i):
    """One in a hundred, others each time."""
    return multiply(chance, base[:], 0.01, 1, 15)


def bimodal(chance, base, i):
    return multiply(chance, base, 0.1, 80, 20)


def almost_null(chance, base, i):
    """One in eight takes more than next to nothing."""
    return multiply(chance, base, 0.125, 3, 3000)


def giants(chance, base, i):
    """Half a worker's load, all among the last."""
    return [25 if k >= 0.99 * len(base) else t for k, t in enumerate(base)]


def main(name, count, seed):
    chance, count = random.Random(int(seed)), int(count)
    base = lognormal(chance, count, 0.4)
    iterations = 1 if name in STEADY else 9
    print("EKRECORD 1\nname loads\nrank 0 workers 1\nfunction 0", name)
    for i in range(iterations):
        times = [t * PLACES[name](k / count, i) for k, t in enumerate(base)] \
            if name in PLACES else globals()[name](chance, base, i)
        if i == 0:
            unit = 1.5e6 * count / sum(times)
        times = [max(1, int(unit * t)) for t in times]
        print("iteration", i, "wall_ns 1 status 0 restore none steal random order"
              " longest on_failure stop\nworker 0 executed", count, "nulls 0 failed"
              " 0 cancelled 0 work_ns", sum(times), "null_ns 0")
        print("\n".join("task %d 0 %d -" % task for task in enumerate(times)))
    print("end", iterations)


main(*sys.argv[1:])
